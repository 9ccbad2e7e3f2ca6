-- How much work of a GPU runs at the same time?
-- Kernels, copies and fills of all streams: time in which at least one runs, in which two or more run, and their sum.
-- Rows of kernels and copies go through SQLite once, and unsorted: device by device.
WITH used AS MATERIALIZED (
  SELECT device, stream, count(*) AS n, sum(dur) AS total FROM kernels GROUP BY device, stream
  UNION ALL SELECT device, stream, count(*), sum(dur) FROM memcpys GROUP BY device, stream),
found AS MATERIALIZED (
  SELECT device, count(DISTINCT stream) AS streams, sum(n) AS n, sum(total) AS total,
         (SELECT json_array(busy_ns(ts, dur), overlap_ns(ts, dur)) FROM (
            SELECT ts, dur FROM kernels k WHERE k.device IS used.device
            UNION ALL SELECT ts, dur FROM memcpys m WHERE m.device IS used.device)) AS times
  FROM used GROUP BY device)
SELECT device, streams, n, total AS total_ns, times ->> 0 AS busy_ns, times ->> 1 AS overlap_ns,
       round(100.0 * (times ->> 1) / nullif(times ->> 0, 0), 2) AS overlap_pct
FROM found ORDER BY device;
