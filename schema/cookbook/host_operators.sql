-- Which operators keep the CPU busy themselves, without those that they call?
-- :top = 20, how many operators
WITH own AS MATERIALIZED (SELECT name_id, count(*) AS n, sum(dur) AS total FROM cpu_op GROUP BY name_id),
inside AS MATERIALIZED (
  SELECT p.name_id, sum(c.dur) AS total FROM cpu_op c JOIN cpu_op p ON p.id = c.parent_id WHERE p.dur IS NOT NULL
  GROUP BY p.name_id)
SELECT t.value AS cpu_op, o.n, o.total AS total_ns, o.total - coalesce(i.total, 0) AS self_ns
FROM own o JOIN string t ON t.id = o.name_id LEFT JOIN inside i ON i.name_id = o.name_id
ORDER BY self_ns DESC, cpu_op LIMIT :top;
