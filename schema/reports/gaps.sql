-- Times during which a device ran nothing, longest first. temp.idle_gaps: the gaps that are shown; all_idle: over all
-- gaps, the idle time of `timeline` without unselected work. Before: the work that ended last before the gap; Next: the
-- work that ended it, of the selection. Cause [between steps]: they are not of one step; By Launch is the cause then, too.
-- Host: where the thread that launched Next was for most of the time.
-- column: idle_pct          | Idle (%)      | percent | sum   | 3       | share of the idle time of all devices
-- column: dur               | Duration      | ns      | sum   | 8       | length of the gap
-- column: instances         | Gaps          | count   | sum   | 1       | gaps in the row: 1, but for [others]
-- column: ts                | Start         | ns      | min   | 2       | start of the gap, since the begin of the trace
-- column: device            | Device        |         |       | 1       | device number
-- column: stream            | Stream        |         |       | 2       | stream number, with --per-stream
-- column: step              | Step          |         |       | 5       | step in which the gap ends
-- column: cause             | Cause         | text    |       | 8       | host_wait, kernel_wait, graph_gap, other, unknown; [between steps]: see schema/METRICS.md
-- column: host              | Host          | text    |       | 7       | where the thread that launched Next was for most of the time
-- column: host_pct          | Host (%)      | percent |       | 4       | share of the time it was there
-- column: before            | Before        | text    |       | 5 names | the work that ended last before the gap
-- column: next_cpu_op       | Next Operator | text    |       | 4       | operator that launched the work behind the gap
-- column: next_kernel_id    | Next Kernel   |         |       |         | id of that work in table kernel
-- column: next_memory_op_id | Next Copy     |         |       |         | id of that work in table memory_op
-- column: next              | Next          | text    | label | 7 names | the work that ended the gap
-- column: launch_cause      | By Launch     | text    |       |         | the cause, also of gaps between steps
-- column: host_op           | Host Operator | text    |       | 2       | innermost operator that was open longest
-- column: host_op_pct       | Operator (%)  | percent |       |         | share of the time in it
-- column: host_call         | Host Call     | text    |       | 2       | runtime call that was open longest
-- column: host_call_pct     | Call (%)      | percent |       |         | share of the time in it
-- column: python_calls      | Python Calls  | count   | sum   |         | recorded Python calls that start in it on the thread that launched what came next; recording them slows the host; NULL: none of that thread are recorded
SELECT 100.0 * g.dur / nullif(g.all_idle, 0), g.dur, 1, g.ts, coalesce(d.ordinal, d.name, 'unknown'), s.number, g.step,
       iif(g.between_steps = 1, '[between steps]', g.cause), coalesce(g.host, '[not recorded]'),
       100.0 * g.host_time / nullif(g.dur, 0), coalesce(bn.short_name, bs.value),
       (SELECT o.value FROM cpu_op c JOIN string o ON o.id = c.name_id WHERE c.id = coalesce(ak.cpu_op_id, am.cpu_op_id)),
       ak.id, am.id, coalesce(an.short_name, a_s.value), g.cause, g.host_op, 100.0 * g.host_op_time / nullif(g.dur, 0),
       g.host_call, 100.0 * g.host_call_time / nullif(g.dur, 0), g.python_calls
FROM temp.idle_gaps g
LEFT JOIN device d ON d.id = g.device_id
LEFT JOIN stream s ON s.id = g.stream_id
LEFT JOIN kernel bk ON bk.id = g.before_kernel_id
LEFT JOIN kernel_name bn ON bn.id = bk.name_id
LEFT JOIN memory_op bm ON bm.id = g.before_memory_op_id
LEFT JOIN string bs ON bs.id = bm.name_id
LEFT JOIN kernel ak ON ak.id = g.after_kernel_id
LEFT JOIN kernel_name an ON an.id = ak.name_id
LEFT JOIN memory_op am ON am.id = g.after_memory_op_id
LEFT JOIN string a_s ON a_s.id = am.name_id
ORDER BY g.dur DESC, g.ts, d.ordinal, g.device_id, s.number, g.stream_id;
