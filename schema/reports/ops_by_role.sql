-- Kernel time of a selection by role in the model. temp.ops_by_role: sums by role.
-- column: time_pct       | Time (%)       | percent | sum   | 4 | share of the kernel time of the selection
-- column: total_time     | Total Time     | ns      | sum   | 6 | sum of the durations; concurrent kernels count twice
-- column: instances      | Instances      | count   | sum   | 4 | number of kernels
-- column: avg            | Avg            | ns      | mean  | 3 | mean duration
-- column: med            | Med            | ns      |       | 2 | median of the durations
-- column: min            | Min            | ns      | min   | 1 | shortest
-- column: max            | Max            | ns      | max   | 2 | longest
-- column: stddev         | StdDev         | ns      |       |   | standard deviation of the durations
-- column: p90            | P90            | ns      |       |   | duration that 90 % do not exceed
-- column: p99            | P99            | ns      |       | 1 | duration that 99 % do not exceed
-- column: busy           | Busy           | ns      |       | 1 | time during which at least one of them ran: the length of their union
-- column: busy_share_pct | Busy Share (%) | percent |       |   | busy as a share of the busy time of everything selected
-- column: names          | Names          | count   | sum   |   | different kernel names
-- column: role           | Role           | text    | label |   | place in the model (qkv_proj, gate_up ...), or [no role]
SELECT 100.0 * total / nullif(total(total) OVER (), 0), total, n, 1.0 * total / nullif(known, 0), median, min, max, stddev,
       p90, p99, busy, 100.0 * busy / nullif(all_busy, 0), names, role
FROM temp.ops_by_role
ORDER BY total DESC, role;
