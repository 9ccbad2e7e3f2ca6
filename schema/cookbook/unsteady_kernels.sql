-- Which kernels vary most from one execution to the next?
-- The spread against the mean, of names that take a part of the time.
-- :least = 1, percent of the kernel time; :top = 20, how many names
SELECT name AS kernel, n, total AS total_ns, round(avg) AS mean_ns, round(sqrt(variance)) AS stddev_ns, round(sqrt(variance) / avg, 3) AS variation,
       min AS min_ns, p99 AS p99_ns, max AS max_ns
FROM kernel_stats WHERE n > 1 AND avg > 0 AND time_pct >= :least ORDER BY variation DESC, name LIMIT :top;
