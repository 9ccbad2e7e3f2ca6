-- Allocated memory over time, of each device in at most 400 pieces that have an event: device, first and last event, the most
-- allocated; behind the last event what is allocated and reserved (NULL: not recorded); 1: counted from the first event. The
-- fullest devices first; those of less than a hundredth of it are in the table of memory alone.
WITH
ranges AS MATERIALIZED (SELECT device, min(ts) AS first, max(ts) AS last, max(allocated) AS peak FROM temp.memory_events GROUP BY device),
placed AS MATERIALIZED (
  SELECT e.id, e.device, e.ts, e.allocated, e.reserved, e.is_relative, CAST((e.ts - r.first) * 400.0 / (r.last - r.first + 1) AS INTEGER) AS piece, r.peak
  FROM temp.memory_events e JOIN ranges r USING (device)),
ends AS MATERIALIZED (SELECT device, piece, max(id), allocated, reserved FROM placed GROUP BY device, piece)
SELECT p.device, min(p.ts), max(p.ts), max(p.allocated), e.allocated, e.reserved, max(p.is_relative)
FROM placed p JOIN ends e ON e.device = p.device AND e.piece = p.piece
GROUP BY p.device, p.piece HAVING 100 * p.peak >= (SELECT max(peak) FROM ranges) OR (SELECT max(peak) FROM ranges) <= 0
ORDER BY p.peak DESC, p.device, p.piece;
