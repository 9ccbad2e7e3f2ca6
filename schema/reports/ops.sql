-- Kernel time of a selection by operation class, under the active rules. temp.ops: sums by class.
-- column: time_pct   | Time (%)   | percent | sum
-- column: total_time | Total Time | ns      | sum
-- column: instances  | Instances  | count   | sum
-- column: avg        | Avg        | ns      | mean
-- column: med        | Med        | ns      |
-- column: min        | Min        | ns      | min
-- column: max        | Max        | ns      | max
-- column: stddev     | StdDev     | ns      |
-- column: p90        | P90        | ns      |
-- column: p99        | P99        | ns      |
-- column: busy       | Busy       | ns      |
-- column: busy_share_pct | Busy Share (%) | percent |
-- column: names      | Names      | count   | sum
-- column: op         | Operation  | text    | label
SELECT 100.0 * total / nullif(total(total) OVER (), 0), total, n, 1.0 * total / nullif(known, 0), median, min, max, stddev,
       p90, p99, busy, 100.0 * busy / nullif(all_busy, 0), names, op
FROM temp.ops
ORDER BY total DESC, op;
