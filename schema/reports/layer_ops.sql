-- Kernel time of a selection by layer and operation class. temp.layer_ops: one row for each pair that has kernels.
-- column: time_pct   | Time (%)       | percent | sum
-- column: total_time | Total Time     | ns      | sum
-- column: instances  | Instances      | count   | sum
-- column: steps      | Steps          | count   |
-- column: step_time  | Med per Step   | ns      |
-- column: step_busy  | Med Busy       | ns      |
-- column: avg        | Avg            | ns      | mean
-- column: op         | Operation      | text    |
-- column: stack      | Stack          | text    |
-- column: layer      | Layer          | text    | label
SELECT 100.0 * total / nullif(total(total) OVER (), 0), total, n, steps, step_time, step_busy,
       1.0 * total / nullif(known, 0), op, stack, layer
FROM temp.layer_ops
ORDER BY position, total DESC, op;
