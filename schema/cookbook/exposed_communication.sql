-- How much communication is not hidden behind computation?
SELECT coalesce(name, kind) AS collective, group_name, group_size, n, total AS total_ns, exposed AS exposed_ns,
       round(100.0 * exposed / nullif(busy, 0), 2) AS exposed_pct
FROM comms ORDER BY exposed DESC, 1, 2, n;
