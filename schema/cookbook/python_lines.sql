-- Which functions of your own Python code launch the most GPU time?
-- The innermost one around each launch, as self time of `stacks --by function --view flat`; `line` is where it begins. Needs
-- a trace with Python stacks (with_stack).
-- :top = 20, how many functions
WITH RECURSIVE own AS MATERIALIZED (
  SELECT f.id FROM frame f JOIN string name ON name.id = f.name_id WHERE is_own_frame(name.value)),
spent AS MATERIALIZED (
  SELECT stack_id, count(*) AS n, sum(dur) AS total FROM kernels WHERE stack_id IS NOT NULL GROUP BY stack_id),
up(stack_id, parent_id, frame_id, is_own) AS (
  SELECT t.stack_id, s.parent_id, s.frame_id, s.frame_id IN own FROM spent t JOIN stack s ON s.id = t.stack_id
  UNION ALL
  SELECT up.stack_id, s.parent_id, s.frame_id, s.frame_id IN own
  FROM up JOIN stack s ON s.id = up.parent_id AND s.id < up.stack_id WHERE NOT up.is_own)
SELECT file.value AS file, f.line, f.function, sum(t.n) AS n, sum(t.total) AS total_ns
FROM up JOIN spent t ON t.stack_id = up.stack_id JOIN frame f ON f.id = up.frame_id LEFT JOIN string file ON file.id = f.file_id
WHERE up.is_own GROUP BY f.id ORDER BY total_ns DESC, f.id LIMIT :top;
