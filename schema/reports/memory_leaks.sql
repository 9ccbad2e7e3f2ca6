-- Memory that was allocated in a step and is still allocated at the end of the second step after it on its thread, by the step
-- and what allocated it.
-- column: device | Device       | text  |       | 7 | cpu, cuda 0, hip 0, ...
-- column: step   | Step         |       |       | 8 | that allocated it
-- column: bytes  | Bytes        | bytes | sum   | 9 | still allocated
-- column: n      | Allocations  | count | sum   | 6 | their number
-- column: largest | Largest     | bytes | max   | 3 | the largest of them
-- column: what   | Allocated By | text  | label | 9 | operator; [none]: outside of all
WITH
ends AS (SELECT step, lead(ts + dur, 2) OVER (PARTITION BY track ORDER BY step) AS ts_end FROM temp.step_figures WHERE timed_on = 'cpu')
SELECT e.device, e.step, CAST(total(e.bytes) AS INTEGER), count(*), max(e.bytes), coalesce(e.operator, '[none]') AS what
FROM temp.memory_events e JOIN ends s ON s.step = e.step AND s.ts_end IS NOT NULL
WHERE e.bytes > 0 AND e.has_address AND (e.ended_ts IS NULL OR e.ended_ts > s.ts_end)
GROUP BY e.device, e.step, what
ORDER BY 3 DESC, 1, 2, 6;
