-- When does the GPU stand idle longest, and what runs before and after?
-- :top = 20, how many times
WITH gap AS MATERIALIZED (
  SELECT step, ts, dur, cause, before_kernel_id, before_memory_op_id, after_kernel_id, after_memory_op_id
  FROM idle_gaps ORDER BY dur DESC, ts LIMIT :top)
SELECT g.step, g.ts AS ts_ns, g.dur AS dur_ns, g.cause,
       coalesce((SELECT n.short_name FROM kernel k JOIN kernel_name n ON n.id = k.name_id WHERE k.id = g.before_kernel_id),
                (SELECT t.value FROM memory_op m JOIN string t ON t.id = m.name_id WHERE m.id = g.before_memory_op_id)) AS before,
       coalesce((SELECT n.short_name FROM kernel k JOIN kernel_name n ON n.id = k.name_id WHERE k.id = g.after_kernel_id),
                (SELECT t.value FROM memory_op m JOIN string t ON t.id = m.name_id WHERE m.id = g.after_memory_op_id)) AS after
FROM gap g ORDER BY g.dur DESC, g.ts;
