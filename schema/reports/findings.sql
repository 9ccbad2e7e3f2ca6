-- What stands out in where the time of steps goes, by the limits that TensorBoard recommends by, and in how full the memory is.
-- :beside 1: without what `report` and `compare` say of each kind of steps anyway.
-- command: selection | what stands out: input bound, exposed communication, idle devices, unused tensor cores, full memory | nothing matches the selection that could stand out
-- column: finding    | Finding    | text    | label | 9         | data_loader, exposed_comm, busy, tensor_cores or memory
-- column: share_pct  | Share (%)  | percent |       | 8         | of the regular steps, with the time between where that is a twentieth or more, or where there are none of the time; tensor_cores: of the device time; memory: of the fullest device's, in the whole trace
-- column: limit_pct  | Limit (%)  | percent |       | 3         | beyond it, it stands out; busy: below it
-- column: stands_out | Stands Out | count   | sum   | 8         | 1: it does
-- column: text       | Text       | text    |       | 9 wrapped | in words
WITH
-- The share of the time from the first step to the last that is in none, where all steps between are there.
in_no_step AS MATERIALIZED (
  SELECT 1 - 1.0 * sum(max(0, ts + length - max(ts, coalesce(until, ts)))) / (max(ts + length) - min(ts)) AS share
  FROM (SELECT step, ts, length, max(ts + length) OVER (ORDER BY ts, step ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until
        FROM (SELECT DISTINCT step, ts, length FROM temp.step_breakdown WHERE step IS NOT NULL))
  HAVING count(*) = max(step) - min(step) + 1 AND share >= 0.05),
-- Steps that are not regular (METRICS 10): those at the start of their kind, and elsewhere where they are few.
left_out AS MATERIALIZED (
  SELECT step FROM (
    SELECT step, is_long, sum(is_long) OVER kind < max(2, 0.2 * count(*) OVER kind) AS few,
           min(is_long) OVER (PARTITION BY phase ORDER BY step) AS at_start
    FROM (SELECT *, length > middle + max(0.2 * middle, 5 * 1.4826 * median(abs(length - middle)) OVER (PARTITION BY phase)) AS is_long
          FROM (SELECT *, median(length) OVER (PARTITION BY phase) AS middle
                FROM (SELECT DISTINCT step, phase, length FROM temp.step_breakdown WHERE step IS NOT NULL AND length > 0)))
    WINDOW kind AS (PARTITION BY phase))
  WHERE is_long AND (few OR at_start)),
-- Much of that is judged with the steps: what waits, or works, between them.
rows AS MATERIALIZED (
  SELECT step, device_id, length, computing, exposed_comm, copy, runtime, data_loader, operators FROM temp.step_breakdown
  WHERE NOT EXISTS (SELECT 1 FROM in_no_step) AND (step IS NULL OR step NOT IN (SELECT step FROM left_out))
  UNION ALL SELECT -1, device_id, length, computing, exposed_comm, copy, runtime, data_loader, operators FROM temp.steps_as_one
  WHERE EXISTS (SELECT 1 FROM in_no_step)),
works(device_id, time) AS (SELECT device_id, total(computing + exposed_comm) FROM rows GROUP BY device_id),
times AS (
  SELECT total(length) AS length, total(data_loader) AS loading, total(exposed_comm) AS comm,
         total(computing + exposed_comm + copy) AS busy, total(runtime + operators) AS host,
         CASE WHEN count(step) = 0 THEN 'the time' WHEN min(step) = -1 THEN 'the time from the first step to the last'
              WHEN EXISTS (SELECT 1 FROM left_out) THEN (
                SELECT printf('the time of the regular steps (%d of %d; the others take %.1f %%%% of the time of all)', count(DISTINCT iif(step IN (SELECT step FROM left_out), NULL, step)), count(DISTINCT step), 100.0 * total(iif(step IN (SELECT step FROM left_out), length, 0)) / total(length))
                FROM (SELECT DISTINCT step, length FROM temp.step_breakdown WHERE step IS NOT NULL))
              WHEN count(DISTINCT step) = 1 THEN 'the step' ELSE 'the time of the steps' END AS window
  FROM (SELECT 1 WHERE :beside IS NULL OR EXISTS (SELECT 1 FROM string WHERE value GLOB 'enumerate(Data*'))
  CROSS JOIN rows WHERE device_id IS NULL OR device_id NOT IN (
    SELECT device_id FROM works WHERE device_id IS NOT NULL AND time < 0.05 * (SELECT max(time) FROM works))),
-- Kernels that no rule recognises may communicate.
unrecognised AS (SELECT 100.0 * total(s.total) FILTER (WHERE c.class = 'other') / nullif(total(s.total), 0) AS share
  FROM kernel_name_sum s JOIN temp.kernel_classes c USING (name_id)),
recorded AS (SELECT EXISTS (SELECT 1 FROM kernel) OR EXISTS (SELECT 1 FROM memory_op) AS device,
                    EXISTS (SELECT 1 FROM cpu_op) OR EXISTS (SELECT 1 FROM runtime_call) AS host),
-- Devices with tensor cores have compute capability 7.0 or more. `without`: products whose names say that they do without. `unknown`: whose names do not say whether they use them, nor
-- their classes that they do not.
kernels AS MATERIALIZED (
  SELECT total(k.total_time) AS time, total(iif(k.matrix_units = 'yes', k.total_time, 0)) AS matrix,
         total(iif(k.matrix_units = 'no' AND k.name IN (
           SELECT n.name FROM temp.kernel_classes c JOIN kernel_name n ON n.id = c.name_id
           WHERE c.class GLOB '*gemm*' OR c.class GLOB '*attention*' OR c.class GLOB '*convolution*'), k.total_time, 0)) AS without,
         total(iif(k.matrix_units IS NULL AND k.name NOT IN (
           SELECT n.name FROM temp.kernel_classes c JOIN kernel_name n ON n.id = c.name_id
           WHERE c.class IN ('norm', 'rotary', 'activation', 'softmax', 'embedding', 'elementwise', 'reduce', 'sort', 'copy',
                             'sampling', 'communication', 'optimizer')), k.total_time, 0)) AS unknown
  FROM (SELECT min(CAST(compute_capability AS REAL)) AS least FROM device WHERE used = 1 AND vendor = 'nvidia') d
  CROSS JOIN temp.kernel_launches k WHERE d.least > 6.9),
-- Of the whole trace, whatever is selected. A total that is not recorded is a lower bound.
memory AS (
  SELECT e.device, e.reserved, max(e.allocated) AS allocated,
         100.0 * taken / (SELECT max(d.memory_bytes) FROM device d WHERE d.ordinal = e.device_number) AS share
  FROM (SELECT *, coalesce(reserved, allocated) AS taken, max(coalesce(reserved, allocated)) OVER (PARTITION BY device) AS most
        FROM temp.memory_events WHERE device_number IS NOT NULL AND NOT is_relative) e
  WHERE taken = most GROUP BY e.device ORDER BY share DESC, 1 LIMIT 1),
measured(place, finding, share, bound, called, text) AS (
  SELECT 1, 'data_loader', 100 * loading / length, 5.0, 'input bound: ', '%s %% of ' || window || ' waits for the data loader' FROM times
  WHERE length > 0 AND (SELECT host FROM recorded)
  UNION ALL
  SELECT 2, 'exposed_comm', 100 * comm / length, 10.0, '', iif((SELECT share FROM unrecognised) >= 3, 'at least ', '') || '%s %% of ' || window || ' is communication with no computation beside it'
  FROM times WHERE length > 0 AND :beside IS NULL AND (SELECT device FROM recorded)
  UNION ALL
  SELECT 3, 'busy', 100 * busy / length, 50.0, '',
         'devices are busy for %s %% of ' || window ||
           iif((SELECT host FROM recorded), printf('; for %.1f %%%% of it operators or runtime calls are open instead', iif(host < length, min(100 * host / length, 99.94), 100)), '') ||
           coalesce((SELECT printf('; %.1f %%%% of the time from the first step to the last is in none', 100 * share) FROM in_no_step), '')
  FROM times WHERE length > 0 AND :beside IS NULL AND (SELECT device FROM recorded)
  UNION ALL
  SELECT 4, 'tensor_cores', 100 * min(total(iif(w.matrix = 1, w.busy, 0)) - k.unknown, iif(k.unknown > 0, k.without, 1e300)) / sum(w.busy), 0.0, 'tensor cores unused: ',
         'no kernel''s name shows tensor cores, and ' || iif(k.unknown > 0, 'at least ', '') ||
           '%s %% of the device time is of operators that are matrix products, attention or convolutions'
  FROM kernels k CROSS JOIN temp.operator_work w WHERE k.time > 0 AND k.matrix = 0
  HAVING sum(w.busy) > 0 AND (k.unknown = 0 OR (k.without > 0 AND total(iif(w.matrix = 1, w.busy, 0)) > k.unknown))
  UNION ALL
  SELECT 5, 'memory', share, 90.0, 'nearly full: ', '%s %% of the memory of ' || device || ' is taken at the fullest moment of the trace' ||
    iif(2 * allocated < reserved, printf(', %.1f %%%% of that by the allocator alone, in reserve', 100.0 * (reserved - allocated) / reserved), '') FROM memory WHERE share IS NOT NULL),
judged AS (SELECT *, iif(finding = 'busy', share < bound, share > bound) AS stands_out FROM measured)
SELECT finding, share, bound, stands_out, iif(stands_out, called, '') || printf(text, iif(share > 0 AND share < 0.05, 'under 0.1', printf('%.1f', iif(share < 100, min(share, 99.94), share)))) AS words
FROM judged ORDER BY stands_out DESC, place, words;
