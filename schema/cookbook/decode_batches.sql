-- How does the time of a decode step grow with its batch?
-- Periods, and tokens per second of them, are of steps that a decode step follows.
SELECT generation_requests AS batch, count(*) AS steps, median(gpu_span) AS gpu_span_median_ns, count(own) AS periods,
       median(own) AS period_median_ns, round(1e9 * sum(generation_tokens) FILTER (WHERE own IS NOT NULL) / sum(own), 1) AS tokens_per_s
FROM (SELECT *, iif(next_phase = phase, period, NULL) AS own FROM step_figures WHERE phase = 'decode' AND step IS NOT NULL)
GROUP BY 1 ORDER BY 1;
