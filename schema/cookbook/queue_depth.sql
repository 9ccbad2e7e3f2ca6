-- How many kernels wait in the queue of the GPU over time?
-- Launched and not yet started, on average over equal parts of the trace. Near 0 the GPU waits for the host.
-- :parts = 20, into how many parts the trace is cut
WITH RECURSIVE span AS MATERIALIZED (
  SELECT min(least, first) AS first, (last - min(least, first)) / :parts + 1 AS width
  FROM (SELECT min(min(ts_end, kernel_ts)) AS least, min(kernel_ts) AS first, max(kernel_ts) AS last FROM launches)),
part(part, ts, ts_end, width) AS (
  SELECT 0, first, first + width, width FROM span WHERE first IS NOT NULL
  UNION ALL SELECT part + 1, ts_end, ts_end + width, width FROM part WHERE part + 1 < :parts)
-- Of the time that a kernel waits, what falls into the part.
SELECT part, ts AS ts_ns,
       (SELECT count(*) FROM launches l WHERE l.kernel_ts >= part.ts AND l.kernel_ts < part.ts_end) AS kernels,
       round((SELECT total(min(l.kernel_ts, part.ts_end) - max(l.ts_end, part.ts)) FROM launches l
              WHERE l.kernel_ts > part.ts AND l.ts_end < part.ts_end AND l.launch_delay > 0) / width, 2) AS queue_depth,
       (SELECT max(l.queue_delay) FROM launches l WHERE l.kernel_ts >= part.ts AND l.kernel_ts < part.ts_end)
       AS longest_delay_ns
FROM part ORDER BY part;
