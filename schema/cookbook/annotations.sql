-- How much GPU time is in each annotation of the user?
-- total_ns: kernels launched in it, in those inside it, meanwhile by the backward pass on another thread, and in the step that
-- it marks; own_ns: where it is the innermost, which adds up to all kernel time.
-- :top = 20, how many annotations
WITH RECURSIVE thread_of AS MATERIALIZED (
  SELECT DISTINCT t.id, t.process_id FROM annotation a JOIN thread t ON t.id = a.thread_id WHERE a.kind = 'user'),
event AS (
  SELECT thread_id, ts, id AS annotation_id, NULL AS kernel_id FROM annotation WHERE kind = 'user'
  UNION ALL SELECT o.id, r.ts, NULL, k.id FROM kernel k JOIN runtime_call r ON r.id = k.launch_id
    JOIN thread t ON t.id = r.thread_id JOIN thread_of o ON o.process_id = t.process_id AND o.id <> t.id
  WHERE k.pass = 'backward'),
latest AS MATERIALIZED (
  SELECT kernel_id, ts, max(annotation_id) OVER (PARTITION BY thread_id ORDER BY ts, kernel_id IS NOT NULL) AS id FROM event),
-- Of a launch beside, the annotations that are still open.
around(kernel_id, ts, id) AS (
  SELECT kernel_id, ts, id FROM latest WHERE kernel_id IS NOT NULL
  UNION ALL SELECT o.kernel_id, o.ts, a.parent_id FROM around o JOIN annotation a ON a.id = o.id),
beside AS MATERIALIZED (
  SELECT o.kernel_id, max(o.id) AS id FROM around o JOIN annotation a ON a.id = o.id WHERE a.ts + a.dur >= o.ts GROUP BY o.kernel_id),
spent AS MATERIALIZED (
  SELECT k.annotation_id AS id, coalesce(b.id, s.annotation_id) AS beside, count(*) AS n, sum(k.dur) AS total
  FROM kernel k LEFT JOIN beside b ON b.kernel_id = k.id LEFT JOIN step s ON s.id = k.step_id GROUP BY 1, 2),
up(own, beside, id) AS (
  SELECT id, beside, id FROM spent UNION SELECT id, beside, beside FROM spent WHERE beside IS NOT NULL
  UNION SELECT up.own, up.beside, a.parent_id FROM up JOIN annotation a ON a.id = up.id WHERE a.parent_id IS NOT NULL),
part AS (  -- of annotations within others of the same name, once
  SELECT up.own, up.beside, a.name_id, max(up.id IS coalesce(up.own, up.beside)) AS innermost
  FROM up LEFT JOIN annotation a ON a.id = up.id WHERE up.id IS NOT NULL OR up.beside IS NULL
  GROUP BY up.own, up.beside, a.name_id)
SELECT t.value AS annotation, sum(s.n) AS n, sum(s.total) AS total_ns, sum(s.n * p.innermost) AS own_n,
       sum(s.total * p.innermost) AS own_ns
FROM part p JOIN spent s ON s.id IS p.own AND s.beside IS p.beside LEFT JOIN string t ON t.id = p.name_id
GROUP BY p.name_id ORDER BY total_ns DESC, annotation LIMIT :top;
