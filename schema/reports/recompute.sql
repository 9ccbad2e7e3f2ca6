-- Kernels of the forward pass that the backward pass repeats because its results were not kept (activation checkpointing), by operator: what
-- Python runs below recompute_fn of torch/utils/checkpoint.py; where the trace has no such frame, what runs within the
-- evaluation of CheckpointFunctionBackward, but not within the evaluation of another function.
-- column: operator    | Operator    | text    | label | 9 | that launches it; [none]: none is known
-- column: calls       | Calls       | count   | sum   | 8 | of the operator
-- column: kernels     | Kernels     | count   | sum   | 6 | that they launch
-- column: busy        | Busy        | ns      |       | 9 | time in which at least one of them runs, added up over devices
-- column: share_pct   | Share (%)   | percent |       | 8 | of the time in which kernels of the backward pass run, these among them
-- column: forward     | Forward     | ns      |       | 7 | time in which kernels of the same operator run in the forward pass
-- column: found_by    | Found By    | text    |       | 5 | frames or autograd
WITH RECURSIVE
below(id) AS (
  SELECT s.id FROM stack s JOIN frame f ON f.id = s.frame_id JOIN string p ON p.id = f.file_id
  WHERE f.function = 'recompute_fn' AND p.value GLOB '*torch/utils/checkpoint.py'
  UNION
  SELECT s.id FROM below b JOIN stack s ON s.parent_id = b.id),
by_frames AS MATERIALIZED (
  SELECT k.id, k.ts, k.dur, k.cpu_op_id, k.stream_id
  FROM (SELECT 1 FROM below LIMIT 1) CROSS JOIN kernel k WHERE k.stack_id IN (SELECT id FROM below)),
within(id) AS (
  SELECT o.id FROM string t CROSS JOIN cpu_op o ON o.name_id = t.id
  WHERE t.value GLOB '*evaluate_function: CheckpointFunctionBackward' AND NOT EXISTS (SELECT 1 FROM by_frames)
  UNION
  SELECT o.id FROM within w JOIN cpu_op o ON o.parent_id = w.id JOIN string t ON t.id = o.name_id
  WHERE t.value NOT GLOB '*evaluate_function: *'),
repeated AS MATERIALIZED (
  SELECT *, 'frames' AS found_by FROM by_frames
  UNION ALL
  SELECT k.id, k.ts, k.dur, k.cpu_op_id, k.stream_id, 'autograd'
  FROM (SELECT 1 FROM within LIMIT 1) CROSS JOIN kernel k WHERE k.cpu_op_id IN (SELECT id FROM within)),
backward AS (
  SELECT sum(busy) AS busy FROM (
    SELECT busy_ns(k.ts, k.dur) AS busy FROM (SELECT 1 FROM repeated LIMIT 1) CROSS JOIN kernel k JOIN stream s ON s.id = k.stream_id
    WHERE k.pass = 'backward' OR k.id IN (SELECT id FROM repeated) GROUP BY s.device_id)),
by_device AS MATERIALIZED (
  SELECT o.name_id, busy_ns(r.ts, r.dur) AS busy
  FROM repeated r JOIN stream s ON s.id = r.stream_id LEFT JOIN cpu_op o ON o.id = r.cpu_op_id GROUP BY o.name_id, s.device_id),
sums AS MATERIALIZED (
  SELECT o.name_id, count(DISTINCT r.cpu_op_id) AS calls, count(*) AS kernels, min(r.found_by) AS found_by,
         (SELECT sum(b.busy) FROM by_device b WHERE b.name_id IS o.name_id) AS busy
  FROM repeated r LEFT JOIN cpu_op o ON o.id = r.cpu_op_id GROUP BY o.name_id),
first AS MATERIALIZED (
  SELECT name_id, sum(busy) AS busy FROM (
    SELECT o.name_id, busy_ns(k.ts, k.dur) AS busy FROM (SELECT 1 FROM repeated LIMIT 1) CROSS JOIN kernel k
    JOIN cpu_op o ON o.id = k.cpu_op_id JOIN stream s ON s.id = k.stream_id
    WHERE o.name_id IN (SELECT name_id FROM sums) AND k.pass = 'forward' AND k.id NOT IN (SELECT id FROM repeated)
    GROUP BY o.name_id, s.device_id)
  GROUP BY name_id)
SELECT coalesce(t.value, '[none]') AS operator, s.calls, s.kernels, s.busy, 100.0 * s.busy / nullif(b.busy, 0), f.busy, s.found_by
FROM sums s CROSS JOIN backward b LEFT JOIN first f ON f.name_id = s.name_id LEFT JOIN string t ON t.id = s.name_id
ORDER BY s.busy DESC, operator;
