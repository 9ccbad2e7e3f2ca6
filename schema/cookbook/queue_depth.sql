-- How many kernels wait in the queue of the GPU over time?
-- Launched and not yet started, on average over equal parts of the trace: time spent waiting by the time there was.
-- A depth near 0 means that the GPU waits for the host.
-- :parts = 20, into how many parts the trace is cut
WITH span AS MATERIALIZED (
  SELECT min(ts) AS first, (max(ts) - min(ts)) / :parts + 1 AS width FROM kernels)
SELECT (l.kernel_ts - s.first) / s.width AS part, s.first + (l.kernel_ts - s.first) / s.width * s.width AS ts,
       count(*) AS kernels, round(1.0 * sum(max(0, l.kernel_ts - l.ts_end)) / s.width, 2) AS queue_depth,
       max(l.queue_delay) AS longest_delay
FROM launches l, span s GROUP BY 1 ORDER BY 1;
