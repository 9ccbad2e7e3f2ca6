-- How much communication is not hidden behind computation?
SELECT coalesce(name, kind) AS collective, group_name, ranks AS group_size, instances AS n, total_time AS total_ns, exposed AS exposed_ns,
       round(100.0 * exposed / nullif(busy, 0), 2) AS exposed_pct
FROM comms ORDER BY exposed DESC, 1, 2, instances;
