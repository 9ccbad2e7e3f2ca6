-- How do runs compare: kernels, steps, GPU time, step period?
-- Give any number of indexes, or their folder; in the order of their dates.
WITH kernels AS MATERIALIZED (
  SELECT index_name, count(*) AS n, sum(dur) AS total FROM all_kernels GROUP BY index_name),
steps AS MATERIALIZED (
  SELECT index_name, count(*) AS n, median(period) AS period, median(gpu_span) AS gpu_span FROM all_step_figures
  WHERE step IS NOT NULL GROUP BY index_name)
SELECT i.index_name, i.job, i.rank, i.date, coalesce(k.n, 0) AS kernels, k.total AS kernel_time_ns, coalesce(s.n, 0) AS steps,
       s.period AS period_median_ns, s.gpu_span AS gpu_span_median_ns
FROM (SELECT DISTINCT index_name, job, rank, date FROM all_trace_info) i LEFT JOIN kernels k ON k.index_name = i.index_name
     LEFT JOIN steps s ON s.index_name = i.index_name
ORDER BY i.date, i.index_name;
