-- How unevenly is the work of a job spread over its ranks?
-- Give the indexes of all ranks, or their folder. Kernel time of each rank by operation class; the largest difference first.
-- Communication is long where a rank waits: there the rank with the least is the late one.
WITH ranks AS MATERIALIZED (SELECT job, rank, index_name, op, sum(dur) AS total FROM all_kernels GROUP BY job, rank, index_name, op)
SELECT job, op, count(*) AS ranks, min(total) AS least_ns,
       (SELECT r.rank FROM ranks r WHERE r.job IS o.job AND r.op = o.op ORDER BY r.total, r.rank LIMIT 1) AS least_rank,
       max(total) AS most_ns,
       (SELECT r.rank FROM ranks r WHERE r.job IS o.job AND r.op = o.op ORDER BY r.total DESC, r.rank LIMIT 1) AS most_rank,
       round(avg(total)) AS mean_ns, round(100.0 * (max(total) - avg(total)) / nullif(avg(total), 0), 2) AS above_mean_pct
FROM ranks o GROUP BY job, op ORDER BY max(total) - min(total) DESC, job, op;
