-- Which kernels that matter leave most of the GPU's threads unused?
-- Occupancy is the profiler's estimate, weighted by time. Profilers write 0 where they know none: it is left out.
-- :below = 25, percent of occupancy; :least = 1, percent of the kernel time
SELECT name AS kernel, count(*) AS n, sum(dur) AS total_ns,
       round(100.0 * sum(dur) / (SELECT total(total) FROM kernel_stats), 2) AS time_pct,
       round(sum(dur * occupancy_pct) / sum(dur), 1) AS occupancy_pct, min(registers) AS registers,
       max(shared_memory) AS shared_memory_bytes
FROM kernels WHERE occupancy_pct > 0 AND dur > 0
GROUP BY name
HAVING sum(dur * occupancy_pct) / sum(dur) < :below AND sum(dur) >= :least / 100.0 * (SELECT total(total) FROM kernel_stats)
ORDER BY total_ns DESC, name;
