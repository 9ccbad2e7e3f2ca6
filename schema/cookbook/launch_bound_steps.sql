-- In which steps does the GPU wait most?
-- The share of a step's period in which nothing runs; of its span where no step follows.
-- :top = 20, how many steps
SELECT step, phase, kernels, period AS period_ns, gpu_span AS gpu_span_ns, gpu_busy AS gpu_busy_ns,
       round(max(0, 100.0 * (time - gpu_busy) / time), 2) AS idle_pct, launch_lag AS launch_lag_ns
FROM (SELECT *, coalesce(iif(period_on = 'device', period, NULL), gpu_span) AS time FROM step_figures WHERE step IS NOT NULL)
WHERE time > 0 ORDER BY idle_pct DESC, step LIMIT :top;
