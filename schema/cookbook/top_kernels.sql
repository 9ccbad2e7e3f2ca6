-- Which kernels take the most time?
-- By name over the whole trace, with the operation class and what a typical and a slow execution takes.
-- :top = 20, how many names
SELECT op, name AS kernel, n, total AS total_ns, round(time_pct, 2) AS time_pct, median AS median_ns, p99 AS p99_ns,
       max AS max_ns
FROM kernel_stats ORDER BY total DESC, name LIMIT :top;
