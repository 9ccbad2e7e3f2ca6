-- Copies and fills by direction. Averages are over the operations whose time or size is known; GB/s, 10^9 bytes per
-- second, over those where both are.
-- column: time_pct   | Time (%)   | percent | sum
-- column: total_time | Total Time | ns      | sum
-- column: instances  | Instances  | count   | sum
-- column: bytes      | Bytes      | bytes   | sum
-- column: avg        | Avg        | ns      | mean
-- column: avg_bytes  | Avg Bytes  | bytes   |
-- column: gb_per_s   | GB/s       | GB/s    |
-- column: operation  | Operation  | text    | label
SELECT 100.0 * total(m.dur) / nullif(total(total(m.dur)) OVER (), 0), coalesce(bounded_sum(m.dur), 0), count(*),
       bounded_sum(m.bytes), avg(m.dur), avg(m.bytes),
       total(m.bytes) FILTER (WHERE m.dur IS NOT NULL)
         / nullif(total(m.dur) FILTER (WHERE m.bytes IS NOT NULL), 0),
       m.kind || coalesce(' ' || m.direction, '')
FROM memory_op m
GROUP BY m.kind, m.direction
ORDER BY 2 DESC, 8;
