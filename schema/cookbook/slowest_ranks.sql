-- Which rank of a job computes longest in each step?
-- Give the indexes of all ranks, or their folder. Kernel time without communication, which contains the waiting for others.
-- :top = 20, how many steps
WITH ranks AS MATERIALIZED (
  SELECT job, rank, index_name, step, sum(dur) AS total FROM all_kernels
  WHERE step IS NOT NULL AND op <> 'communication' GROUP BY job, rank, index_name, step)
SELECT job, step, count(*) AS ranks, round(avg(total)) AS mean_ns, max(total) AS most_ns,
       (SELECT r.rank FROM ranks r WHERE r.job IS s.job AND r.step = s.step ORDER BY r.total DESC, r.rank LIMIT 1) AS most_rank,
       round(max(total) - avg(total)) AS above_mean_ns
FROM ranks s GROUP BY job, step HAVING count(*) > 1 ORDER BY above_mean_ns DESC, job, step LIMIT :top;
