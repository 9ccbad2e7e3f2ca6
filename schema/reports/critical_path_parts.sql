-- The parts of the critical path in order of time: each begins where the one before ends.
-- column: step     | Step     |         |       | 3 | number of the step; empty: the whole trace
-- column: ts       | From     | ns      |       | 8 | start
-- column: end      | To       | ns      |       | 5 | start of the next
-- column: length   | Length   | ns      | sum   | 9 | its length
-- column: kind     | Kind     | text    |       | 9 | computation, communication, copy, fill, gaps before what starts then, host
-- column: place    | Place    | text    |       | 7 | device or host thread
-- column: operator | Operator | text    |       | 4 | that launched it, or the innermost on the host
-- column: module   | Module   | text    |       | 3 | class of the innermost nn.Module around it
-- column: inferred | Inferred | count   | sum   | 2 | 1: what leads here is not recorded
-- column: name     | Name     | text    | label | 6 | of the kernel or copy, the call, or what is innermost on the host
SELECT step, ts, "end", length, kind,
       coalesce((SELECT coalesce(t.name, 'thread ' || t.tid) FROM thread t WHERE t.id = thread_id),
                (SELECT 'device ' || coalesce(d.ordinal, d.name) FROM device d WHERE d.id = device_id)),
       operator, module, inferred, name
FROM temp.critical_path
ORDER BY step, ts;
