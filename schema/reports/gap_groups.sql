-- Times during which a device ran nothing, those that are alike together: of one cause, between the same kernels, with
-- the host at the same place. temp.gap_groups: the groups, largest first; all_idle: over all gaps, the idle time of
-- `timeline`. Cause [between steps]: what is before and after is not of one step; By Launch is the cause then, too.
-- Host: where the thread that launched Next was for most of the time.
-- column: idle_pct          | Idle (%)      | percent | sum   | 8       | share of the idle time of all devices
-- column: dur               | Duration      | ns      | sum   | 8       | time of the gaps
-- column: instances         | Gaps          | count   | sum   | 8       | how many gaps the row is about
-- column: longest           | Longest       | ns      | max   | 2       | the longest of them
-- column: device            | Device        |         |       | 1       | device number
-- column: stream            | Stream        |         |       | 2       | stream number, with --per-stream
-- column: cause             | Cause         | text    |       | 9       | host_wait, kernel_wait, graph_gap, other, unknown; [between steps]: see schema/METRICS.md
-- column: host              | Host          | text    |       | 9       | where the thread that launched Next was for most of the time
-- column: host_pct          | Host (%)      | percent |       | 7       | share of the time it was there
-- column: next              | Next          | text    | label | 8 names | the work that ended the gaps
-- column: before            | Before        | text    |       | 4 names | the work that ended last before them
-- column: launch_cause      | By Launch     | text    |       |         | the cause, also of gaps between steps
-- column: host_op           | Host Operator | text    |       | 2       | innermost operator that was open longest
-- column: host_op_pct       | Operator (%)  | percent |       |         | share of the time in it
-- column: host_call         | Host Call     | text    |       | 2       | runtime call that was open longest
-- column: host_call_pct     | Call (%)      | percent |       |         | share of the time in it
-- column: python_calls      | Python Calls  | count   | sum   |         | recorded Python calls that start in it; recording them slows the host
-- column: ts                | First         | ns      | min   |         | start of the first gap, since the begin of the trace
SELECT 100.0 * g.time / nullif(g.all_idle, 0), g.time, g.gaps, g.longest, coalesce(d.ordinal, d.name, 'unknown'), s.number,
       iif(g.between_steps = 1, '[between steps]', g.cause), coalesce(g.host, '[not recorded]'),
       100.0 * g.host_time / nullif(g.time, 0), g.next, g.before, g.cause, g.host_op,
       100.0 * g.host_op_time / nullif(g.time, 0), g.host_call, 100.0 * g.host_call_time / nullif(g.time, 0),
       g.python_calls, g.first_ts
FROM temp.gap_groups g
LEFT JOIN device d ON d.id = g.device_id
LEFT JOIN stream s ON s.id = g.stream_id
ORDER BY g.time DESC, g.first_ts, g.device_id, g.stream_id;
