-- Which elementwise work is in kernels of its own, and who launches them?
-- :top = 20, how many rows
SELECT op, cpu_op, name AS kernel, count(*) AS n, sum(dur) AS total_ns FROM kernels
WHERE op IN ('elementwise', 'copy', 'activation', 'norm', 'quantise')
GROUP BY op, cpu_op, name ORDER BY total_ns DESC, op, cpu_op, name LIMIT :top;
