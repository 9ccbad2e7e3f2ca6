-- How busy is the GPU over the course of the trace?
-- Kernel time that starts in equal parts of the trace; above 100 % where kernels run at once.
-- :parts = 20, into how many parts the trace is cut
WITH RECURSIVE span AS MATERIALIZED (
  SELECT min(ts) AS first, (max(ts) - min(ts)) / :parts + 1 AS width FROM kernels),
part(part, ts, ts_end) AS (
  SELECT 0, first, first + width FROM span WHERE first IS NOT NULL
  UNION ALL SELECT part + 1, ts_end, ts_end + width FROM part, span WHERE part + 1 < :parts)
SELECT part, ts AS ts_ns, (SELECT count(*) FROM kernels k WHERE k.ts >= part.ts AND k.ts < part.ts_end) AS kernels,
       round(100.0 * (SELECT total(k.dur) FROM kernels k WHERE k.ts >= part.ts AND k.ts < part.ts_end) / (ts_end - ts), 2)
       AS kernel_time_pct
FROM part ORDER BY part;
