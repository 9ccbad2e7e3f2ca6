-- Copies and fills by direction. GB/s: 10^9 bytes per second, over the operations whose size is known.
-- Sums are taken in two halves: sum() is an error where it exceeds an integer, this is a REAL there.
-- column: time_pct   | Time (%)   | percent | sum
-- column: total_time | Total Time | ns      | sum
-- column: instances  | Instances  | count   | sum
-- column: bytes      | Bytes      | bytes   | sum
-- column: avg        | Avg        | ns      | mean
-- column: avg_bytes  | Avg Bytes  | bytes   |
-- column: gb_per_s   | GB/s       | GB/s    |
-- column: operation  | Operation  | text    | label
SELECT 100.0 * total(m.dur) / nullif(total(total(m.dur)) OVER (), 0),
       coalesce(sum(m.dur >> 32) * 4294967296 + sum(m.dur & 4294967295), 0), count(*),
       sum(m.bytes >> 32) * 4294967296 + sum(m.bytes & 4294967295), total(m.dur) / count(*), avg(m.bytes),
       1.0 * total(m.bytes) / nullif(total(m.dur) FILTER (WHERE m.bytes IS NOT NULL), 0),
       m.kind || coalesce(' ' || m.direction, '')
FROM memory_op m
GROUP BY m.kind, m.direction
ORDER BY 2 DESC, 8;
