-- In which steps does the GPU wait most?
-- The share of a step's span on the GPU in which nothing runs.
-- :top = 20, how many steps
SELECT step, phase, kernels, gpu_span AS gpu_span_ns, gpu_busy AS gpu_busy_ns, round(100.0 * (gpu_span - gpu_busy) / gpu_span, 2) AS idle_pct, launch_lag AS launch_lag_ns
FROM step_figures WHERE step IS NOT NULL AND gpu_span > 0 ORDER BY idle_pct DESC, step LIMIT :top;
