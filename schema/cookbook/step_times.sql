-- How long do the steps of each phase take, and how much do they vary?
SELECT phase, count(*) AS steps, count(period) AS periods, median(period) AS period_median_ns, percentile(period, 99) AS period_p99_ns,
       round(stddev(period)) AS period_stddev_ns, median(gpu_span) AS gpu_span_median_ns, median(gpu_busy) AS gpu_busy_median_ns
FROM step_figures WHERE step IS NOT NULL GROUP BY phase ORDER BY phase;
