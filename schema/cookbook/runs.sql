-- How do runs compare: kernels, steps, GPU time, step period?
-- Give any number of indexes, or their folder; in the order of their dates. Steps are those of the phase with most kernel time.
WITH kernels AS MATERIALIZED (
  SELECT index_name, count(*) AS n, sum(dur) AS total FROM all_kernels GROUP BY index_name),
phases AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY index_name ORDER BY total DESC, phase) AS place FROM all_phases WHERE steps > 0)
SELECT i.index_name, i.job, i.rank, i.date, coalesce(k.n, 0) AS kernels, k.total AS kernel_time_ns, p.phase,
       coalesce(p.steps, 0) AS steps, p.period AS period_median_ns, p.gpu_span AS gpu_span_median_ns
FROM (SELECT DISTINCT index_name, job, rank, date FROM all_trace_info) i LEFT JOIN kernels k ON k.index_name = i.index_name
     LEFT JOIN phases p ON p.index_name = i.index_name AND p.place = 1
ORDER BY i.date, i.index_name;
