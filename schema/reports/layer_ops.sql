-- Kernel time of a selection by layer and operation class. temp.layer_ops: one row for each pair that has kernels.
-- column: time_pct   | Time (%)     | percent | sum   | 4 | share of the kernel time of the selection
-- column: total_time | Total Time   | ns      | sum   | 6 | sum of the durations; concurrent kernels count twice
-- column: instances  | Instances    | count   | sum   | 4 | number of kernels
-- column: steps      | Steps        | count   |       | 2 | steps in which it occurs
-- column: step_time  | Med per Step | ns      |       | 6 | median over steps of the kernel time
-- column: step_busy  | Med Busy     | ns      |       | 3 | median over steps of the busy time
-- column: avg        | Avg          | ns      | mean  | 3 | mean duration
-- column: op         | Operation    | text    |       | 7 | operation class under the active rules
-- column: stack      | Stack        | text    |       | 4 | stack of layers, where the model has several
-- column: layer      | Layer        | text    | label |   | layer; [head] and [tail] around the layers, [no layer]
SELECT 100.0 * total / nullif(total(total) OVER (), 0), total, n, steps, step_time, step_busy,
       1.0 * total / nullif(known, 0), op, stack, layer
FROM temp.layer_ops
ORDER BY position, total DESC, op;
