-- Memory by device, from what the allocator recorded. Peaks are of the recorded totals, with what was there before the
-- trace; where no totals are recorded (Relative), of the sum of the events. Reserved: what the allocator holds of the device.
-- column: device        | Device          | text    | label | 9 | cpu, cuda 0, hip 0, ...
-- column: events        | Events          | count   | sum   | 3 | allocations and frees
-- column: allocated     | Allocated       | bytes   | sum   | 4 | bytes of all allocations
-- column: freed         | Freed           | bytes   | sum   | 4 | bytes of all frees
-- column: peak          | Peak            | bytes   |       | 9 | most that was allocated after an event
-- column: peak_ts       | At              | ns      |       | 6 | when that was
-- column: before        | Before Trace    | bytes   |       | 5 | allocated before the first event; empty: not recorded
-- column: peak_reserved | Peak Reserved   | bytes   |       | 8 | most that the allocator held; empty: not recorded
-- column: device_pct    | Of Device (%)   | percent |       | 7 | peak reserved, else peak, as a share of the device's memory
-- column: fragmented_pct | Unused (%)     | percent |       | 5 | of what was reserved at the peak, what was not allocated
-- column: alive         | Alive At End    | bytes   |       | 6 | of the trace's allocations, those not freed in it; empty: addresses are not recorded
-- column: last          | At End          | bytes   |       | 5 | allocated after the last event
-- column: relative      | Relative        | count   |       | 1 | events without a recorded total
WITH
events AS MATERIALIZED (SELECT * FROM temp.memory_events),
peaks AS (SELECT device, max(allocated) AS peak, ts, reserved FROM events GROUP BY device),
firsts AS (SELECT device, min(id), iif(is_relative, NULL, allocated - bytes) AS before FROM events GROUP BY device),
lasts AS (SELECT device, max(id), allocated AS last FROM events GROUP BY device),
sums AS (
  SELECT device, max(device_number) AS number, count(*) AS n, total(max(bytes, 0)) AS allocated, -total(min(bytes, 0)) AS freed,
         max(reserved) AS reserved, sum(is_relative) AS relative,
         iif(min(has_address), total(iif(bytes > 0 AND ended_by IS NULL, bytes, 0)), NULL) AS alive
  FROM events GROUP BY device)
SELECT s.device, s.n, CAST(s.allocated AS INTEGER), CAST(s.freed AS INTEGER), p.peak, p.ts, f.before, s.reserved,
       100.0 * coalesce(s.reserved, p.peak) / (SELECT max(d.memory_bytes) FROM device d WHERE d.ordinal = s.number),
       100.0 * (p.reserved - p.peak) / nullif(p.reserved, 0), CAST(s.alive AS INTEGER), l.last, s.relative
FROM sums s JOIN peaks p USING (device) JOIN firsts f USING (device) JOIN lasts l USING (device)
ORDER BY p.peak DESC, 1;
