-- Which operators cause small copies between host and device?
-- Each costs a launch and often a wait; batched or pinned copies avoid them.
-- :most = 65536, bytes of a small copy; :top = 20, how many rows
SELECT cpu_op, direction, count(*) AS n, sum(bytes) AS bytes, sum(dur) AS total_ns
FROM memcpys WHERE kind = 'memcpy' AND bytes <= :most AND direction IN ('HtoD', 'DtoH')
GROUP BY cpu_op, direction ORDER BY n DESC, cpu_op, direction LIMIT :top;
