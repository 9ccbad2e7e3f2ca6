-- Operators that are one generated kernel each (Triton), by their source and how it was tuned.
-- column: name       | Operator   | text  | label | 9 | name of the operator, which is that of its kernel
-- column: backend    | Backend    | text  |       | 3 | triton
-- column: calls      | Calls      | count | sum   | 8 | of the operator
-- column: kernels    | Kernels    | count | sum   | 5 | that it launches
-- column: total_time | Total Time | ns    | sum   | 9 | of these kernels
-- column: mean       | Mean       | ns    |       | 6 | of a kernel
-- column: warps      | Warps      |       |       | 7 | of each block
-- column: stages     | Stages     |       |       | 6 | of its software pipeline
-- column: tuned      | Tuned As   | text  |       | 4 | arguments that tuning chose: sizes of its blocks
-- column: file       | File       | text  |       | 2 | that has its source
-- column: hash       | Hash       | text  |       | 1 | of its source
WITH
work AS (SELECT cpu_op_id, count(*) AS n, bounded_sum(dur) AS time, count(dur) AS timed FROM kernel GROUP BY cpu_op_id),
sources AS MATERIALIZED (
  SELECT id, detail ->> 'kernel_backend' AS backend, detail ->> 'num_warps' AS warps, detail ->> 'num_stages' AS stages,
         detail ->> 'kernel_kwargs' AS tuned, detail ->> 'kernel_file' AS file, detail ->> 'kernel_hash' AS hash
  FROM op_shape WHERE detail IS NOT NULL)
SELECT t.value, s.backend, count(*), sum(w.n), sum(w.time), 1.0 * sum(w.time) / nullif(sum(w.timed), 0), s.warps, s.stages, s.tuned, s.file, s.hash
FROM sources s JOIN cpu_op o ON o.shape_id = s.id JOIN string t ON t.id = o.name_id LEFT JOIN work w ON w.cpu_op_id = o.id
WHERE s.backend IS NOT NULL OR s.hash IS NOT NULL
GROUP BY 1, 2, 7, 8, 9, 10, 11
ORDER BY sum(w.time) DESC, 1, 7, 8, 9, 10, 11;
