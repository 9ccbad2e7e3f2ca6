-- Which operators keep the CPU busy themselves, without those that they call?
-- :top = 20, how many operators
WITH inside AS MATERIALIZED (SELECT parent_id, sum(dur) AS total FROM cpu_op WHERE parent_id IS NOT NULL GROUP BY parent_id)
SELECT t.value AS cpu_op, count(*) AS n, sum(c.dur) AS total_ns, sum(c.dur - coalesce(i.total, 0)) AS self_ns
FROM cpu_op c JOIN string t ON t.id = c.name_id LEFT JOIN inside i ON i.parent_id = c.id
GROUP BY c.name_id ORDER BY self_ns DESC, cpu_op LIMIT :top;
