-- Which framework operators take the most GPU time?
-- :top = 20, how many operators
SELECT cpu_op, count(*) AS n, sum(dur) AS total, round(avg(dur)) AS mean
FROM kernels GROUP BY cpu_op ORDER BY total DESC, cpu_op LIMIT :top;
