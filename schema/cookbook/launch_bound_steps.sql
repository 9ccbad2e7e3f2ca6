-- In which steps does the GPU wait most?
-- The share of a step's period in which none of its work runs; a step that no other follows has none, and is not here.
-- :top = 20, how many steps
SELECT step, phase, kernels, period AS period_ns, gpu_span AS gpu_span_ns, gpu_busy AS gpu_busy_ns,
       round(max(0, 100.0 * (period - gpu_busy) / period), 2) AS idle_pct, launch_lag AS launch_lag_ns
FROM step_figures
WHERE step IS NOT NULL AND period_on = 'device' AND period > 0 ORDER BY idle_pct DESC, step LIMIT :top;
