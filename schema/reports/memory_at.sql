-- What of a device's memory was allocated at a time: :at in ns, else at the peak of each device. [before the trace]: the rest of the
-- recorded total; [not known]: a rest that was not there before the trace, either; [addresses not recorded]: what is
-- allocated cannot be told. :by as in memory_by.
-- column: device | Device       | text    |       | 7 | cpu, cuda 0, hip 0, ...
-- column: ts     | At           | ns      |       | 2 | when
-- column: bytes  | Bytes        | bytes   | sum   | 9 | allocated then
-- column: pct    | Share (%)    | percent |       | 8 | of what was allocated on the device
-- column: n      | Allocations  | count   | sum   | 5 | their number
-- column: largest | Largest     | bytes   | max   | 3 | the largest of them
-- column: oldest | Oldest       | ns      | min   | 1 | when the first of them was allocated
-- column: what   | Allocated By | text    | label | 9 | operator, module, line, stack, step or size; [none]: outside of all
WITH
events AS MATERIALIZED (SELECT * FROM temp.memory_events),
firsts AS (SELECT device, min(id), allocated - bytes AS before, total(NOT has_address) = 0 AS traced FROM events GROUP BY device),
moment AS (  -- the event with the most of it: of bytes, or the last one by then; 0: before the first
  SELECT device, id, coalesce(:at, ts) AS ts, total, max(iif(:at IS NULL, total, id)), traced, before
  FROM (SELECT device, id, ts, allocated AS total FROM events WHERE :at IS NULL OR ts <= :at
        UNION ALL SELECT device, 0, NULL, before FROM firsts WHERE :at IS NOT NULL) JOIN firsts USING (device)
  GROUP BY device),
alive AS (
  SELECT e.device, m.ts, m.total, e.bytes, e.ts AS begun,
         coalesce(CASE :by WHEN 'module' THEN e.module WHEN 'step' THEN e.step
                  WHEN 'line' THEN s.text WHEN 'stack' THEN s.text
                  WHEN 'size' THEN printf('%,d bytes', e.bytes) ELSE e.operator END, '[none]') AS what
  FROM moment m JOIN events e ON e.device = m.device
  LEFT JOIN (SELECT id, iif(:by = 'stack', path, frame) AS text FROM stacks WHERE id IN (SELECT stack_id FROM events)) s
  ON s.id = e.stack_id
  WHERE m.traced AND e.bytes > 0 AND e.id <= m.id AND (e.ended_by IS NULL OR e.ended_by > m.id)),
rest AS (
  SELECT m.device, m.ts, m.total, m.id = 0 OR m.traced AS traced, m.before, m.total - (SELECT CAST(total(a.bytes) AS INTEGER) FROM alive a WHERE a.device = m.device) AS bytes
  FROM moment m)
SELECT device, ts, CAST(total(bytes) AS INTEGER), 100.0 * total(bytes) / nullif(total, 0), count(*), max(bytes), min(begun), what
FROM alive GROUP BY device, what
UNION ALL
SELECT device, ts, bytes, 100.0 * bytes / nullif(total, 0), NULL, NULL, NULL,
       CASE WHEN NOT traced THEN '[addresses not recorded]' WHEN bytes > before THEN '[not known]' ELSE '[before the trace]' END FROM rest WHERE bytes <> 0
ORDER BY 3 DESC, 1, 8;
