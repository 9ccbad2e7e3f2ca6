-- For trace-query sql: the rows of one trace in kernel_rollup, in the order of its columns.
SELECT
  :night AS night, :job AS job, :trace_id AS trace_id, :rank AS rank, :gpu AS gpu, :model AS model,
  name, op, coalesce(phase, '\N') AS phase, coalesce(stack, '\N') AS stack, coalesce(layer, '\N') AS layer,
  count(dur) AS n, count(*) - count(dur) AS untimed, coalesce(sum(dur), 0) AS sum_ns,
  coalesce(min(dur), '\N') AS min_ns, coalesce(max(dur), '\N') AS max_ns,
  coalesce(CAST(round(median(dur)) AS INTEGER), '\N') AS p50_ns,
  coalesce(CAST(round(percentile(dur, 95)) AS INTEGER), '\N') AS p95_ns
FROM kernels
GROUP BY name, op, phase, stack, layer
