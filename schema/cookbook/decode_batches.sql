-- How does the time of a decode step grow with its batch?
SELECT generation_requests AS batch, count(*) AS steps, median(gpu_span) AS gpu_span_median_ns, median(iif(next_phase = phase, period, NULL)) AS period_median_ns,
       round(median(tokens_per_s), 1) AS tokens_per_s
FROM step_figures WHERE phase = 'decode' AND step IS NOT NULL GROUP BY 1 ORDER BY 1;
