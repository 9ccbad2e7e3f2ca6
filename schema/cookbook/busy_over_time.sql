-- How busy is each GPU over the course of the trace?
-- Of equal parts of the trace, the time during which at least one kernel, copy or fill runs.
-- :parts = 20, into how many parts the trace is cut
WITH RECURSIVE work AS MATERIALIZED (
  SELECT device, ts, ts_end, 1 AS kernel FROM kernels WHERE dur IS NOT NULL
  UNION ALL SELECT device, ts, ts_end, 0 FROM memcpys WHERE dur IS NOT NULL),
span AS MATERIALIZED (SELECT min(ts) AS first, (max(ts_end) - min(ts)) / :parts + 1 AS width FROM work),
part(part, ts, ts_end) AS (
  SELECT 0, first, first + width FROM span WHERE first IS NOT NULL
  UNION ALL SELECT part + 1, ts_end, ts_end + width FROM part, span WHERE part + 1 < :parts)
SELECT d.device, p.part, p.ts AS ts_ns, coalesce(sum(w.kernel AND w.ts >= p.ts), 0) AS kernels,
       coalesce(busy_ns(max(w.ts, p.ts), min(w.ts_end, p.ts_end) - max(w.ts, p.ts)), 0) AS busy_ns,
       round(100.0 * coalesce(busy_ns(max(w.ts, p.ts), min(w.ts_end, p.ts_end) - max(w.ts, p.ts)), 0) / (p.ts_end - p.ts), 2) AS busy_pct
FROM (SELECT DISTINCT device FROM work) d CROSS JOIN part p LEFT JOIN work w
  ON w.device IS d.device AND w.ts < p.ts_end AND w.ts_end >= p.ts GROUP BY d.device, p.part ORDER BY d.device, p.part;
