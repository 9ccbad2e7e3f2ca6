-- How long does the GPU stand idle while the data loader works?
-- By name of the data loader's operators and annotations: time in them, and idle time of the devices meanwhile.
-- :least = 10000, only idle times of at least that many ns
WITH loading AS MATERIALIZED (
  SELECT t.value AS name, e.ts, e.ts + e.dur AS ts_end, e.dur FROM (
    SELECT name_id, ts, dur FROM cpu_op UNION ALL SELECT name_id, ts, dur FROM annotation WHERE kind = 'user') e
  JOIN (SELECT id, value FROM string WHERE value LIKE '%dataloader%') t ON t.id = e.name_id),
idle AS MATERIALIZED (SELECT device_id, ts, ts + dur AS ts_end FROM idle_gaps WHERE dur >= :least)
SELECT l.name, count(DISTINCT l.ts) AS calls,
       (SELECT sum(o.dur) FROM loading o WHERE o.name = l.name) AS total_ns,
       sum(max(0, min(l.ts_end, i.ts_end) - max(l.ts, i.ts))) AS idle_meanwhile_ns
FROM loading l LEFT JOIN idle i ON i.ts < l.ts_end AND i.ts_end > l.ts
GROUP BY l.name ORDER BY idle_meanwhile_ns DESC, l.name;
