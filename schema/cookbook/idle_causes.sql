-- Why do the devices stand idle?
SELECT d.ordinal AS device, g.cause, g.gaps, g.time AS total, g.longest,
       round(100.0 * g.time / sum(g.time) OVER (PARTITION BY g.device_id), 2) AS idle_pct
FROM gaps_by_cause g LEFT JOIN device d ON d.id = g.device_id ORDER BY 1, g.time DESC, 2;
