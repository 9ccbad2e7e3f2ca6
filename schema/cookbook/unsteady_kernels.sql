-- Which kernels vary most from one execution to the next?
-- The spread against the mean, of names that take a part of the time.
-- :least = 1, percent of the kernel time; :top = 20, how many names
SELECT short_name, n, total, round(avg) AS mean, round(sqrt(variance)) AS stddev, round(sqrt(variance) / avg, 3) AS variation,
       min, p99, max
FROM kernel_stats WHERE n > 1 AND avg > 0 AND time_pct >= :least ORDER BY variation DESC, name LIMIT :top;
