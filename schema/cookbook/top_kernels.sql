-- Which kernels take the most time?
-- By name over the whole trace, with the operation class and what a typical and a slow execution takes.
-- :top = 20, how many names
SELECT op, short_name, n, total, round(time_pct, 2) AS time_pct, median, p99, max
FROM kernel_stats ORDER BY total DESC, name LIMIT :top;
