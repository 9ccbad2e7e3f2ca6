-- Do the numbers of an index add up? One row per check: check, ok (1 or 0), detail.
WITH
counted AS (
  SELECT coalesce(sum(read), 0) AS read, coalesce(sum(stored), 0) AS stored, coalesce(sum(skipped), 0) AS skipped,
         coalesce(sum(read <> stored + skipped), 0) AS broken,
         coalesce(sum(stored) FILTER (WHERE ph IS NOT 'C'), 0) AS stored_plain,
         coalesce(sum(stored) FILTER (WHERE ph IS 'C'), 0) AS stored_counters
  FROM event_count),
-- A counter event may hold several series, so its rows are counted apart: at least one for each event stored.
present AS (
  SELECT (SELECT count(*) FROM kernel) + (SELECT count(*) FROM memory_op) + (SELECT count(*) FROM runtime_call)
       + (SELECT count(*) FROM cpu_op) + (SELECT count(*) FROM python_call) + (SELECT count(*) FROM annotation)
       + (SELECT count(*) FROM slice) + (SELECT count(*) FROM instant) + (SELECT count(*) FROM flow_unmatched) AS plain,
         (SELECT count(*) FROM counter) AS counters),
kernels AS (SELECT count(*) AS n, coalesce(sum(dur), 0) AS total FROM kernel)
SELECT 'conservation' AS "check", broken = 0 AS ok,
       format('%,d events read = %,d stored + %,d skipped', read, stored, skipped)
       || iif(broken = 0, '', format('; %,d rows of event_count do not add up', broken)) AS detail
FROM counted
UNION ALL
SELECT 'rows', stored_plain = plain AND stored_counters <= counters,
       format('%,d rows in the event tables for %,d events stored', plain + counters, stored_plain + stored_counters)
FROM counted, present
UNION ALL
SELECT 'meta', coalesce(CAST((SELECT value FROM meta WHERE key = 'events_read') AS INTEGER) = read, 0)
           AND coalesce(CAST((SELECT value FROM meta WHERE key = 'events_stored') AS INTEGER) = stored, 0)
           AND coalesce(CAST((SELECT value FROM meta WHERE key = 'events_skipped') AS INTEGER) = skipped, 0),
       'event counts in meta as in event_count'
FROM counted
UNION ALL
SELECT 'totals', n = (SELECT coalesce(sum(n), 0) FROM kernel_name_sum)
             AND total = (SELECT coalesce(sum(total), 0) FROM kernel_name_sum)
             AND n = (SELECT coalesce(sum(n), 0) FROM kernel_sum)
             AND total = (SELECT coalesce(sum(total), 0) FROM kernel_sum),
       format('%,d kernels of %,d ns in both aggregates', n, total)
FROM kernels
UNION ALL
SELECT 'references', count(*) = 0, format('%,d kernels with a name, stream, launch or step that is not there', count(*))
FROM kernel k
WHERE NOT EXISTS (SELECT 1 FROM kernel_name x WHERE x.id = k.name_id)
   OR NOT EXISTS (SELECT 1 FROM stream x WHERE x.id = k.stream_id)
   OR (k.launch_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runtime_call x WHERE x.id = k.launch_id))
   OR (k.step_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM step x WHERE x.id = k.step_id));
