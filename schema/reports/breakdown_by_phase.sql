-- Where the time of steps goes, by kind of step: sums of `breakdown`.
-- column: phase        | Phase        | text    | label | 9 | kind of step
-- column: steps        | Steps        | count   | sum   | 8 | its steps
-- column: length       | Length       | ns      | sum   | 9 | of their windows
-- column: busy_pct     | Busy (%)     | percent |       | 6 | computing, exposed communication and copies as a share of the length
-- column: computing    | Computing    | ns      | sum   | 7 | kernels and fills run
-- column: exposed_comm | Exposed Comm | ns      | sum   | 6 | else communication runs
-- column: copy         | Copy         | ns      | sum   | 5 | else a copy runs
-- column: runtime      | Runtime      | ns      | sum   | 5 | else a runtime call is open on some thread
-- column: data_loader  | Data Loader  | ns      | sum   | 5 | else the data loader gives a batch
-- column: operators    | Operators    | ns      | sum   | 5 | else a framework operator is open on some thread
-- column: other        | Other        | ns      | sum   | 6 | nothing of these
SELECT coalesce(phase, '[whole trace]'), count(DISTINCT step), sum(length),
       iif(EXISTS (SELECT 1 FROM kernel) OR EXISTS (SELECT 1 FROM memory_op), 100.0 * sum(computing + exposed_comm + copy) / sum(length), NULL), sum(computing), sum(exposed_comm), sum(copy), sum(runtime), sum(data_loader), sum(operators), sum(other)
FROM temp.step_breakdown
GROUP BY phase ORDER BY sum(length) DESC, 1;
