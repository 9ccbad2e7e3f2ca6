-- What rate do the collectives reach, by size?
-- Bytes of the larger side of one rank by the median time: the algorithm's bandwidth, before the factor of the ring.
SELECT name, dtype, group_size, bytes, n, median AS median_ns, min AS min_ns, round(1.0 * bytes / nullif(median, 0), 3) AS gb_per_s
FROM comms WHERE bytes > 0 ORDER BY name, group_size, bytes DESC, dtype, n;
