-- How many kernels wait in the queue of the GPU over time?
-- Launched and not yet started, on average over equal parts of the trace. Near 0 the GPU waits for the host.
-- :parts = 20, into how many parts the trace is cut
WITH launched AS MATERIALIZED (SELECT min(ts_end, kernel_ts) AS ts, kernel_ts AS ts_end, queue_delay FROM launches),
span AS MATERIALIZED (SELECT min(ts) AS first, (max(ts_end) - min(ts)) / :parts + 1 AS width FROM launched),
-- A kernel that joins the queue or leaves it in a part counts from there to the end of the part.
change AS (
  SELECT (l.ts - s.first) / s.width AS part, count(*) AS n, 0 AS starts, NULL AS longest,
         sum(s.width - (l.ts - s.first) % s.width) AS time
  FROM launched l, span s GROUP BY 1
  UNION ALL
  SELECT (l.ts_end - s.first) / s.width, -count(*), count(*), max(l.queue_delay),
         -sum(s.width - (l.ts_end - s.first) % s.width)
  FROM launched l, span s GROUP BY 1),
part AS (SELECT part, sum(n) AS n, sum(starts) AS starts, max(longest) AS longest, sum(time) AS time FROM change GROUP BY part)
SELECT part, s.first + part * s.width AS ts_ns, starts AS kernels,
       round(sum(n) OVER (ORDER BY part) - n + 1.0 * time / s.width, 2) AS queue_depth, longest AS longest_delay_ns
FROM part, span s ORDER BY part;
