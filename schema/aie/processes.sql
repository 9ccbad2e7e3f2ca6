-- The processes of a trace: id, name, pid as text. In order of id.
SELECT id, coalesce(name, ''), coalesce(CAST(pid AS TEXT), '') FROM process ORDER BY id;
