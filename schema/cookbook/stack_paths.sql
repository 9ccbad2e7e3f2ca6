-- Through which Python call paths does the GPU time come?
-- Folded, as flame graph tools read them; needs Python stacks.
-- :top = 20, how many paths
WITH spent AS MATERIALIZED (
  SELECT stack_id, count(*) AS n, sum(dur) AS total FROM kernels WHERE stack_id IS NOT NULL GROUP BY stack_id
  ORDER BY total DESC, stack_id LIMIT :top)
SELECT s.path, t.n, t.total AS total_ns FROM spent t JOIN stacks s ON s.id = t.stack_id ORDER BY t.total DESC, t.stack_id;
