-- Where the time of steps goes, by device: sums of `breakdown`.
-- column: device        | Device        |         | label | 9 | device number; none: of steps that ran nothing on a device
-- column: steps         | Steps         | count   |       | 8 | its steps
-- column: length        | Length        | ns      | sum   | 9 | of their windows
-- column: busy_pct      | Busy (%)      | percent | of length | 6 | computing, exposed communication and copies as a share of the length
-- column: sm_pct        | SM (%)        | percent | of length | 5 | multiprocessors that have a block, at most all, mean over the length; unknown: a launch does not record its blocks
-- column: occupancy_pct | Occupancy (%) | percent |       | 5 | as the profiler estimates it, mean over the time of the kernels that have it
-- column: computing     | Computing     | ns      | sum   | 7 | kernels and fills run
-- column: exposed_comm  | Exposed Comm  | ns      | sum   | 6 | else communication runs
-- column: copy          | Copy          | ns      | sum   | 5 | else a copy runs
-- column: runtime       | Runtime       | ns      | sum   | 5 | else a runtime call is open on some thread
-- column: data_loader   | Data Loader   | ns      | sum   | 5 | else the data loader gives a batch to the thread of the steps
-- column: operators     | Operators     | ns      | sum   | 5 | else a framework operator is open on some thread
-- column: other         | Other         | ns      | sum   | 6 | nothing of these
WITH occupied AS MATERIALIZED (SELECT device_id, sum(sm_time) AS sm_time, sum(known) AS known, sum(occupied) AS occupied
                               FROM temp.step_occupancy GROUP BY device_id)
SELECT coalesce(d.ordinal, d.name), count(DISTINCT step), sum(length),
       iif(b.device_id IS NULL, NULL, 100.0 * sum(computing + exposed_comm + copy) / sum(length)), 100.0 * o.sm_time / sum(length), 100.0 * o.occupied / nullif(o.known, 0),
       sum(computing), sum(exposed_comm), sum(copy), sum(runtime), sum(data_loader), sum(operators), sum(other)
FROM temp.step_breakdown b LEFT JOIN device d ON d.id = b.device_id LEFT JOIN occupied o ON o.device_id IS b.device_id
GROUP BY b.device_id ORDER BY sum(length) DESC, 1;
