-- What runs on which stream?
SELECT device, stream, op, count(*) AS n, sum(dur) AS total_ns FROM kernels
GROUP BY device, stream, op ORDER BY device, stream, total_ns DESC, op;
