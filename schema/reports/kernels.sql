-- Kernel time by name over the whole trace, from the sums made at ingest.
-- column: time_pct   | Time (%)   | percent | sum
-- column: total_time | Total Time | ns      | sum
-- column: instances  | Instances  | count   | sum
-- column: avg        | Avg        | ns      | mean
-- column: med        | Med        | ns      |
-- column: min        | Min        | ns      | min
-- column: max        | Max        | ns      | max
-- column: stddev     | StdDev     | ns      |
-- column: name       | Name       | text    | label
SELECT 100.0 * a.total / nullif(total(a.total) OVER (), 0), a.total, a.n, 1.0 * a.total / nullif(a.known, 0), a.median,
       a.min, a.max, iif(a.known > 0, stddev_of(a.known, a.total, a.sum_of_squares), NULL), n.name
FROM kernel_name_sum a JOIN kernel_name n ON n.id = a.name_id
ORDER BY a.total DESC, n.name;
