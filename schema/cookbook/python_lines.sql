-- Which lines of Python launch the most GPU time?
-- The innermost function around each launch that has a file; needs a trace with Python stacks (with_stack).
-- :top = 20, how many functions
WITH RECURSIVE spent AS MATERIALIZED (
  SELECT stack_id, count(*) AS n, sum(dur) AS total FROM kernels WHERE stack_id IS NOT NULL GROUP BY stack_id),
up(stack_id, parent_id, frame_id, has_file) AS (
  SELECT t.stack_id, s.parent_id, f.id, f.file_id IS NOT NULL
  FROM spent t JOIN stack s ON s.id = t.stack_id JOIN frame f ON f.id = s.frame_id
  UNION ALL
  SELECT up.stack_id, s.parent_id, f.id, f.file_id IS NOT NULL
  FROM up JOIN stack s ON s.id = up.parent_id AND s.id < up.stack_id JOIN frame f ON f.id = s.frame_id WHERE NOT up.has_file)
SELECT file.value AS file, f.line, f.function, sum(t.n) AS n, sum(t.total) AS total_ns
FROM up JOIN spent t ON t.stack_id = up.stack_id JOIN frame f ON f.id = up.frame_id LEFT JOIN string file ON file.id = f.file_id
WHERE up.has_file GROUP BY f.id ORDER BY total_ns DESC, f.id LIMIT :top;
