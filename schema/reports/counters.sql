-- What hardware counters counted, by kernel, the operators around its launch, and metric. A range names no launch: ranges and
-- launches belong together in their order, and only where the trace has as many of one as of the other.
-- column: kernel   | Kernel    | text  | label | 9 | name of the range; __missing__: the profiler lost it
-- column: operator | Operators | text  |       | 6 | around the launch, the outermost first; [none]: no operator, or not known which launch
-- column: metric   | Metric    | text  |       | 8 | as in the trace; vector_flops: FLOPs of the vector units, not of matrix units: additions, products and twice the fused ones, of 64, 32 and 16 bits
-- column: ranges   | Ranges    | count | sum   | 7 | with a value
-- column: value    | Sum       |       |       | 9 | over the ranges; of shares and rates it says nothing
-- column: mean     | Mean      |       |       | 5 | over the ranges
WITH RECURSIVE
category AS (SELECT id FROM string WHERE value = 'cuda_profiler_range'),
ranges AS MATERIALIZED (
  SELECT s.id, s.ts, s.name_id, row_number() OVER (ORDER BY s.id) AS place, count(*) OVER () AS n,
         row_number() OVER (PARTITION BY s.ts, s.name_id ORDER BY s.id) AS twin
  FROM slice s JOIN category c ON c.id = s.category_id),
samples AS (
  SELECT r.id, r.ts, r.name_id, r.series_id, r.value, sum(1 - r.continued) OVER (ORDER BY r.id) AS event
  FROM counter r JOIN category c ON c.id = r.category_id),
counted AS MATERIALIZED (
  SELECT *, dense_rank() OVER (PARTITION BY ts, name_id ORDER BY event) AS twin FROM samples),
launches AS MATERIALIZED (
  SELECT cpu_op_id, row_number() OVER (ORDER BY id) AS place, count(*) OVER () AS n FROM runtime_call WHERE kind = 'launch'),
measured AS MATERIALIZED (
  SELECT r.place, t.value AS kernel, l.cpu_op_id AS op, m.value AS metric, c.value AS value
  FROM ranges r
  JOIN counted c ON c.ts = r.ts AND c.name_id = r.name_id AND c.twin = r.twin
  JOIN string m ON m.id = c.series_id
  LEFT JOIN string t ON t.id = r.name_id
  LEFT JOIN launches l ON l.place = r.place AND l.n = r.n
  WHERE c.value IS NOT NULL),
paths(op, outer_op, path) AS (
  SELECT o.id, o.parent_id, t.value FROM cpu_op o JOIN string t ON t.id = o.name_id WHERE o.id IN (SELECT op FROM measured)
  UNION ALL
  SELECT p.op, o.parent_id, t.value || ' > ' || p.path
  FROM paths p JOIN cpu_op o ON o.id = p.outer_op JOIN string t ON t.id = o.name_id WHERE length(p.path) < 10000),
whole_paths AS MATERIALIZED (SELECT op, path FROM (SELECT op, path, length(path) AS n, max(length(path)) FROM paths GROUP BY op)),
figures AS (
  SELECT place, kernel, op, metric, value FROM measured
  UNION ALL
  SELECT place, kernel, op, 'vector_flops', sum(value * iif(metric GLOB '*fma_pred_on.sum', 2, 1)) FROM measured
  WHERE metric GLOB 'smsp__sass_thread_inst_executed_op_[dfh]add_pred_on.sum' OR metric GLOB 'smsp__sass_thread_inst_executed_op_[dfh]mul_pred_on.sum'
     OR metric GLOB 'smsp__sass_thread_inst_executed_op_[dfh]fma_pred_on.sum'
  GROUP BY place)
SELECT iif(:by = 'operator', '[all]', coalesce(kernel, '')) AS kernel, coalesce(w.path, '[none]') AS operator, metric,
       count(*), sum(value), avg(value)
FROM figures f LEFT JOIN whole_paths w ON w.op = f.op
GROUP BY 1, 2, 3 ORDER BY metric = 'vector_flops' DESC, sum(value) DESC, metric, 1, 2;
