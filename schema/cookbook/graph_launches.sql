-- What does a launch cost per kernel, with and without graphs?
SELECT call, kind, count(DISTINCT launch_id) AS calls, count(*) AS kernels, round(1.0 * count(*) / count(DISTINCT launch_id), 1)
       AS kernels_a_call, round(sum(dur) FILTER (WHERE queue_delay IS NOT NULL) / (1.0 * count(*))) AS host_ns_a_kernel
FROM launches GROUP BY call, kind ORDER BY kernels DESC, call;
