-- Copies and fills by direction. temp.copies: those of the selection. Averages are over operations whose time or
-- size is known; GB/s (10^9 bytes per second) over those where both are: per time of each operation, and achieved, per
-- time during which any of them ran (Busy). GB/s From: the profiler's own bandwidth, or computed from durations, which
-- are too short where the trace counts in whole microseconds; mixed: both.
-- column: time_pct      | Time (%)      | percent | sum
-- column: total_time    | Total Time    | ns      | sum
-- column: instances     | Instances     | count   | sum
-- column: bytes         | Bytes         | bytes   | sum
-- column: avg           | Avg           | ns      | mean
-- column: avg_bytes     | Avg Bytes     | bytes   |
-- column: gb_per_s      | GB/s          | GB/s    |
-- column: med           | Med           | ns      |
-- column: busy          | Busy          | ns      |
-- column: achieved_gb_per_s | Achieved GB/s | GB/s |
-- column: bandwidth_source | GB/s From  | text    |
-- column: operation     | Operation     | text    | label
SELECT 100.0 * total / nullif(total(total) OVER (), 0), total, n, bytes, 1.0 * total / nullif(known, 0),
       1.0 * bytes / nullif(sized, 0), 1.0 * measured_bytes / nullif(measured_time, 0), median, busy,
       1.0 * measured_bytes / nullif(measured_time, 0) * measured_total / nullif(measured_busy, 0),
       CASE WHEN measured_time > 0 THEN
         CASE WHEN by_duration = 0 THEN 'profiler' WHEN by_profiler = 0 THEN 'computed' ELSE 'mixed' END END,
       kind || coalesce(' ' || direction, '')
FROM temp.copies
ORDER BY total DESC, 12;
