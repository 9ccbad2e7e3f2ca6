-- Copies and fills by direction. temp.copies: those of the selection. Averages are over operations whose time or
-- size is known; GB/s (10^9 bytes per second) over those where both are: per time of each operation, and achieved, per
-- time during which any of them ran (Busy). GB/s From: the profiler's own bandwidth, or computed from durations, which
-- are too short where the trace counts in whole microseconds; mixed: both.
-- column: time_pct          | Time (%)      | percent | sum   | 4 | share of the time of all copies and fills selected
-- column: total_time        | Total Time    | ns      | sum   | 5 | sum of the durations
-- column: instances         | Instances     | count   | sum   | 4 | number of operations
-- column: bytes             | Bytes         | bytes   | sum   | 5 | bytes copied or filled
-- column: avg               | Avg           | ns      | mean  | 2 | mean duration, of those whose duration is known
-- column: avg_bytes         | Avg Bytes     | bytes   |       | 2 | mean size, of those whose size is known
-- column: gb_per_s          | GB/s          | GB/s    |       | 7 | 10^9 bytes per second of each operation's time, of those that have both
-- column: med               | Med           | ns      |       | 2 | median of the durations
-- column: busy              | Busy          | ns      |       | 1 | time during which at least one ran
-- column: achieved_gb_per_s | Achieved GB/s | GB/s    |       | 6 | 10^9 bytes per second of the time during which any ran
-- column: bandwidth_source  | GB/s From     | text    |       | 1 | profiler: its own bandwidth; computed: from durations; mixed: both
-- column: operation         | Operation     | text    | label |   | copy or fill, and direction
SELECT 100.0 * total / nullif(total(total) OVER (), 0), total, n, bytes, 1.0 * total / nullif(known, 0),
       1.0 * bytes / nullif(sized, 0), 1.0 * measured_bytes / nullif(measured_time, 0), median, busy,
       1.0 * measured_bytes / nullif(measured_time, 0) * measured_total / nullif(measured_busy, 0),
       CASE WHEN measured_time > 0 THEN
         CASE WHEN by_duration = 0 THEN 'profiler' WHEN by_profiler = 0 THEN 'computed' ELSE 'mixed' END END,
       kind || coalesce(' ' || direction, '')
FROM temp.copies
ORDER BY total DESC, 12;
