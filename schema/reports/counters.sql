-- What hardware counters counted, by kernel, the operators around its launch, and metric. A range names no launch: ranges and
-- launches belong together in their order, and only where the trace has as many of one as of the other.
-- column: kernel   | Kernel    | text  | label | 9 | name of the range; __missing__: the profiler lost it
-- column: operator | Operators | text  |       | 6 | around the launch, the outermost first; [none]: no operator, or not known which launch
-- column: metric   | Metric    | text  |       | 8 | as in the trace; vector_flops: FLOPs of the vector units, not of matrix units: additions, products and twice the fused ones, of each of 64, 32 and 16 bits of which all three were counted
-- column: ranges   | Ranges    | count |       | 7 | with a value
-- column: value    | Sum       |       |       | 9 | over the ranges; of shares and rates it says nothing
-- column: mean     | Mean      |       |       | 5 | over the ranges
WITH RECURSIVE
samples AS MATERIALIZED (
  SELECT name_id, series_id, value, sum(1 - continued) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS place FROM counter
  WHERE category_id = (SELECT id FROM string WHERE value = 'cuda_profiler_range')),
launches AS MATERIALIZED (
  SELECT cpu_op_id AS op, row_number() OVER (ORDER BY id) AS place FROM runtime_call
  WHERE kind = 'launch' AND (SELECT max(place) FROM samples) = (SELECT count(*) FROM runtime_call WHERE kind = 'launch')),
measured AS MATERIALIZED (
  SELECT s.place, t.value AS kernel, l.op, m.value AS metric, s.value
  FROM samples s JOIN string m ON m.id = s.series_id LEFT JOIN string t ON t.id = s.name_id LEFT JOIN launches l ON l.place = s.place
  WHERE s.value IS NOT NULL),
paths(op, outer_op, path) AS (
  SELECT o.id, o.parent_id, t.value FROM cpu_op o JOIN string t ON t.id = o.name_id WHERE o.id IN (SELECT op FROM measured)
  UNION ALL
  SELECT p.op, o.parent_id, t.value || ' > ' || p.path
  FROM paths p JOIN cpu_op o ON o.id = p.outer_op JOIN string t ON t.id = o.name_id WHERE length(p.path) < 10000),
whole_paths AS MATERIALIZED (SELECT op, path FROM (SELECT op, path, max(length(path)) FROM paths GROUP BY op)),
-- Of those widths of which all three were counted: "...op_ffma_pred_on.sum" has its width at 36, its kind behind.
flops AS (
  SELECT place, kernel, op, sum(value * iif(substr(metric, 37, 3) = 'fma', 2, 1)) AS value FROM measured
  WHERE metric GLOB 'smsp__sass_thread_inst_executed_op_[dfh]*_pred_on.sum' AND substr(metric, 37) IN ('add_pred_on.sum', 'mul_pred_on.sum', 'fma_pred_on.sum')
  GROUP BY place, substr(metric, 36, 1) HAVING count(DISTINCT metric) = 3),
figures AS (
  SELECT place, kernel, op, metric, value FROM measured
  UNION ALL SELECT place, kernel, op, 'vector_flops', sum(value) FROM flops GROUP BY place),
-- By itself, so that paths are searched and not scanned.
placed AS MATERIALIZED (
  SELECT f.place, iif(:by = 'operator', '[all]', coalesce(f.kernel, '')) AS kernel, coalesce(w.path, '[none]') AS path, f.metric, f.value
  FROM figures f LEFT JOIN whole_paths w ON w.op = f.op)
SELECT kernel, path, metric, count(DISTINCT place), sum(value), avg(value) FROM placed
GROUP BY 1, 2, 3 ORDER BY metric = 'vector_flops' DESC, sum(value) DESC, metric, 1, 2;
