-- Why do the devices stand idle?
SELECT d.ordinal AS device, g.cause, sum(g.gaps) AS gaps, sum(g.time) AS total_ns, max(g.longest) AS longest_ns,
       round(100.0 * sum(g.time) / sum(sum(g.time)) OVER (PARTITION BY g.device_id), 2) AS idle_pct
FROM gaps_by_cause g LEFT JOIN device d ON d.id = g.device_id
GROUP BY g.device_id, g.cause ORDER BY 1, sum(g.time) DESC, 2;
