-- Memory by what allocated it. :by: operator, module (class of nn.Module), line (innermost Python call), stack (all of them), step,
-- size. Alive: allocated here and not freed by the end of the trace. Freed Here: frees, of whatever, while it was open.
-- column: device      | Device       | text  |       | 8 | cpu, cuda 0, hip 0, ...
-- column: alive       | Alive At End | bytes | sum   | 6 | of these allocations, those not freed in the trace; empty: addresses are not recorded
-- column: allocated   | Allocated    | bytes | sum   | 9 | bytes of its allocations
-- column: allocations | Allocations  | count | sum   | 7 | their number
-- column: largest     | Largest      | bytes | max   | 5 | the largest of them
-- column: freed       | Freed Here   | bytes | sum   | 3 | bytes freed while it was open
-- column: what        | Allocated By | text  | label | 9 | operator, module, line, stack, step or size; [none]: outside of all
SELECT device, CAST(iif(min(has_address), total(iif(bytes > 0 AND ended_by IS NULL, bytes, 0)), NULL) AS INTEGER),
       CAST(total(max(bytes, 0)) AS INTEGER), sum(bytes > 0), max(max(bytes, 0)), CAST(-total(min(bytes, 0)) AS INTEGER),
       coalesce(CASE :by WHEN 'module' THEN module WHEN 'step' THEN step
                WHEN 'line' THEN s.text WHEN 'stack' THEN s.text
                WHEN 'size' THEN printf('%,d bytes', abs(bytes)) ELSE operator END, '[none]') AS what
FROM temp.memory_events e
LEFT JOIN (SELECT id, iif(:by = 'stack', path, frame) AS text FROM stacks WHERE id IN (SELECT stack_id FROM temp.memory_events)) s
ON s.id = e.stack_id
GROUP BY device, what
ORDER BY 3 DESC, device, what;
