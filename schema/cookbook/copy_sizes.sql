-- How large are the copies, and what bandwidth do they reach?
-- By direction and power of 16 of the size; of each operation's time, as in `memcpys`.
SELECT kind, direction, CAST(pow(16, CAST(ln(max(bytes, 1)) / ln(16) AS INTEGER)) AS INTEGER) AS bytes_from, count(*) AS n,
       sum(bytes) AS bytes, sum(dur) AS total_ns,
       round(sum(bytes) FILTER (WHERE gb_per_s > 0) / sum(bytes / gb_per_s) FILTER (WHERE gb_per_s > 0), 3) AS gb_per_s
FROM memcpys WHERE bytes IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
