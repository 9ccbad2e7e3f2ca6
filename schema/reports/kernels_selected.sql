-- Kernel time by name over the kernels that a selection leaves. Parameters that are NULL select everything. Sums are
-- taken in two halves: sum() is an error where it exceeds an integer, this is a REAL there.
-- column: time_pct   | Time (%)   | percent | sum
-- column: total_time | Total Time | ns      | sum
-- column: instances  | Instances  | count   | sum
-- column: avg        | Avg        | ns      | mean
-- column: med        | Med        | ns      |
-- column: min        | Min        | ns      | min
-- column: max        | Max        | ns      | max
-- column: stddev     | StdDev     | ns      |
-- column: name       | Name       | text    | label
WITH
names AS MATERIALIZED (
  SELECT id, name FROM kernel_name
  WHERE (:glob IS NULL OR name GLOB :glob OR short_name GLOB :glob) AND (:regex IS NULL OR name REGEXP :regex)),
streams AS MATERIALIZED (
  SELECT s.id FROM stream s LEFT JOIN device d ON d.id = s.device_id
  WHERE (:device IS NULL OR d.ordinal = :device) AND (:stream IS NULL OR CAST(s.number AS TEXT) = :stream)),
step_range AS MATERIALIZED (
  SELECT id FROM step
  WHERE (:step_first IS NULL OR sequence >= :step_first) AND (:step_last IS NULL OR sequence <= :step_last)
    AND (:phase IS NULL OR kind = :phase)),
sums AS (
  SELECT k.name_id, coalesce(bounded_sum(k.dur), 0) AS total, count(*) AS n, count(k.dur) AS known,
         median(k.dur) AS med, min(k.dur) AS min, max(k.dur) AS max, stddev(k.dur) AS stddev
  FROM kernel k
  WHERE k.name_id IN (SELECT id FROM names) AND k.stream_id IN (SELECT id FROM streams)
    AND CASE WHEN :phase = 'none' THEN k.step_id IS NULL
             WHEN :step_first IS NULL AND :step_last IS NULL AND :phase IS NULL THEN 1
             ELSE k.step_id IN (SELECT id FROM step_range) END
    AND (:from_ts IS NULL OR k.ts >= :from_ts) AND (:to_ts IS NULL OR k.ts < :to_ts)
  GROUP BY k.name_id)
SELECT 100.0 * a.total / nullif(total(a.total) OVER (), 0), a.total, a.n, 1.0 * a.total / nullif(a.known, 0), a.med,
       a.min, a.max, a.stddev, n.name
FROM sums a JOIN names n ON n.id = a.name_id
ORDER BY a.total DESC, n.name;
