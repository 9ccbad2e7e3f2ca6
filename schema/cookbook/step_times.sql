-- How long do the steps of each phase take, and how much do they vary?
-- Periods are those of steps that one of the same phase follows.
SELECT phase, count(*) AS steps, count(own) AS periods, median(own) AS period_median_ns, percentile(own, 99) AS period_p99_ns,
       round(stddev(own)) AS period_stddev_ns, median(gpu_span) AS gpu_span_median_ns, median(gpu_busy) AS gpu_busy_median_ns
FROM (SELECT *, iif(next_phase = phase, period, NULL) AS own FROM step_figures WHERE step IS NOT NULL) GROUP BY phase ORDER BY phase;
