-- Where does the host wait for the GPU?
-- Calls that return when the GPU is done, by the operator around them, copies that block among them; not those that only
-- ask, or let a stream wait.
-- :top = 20, how many rows
SELECT t.value AS call, o.value AS cpu_op, count(*) AS n, sum(r.dur) AS total_ns, max(r.dur) AS longest_ns
FROM runtime_call r JOIN string t ON t.id = r.name_id LEFT JOIN cpu_op c ON c.id = r.cpu_op_id
LEFT JOIN string o ON o.id = c.name_id
WHERE r.id IN (SELECT call_id FROM host_waits)
GROUP BY 1, 2 ORDER BY total_ns DESC, 1, 2 LIMIT :top;
