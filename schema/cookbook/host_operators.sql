-- Which operators keep the CPU busy themselves, without those that they call?
-- Time in calls that return when the GPU is done, as in the recipe synchronisations, is waiting, not work.
-- :top = 20, how many operators
WITH own AS MATERIALIZED (SELECT name_id, count(*) AS n, sum(dur) AS total FROM cpu_op GROUP BY name_id),
inside AS MATERIALIZED (
  SELECT p.name_id, sum(c.dur) AS total FROM cpu_op c JOIN cpu_op p ON p.id = c.parent_id WHERE p.dur IS NOT NULL
  GROUP BY p.name_id),
waiting AS MATERIALIZED (
  SELECT o.name_id, sum(r.dur) AS total FROM runtime_call r JOIN cpu_op o ON o.id = r.cpu_op_id
  WHERE r.id IN (SELECT call_id FROM host_waits) GROUP BY o.name_id)
SELECT t.value AS cpu_op, o.n, o.total AS total_ns, coalesce(w.total, 0) AS waiting_ns,
       o.total - coalesce(i.total, 0) - coalesce(w.total, 0) AS self_ns
FROM own o JOIN string t ON t.id = o.name_id LEFT JOIN inside i ON i.name_id = o.name_id
     LEFT JOIN waiting w ON w.name_id = o.name_id
ORDER BY self_ns DESC, cpu_op LIMIT :top;
