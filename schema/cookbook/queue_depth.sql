-- How many kernels wait in the queue of the GPU over time?
-- Launched and not yet started, on average over equal parts of the trace. Near 0 the GPU waits for the host.
-- :parts = 20, into how many parts the trace is cut
WITH RECURSIVE launched AS MATERIALIZED (
  SELECT min(ts_end, kernel_ts) AS ts, kernel_ts AS ts_end, queue_delay FROM launches),
span AS MATERIALIZED (SELECT min(ts) AS first, (max(ts_end) - min(ts)) / :parts + 1 AS width FROM launched),
-- A kernel that joins the queue or leaves it in a part counts from there to the end of the part.
change(part, n, starts, longest, time) AS (
  SELECT (l.ts - s.first) / s.width, count(*), 0, NULL, sum(s.width - (l.ts - s.first) % s.width)
  FROM launched l, span s GROUP BY 1
  UNION ALL
  SELECT (l.ts_end - s.first) / s.width, -count(*), count(*), max(l.queue_delay),
         -sum(s.width - (l.ts_end - s.first) % s.width)
  FROM launched l, span s GROUP BY 1),
part(part) AS (SELECT 0 FROM span WHERE first IS NOT NULL UNION ALL SELECT part + 1 FROM part WHERE part + 1 < :parts),
sums AS (
  SELECT p.part, total(c.n) AS n, sum(c.starts) AS starts, max(c.longest) AS longest, total(c.time) AS time
  FROM part p LEFT JOIN change c ON c.part = p.part GROUP BY p.part)
SELECT part, s.first + part * s.width AS ts_ns, coalesce(starts, 0) AS kernels,
       round(sum(n) OVER (ORDER BY part) - n + time / s.width, 2) AS queue_depth, longest AS longest_delay_ns
FROM sums, span s ORDER BY part;
