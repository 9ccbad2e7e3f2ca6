-- Which steps are slowest against the usual step of their phase?
-- :top = 20, how many steps
WITH usual AS MATERIALIZED (
  SELECT phase, median(gpu_span) AS gpu_span, median(total_time) AS kernel_time FROM step_figures
  WHERE step IS NOT NULL GROUP BY phase)
SELECT f.step, f.phase, f.gpu_span AS gpu_span_ns, round(1.0 * f.gpu_span / u.gpu_span, 3) AS against_usual, f.total_time AS kernel_time_ns,
       round(1.0 * f.total_time / u.kernel_time, 3) AS kernel_time_against_usual, f.period AS period_ns, f.context_tokens,
       f.generation_tokens
FROM step_figures f JOIN usual u ON u.phase = f.phase
WHERE f.step IS NOT NULL AND f.gpu_span IS NOT NULL ORDER BY against_usual DESC, f.step LIMIT :top;
