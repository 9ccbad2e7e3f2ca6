-- Which framework operators take the most GPU time?
-- :top = 20, how many operators
SELECT cpu_op, count(*) AS n, sum(dur) AS total_ns, round(avg(dur)) AS mean_ns
FROM kernels GROUP BY cpu_op ORDER BY total_ns DESC, cpu_op LIMIT :top;
