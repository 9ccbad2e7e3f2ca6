-- How much work of a GPU runs at the same time?
-- Kernels, copies and fills of all streams: time in which at least one runs, in which two or more run, and their sum.
SELECT device, count(DISTINCT stream) AS streams, count(*) AS n, sum(dur) AS total_ns, busy_ns(ts, dur) AS busy_ns,
       overlap_ns(ts, dur) AS overlap_ns, round(100.0 * overlap_ns(ts, dur) / nullif(busy_ns(ts, dur), 0), 2) AS overlap_pct
FROM (SELECT device, stream, ts, dur FROM kernels UNION ALL SELECT device, stream, ts, dur FROM memcpys)
GROUP BY device ORDER BY device;
