-- Which elementwise work is in kernels of its own, and who launches them?
-- :top = 20, how many rows
SELECT op, cpu_op, short_name, count(*) AS n, sum(dur) AS total FROM kernels
WHERE op IN ('elementwise', 'copy', 'activation', 'norm', 'quantise')
GROUP BY op, cpu_op, short_name ORDER BY total DESC, op, cpu_op, short_name LIMIT :top;
