-- Steps by kind, and a row for kernels outside of steps. temp.phases: one row for each.
-- column: time_pct     | Time (%)         | percent | sum
-- column: total_time   | Total Time       | ns      | sum | kept
-- column: instances    | Kernels          | count   | sum
-- column: steps        | Steps            | count   | sum | kept
-- column: requests     | Med Requests     |         |
-- column: tokens       | Tokens           | count   | sum
-- column: busy         | Busy             | ns      |
-- column: busy_share_pct | Busy Share (%)  | percent |
-- column: gpu_span     | Med GPU Span     | ns      | | kept
-- column: host         | Med Host         | ns      |
-- column: period       | Med Period       | ns      | | kept
-- column: launch_lag   | Med Launch Lag   | ns      |
-- column: tokens_per_s | Tokens/s         |         |
-- column: phase        | Phase            | text    | label
SELECT 100.0 * total / nullif(total(total) OVER (), 0), total, kernels, steps, requests, tokens, busy,
       100.0 * busy / nullif(all_busy, 0), gpu_span, host, period, launch_lag, round(tokens_per_s, 1), phase
FROM temp.phases
ORDER BY phase = '[no step]', total DESC, phase;
