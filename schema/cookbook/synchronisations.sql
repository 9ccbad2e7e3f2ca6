-- Where does the host wait for the GPU?
-- Calls that synchronise, by the operator around them.
-- :top = 20, how many rows
SELECT t.value AS call, o.value AS cpu_op, count(*) AS n, sum(r.dur) AS total, max(r.dur) AS longest
FROM runtime_call r JOIN string t ON t.id = r.name_id LEFT JOIN cpu_op c ON c.id = r.cpu_op_id
LEFT JOIN string o ON o.id = c.name_id
WHERE r.kind = 'sync' GROUP BY 1, 2 ORDER BY total DESC, 1, 2 LIMIT :top;
