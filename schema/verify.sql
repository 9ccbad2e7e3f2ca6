-- Whether the numbers of an index add up. One row per check: check, ok (1 or 0), detail.
WITH
counted AS (
  SELECT coalesce(sum(read), 0) AS read, coalesce(sum(stored), 0) AS stored, coalesce(sum(skipped), 0) AS skipped,
         (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'events_used') AS used,  -- of the skipped ones; NULL: not known
         coalesce(sum(read <> stored + skipped), 0) AS broken,
         coalesce(sum(stored) FILTER (WHERE ph IS NOT 'C'), 0) AS stored_plain,
         coalesce(sum(stored) FILTER (WHERE ph IS 'C'), 0) AS stored_counters
  FROM event_count),
-- Rows of memory_event describe rows of instant. A counter event may hold several series, so its rows are counted apart: at least one for each event stored.
present AS (
  SELECT (SELECT count(*) FROM kernel) + (SELECT count(*) FROM memory_op) + (SELECT count(*) FROM runtime_call)
       + (SELECT count(*) FROM cpu_op) + (SELECT count(*) FROM annotation) + (SELECT count(*) FROM slice)
       + (SELECT count(*) FROM instant) + (SELECT coalesce(sum(n), 0) FROM packed_block
          WHERE event_table <> 'memory_event') AS plain,
         (SELECT count(*) FROM counter) AS counters),
-- Kernels of AI Engine tiles are made of marks, operators of XLA of launches, which have rows of their own.
derived AS (SELECT coalesce(sum(CAST(value AS INTEGER)), 0) AS n FROM meta
            WHERE key IN ('kernels_from_marks', 'operators_from_events')),
-- Reports use the largest id as the number of rows.
largest AS (
  SELECT (SELECT coalesce(max(id), 0) FROM kernel) + (SELECT coalesce(max(id), 0) FROM memory_op)
       + (SELECT coalesce(max(id), 0) FROM runtime_call) + (SELECT coalesce(max(id), 0) FROM cpu_op)
       + (SELECT coalesce(max(id), 0) FROM annotation) + (SELECT coalesce(max(id), 0) FROM slice)
       + (SELECT coalesce(max(id), 0) FROM instant) + (SELECT coalesce(sum(n), 0) FROM packed_block
          WHERE event_table <> 'memory_event') AS plain,
         (SELECT coalesce(max(id), 0) FROM counter) AS counters),
kernels AS (
  SELECT count(*) AS n, coalesce(bounded_sum(dur), 0) AS total,
         count(launch_id) AS n_launch, coalesce(bounded_sum(dur) FILTER (WHERE launch_id IS NOT NULL), 0) AS ns_launch,
         count(cpu_op_id) AS n_operator, coalesce(bounded_sum(dur) FILTER (WHERE cpu_op_id IS NOT NULL), 0) AS ns_operator,
         count(stack_id) AS n_stack, coalesce(bounded_sum(dur) FILTER (WHERE stack_id IS NOT NULL), 0) AS ns_stack,
         count(step_id) AS n_step, coalesce(bounded_sum(dur) FILTER (WHERE step_id IS NOT NULL), 0) AS ns_step
  FROM kernel),
flows AS (
  SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'links_confirmed_by_flow'), 0) AS confirmed,
         coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'links_contradicted_by_flow'), 0) AS contradicted,
         coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'links_made_by_flow'), 0) AS made,
         (SELECT count(launch_id) FROM kernel) + (SELECT count(launch_id) FROM memory_op) AS linked),
covered(meta_key, value) AS (
  SELECT 'kernels', n FROM kernels
  UNION ALL SELECT 'kernel_ns', total FROM kernels
  UNION ALL SELECT 'kernels_with_launch', n_launch FROM kernels
  UNION ALL SELECT 'kernel_ns_with_launch', ns_launch FROM kernels
  UNION ALL SELECT 'kernels_with_operator', n_operator FROM kernels
  UNION ALL SELECT 'kernel_ns_with_operator', ns_operator FROM kernels
  UNION ALL SELECT 'kernels_with_stack', n_stack FROM kernels
  UNION ALL SELECT 'kernel_ns_with_stack', ns_stack FROM kernels
  UNION ALL SELECT 'kernels_with_step', n_step FROM kernels
  UNION ALL SELECT 'kernel_ns_with_step', ns_step FROM kernels)
SELECT 'conservation' AS "check", broken = 0 AS ok,
       format('%,d events read = %,d stored + ', read, stored)
       || iif(used IS NULL, format('%,d used in others or skipped', skipped),
              format('%,d used in others + %,d skipped', used, skipped - used))
       || iif(broken = 0, '', format('; %,d rows of event_count do not add up', broken)) AS detail
FROM counted
UNION ALL
SELECT 'rows', stored_plain + d.n = p.plain AND stored_counters <= p.counters AND p.plain = l.plain AND p.counters = l.counters,
       format('%,d rows in the event tables for %,d events stored', p.plain + p.counters, stored_plain + stored_counters)
       || iif(d.n = 0, '', format('; %,d of them are made of other events', d.n))
       || iif(p.plain = l.plain AND p.counters = l.counters, '', '; ids have holes')
FROM counted, present p, largest l, derived d
UNION ALL
SELECT 'meta', coalesce(CAST((SELECT value FROM meta WHERE key = 'events_read') AS INTEGER) = read, 0)
           AND coalesce(CAST((SELECT value FROM meta WHERE key = 'events_stored') AS INTEGER) = stored, 0)
           AND coalesce(CAST((SELECT value FROM meta WHERE key = 'events_skipped') AS INTEGER) = skipped, 0),
       'event counts in meta as in event_count'
FROM counted
UNION ALL
SELECT 'totals', n = (SELECT coalesce(sum(n), 0) FROM kernel_name_sum)
             AND total = (SELECT coalesce(bounded_sum(total), 0) FROM kernel_name_sum),
       format('%,d kernels of %,d ns as in their sums', n, total)
FROM kernels
UNION ALL
SELECT 'coverage', count(*) FILTER (WHERE CAST(m.value AS INTEGER) IS NOT c.value) = 0,
       coalesce('not as in the tables: ' || group_concat(c.meta_key, ', ') FILTER (WHERE CAST(m.value AS INTEGER) IS NOT c.value),
                'kernel counts and times in meta as in the tables')
FROM covered c LEFT JOIN meta m ON m.key = c.meta_key
UNION ALL
SELECT 'flows', contradicted = 0,
       format('of %,d launch links the flows of the trace confirm %,d and contradict %,d; flows alone made %,d',
              linked, confirmed, contradicted, made)
FROM flows;
