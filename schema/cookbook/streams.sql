-- What runs on which stream?
SELECT device, stream, op, count(*) AS n, sum(dur) AS total FROM kernels
GROUP BY device, stream, op ORDER BY device, stream, total DESC, op;
