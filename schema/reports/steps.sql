-- Steps in time order, and a row for kernels outside of steps. temp.step_figures: one row for each; times in ns.
-- :steady: 1: only the steady steps.
-- column: step                | Step        |       |
-- column: phase               | Phase       | text  |
-- column: context_requests    | Ctx Reqs    | count |
-- column: context_tokens      | Ctx Tokens  | count | sum
-- column: generation_requests | Gen Reqs    | count |
-- column: generation_tokens   | Gen Tokens  | count | sum
-- column: kernels             | Kernels     | count | sum
-- column: total_time          | Kernel Time | ns    | sum | kept
-- column: gpu_span            | GPU Span    | ns    | | kept
-- column: gpu_busy            | GPU Busy    | ns    |
-- column: host                | Host        | ns    |
-- column: period              | Period      | ns    | | kept
-- column: launch_lag          | Launch Lag  | ns    |
-- column: tokens_per_s        | Tokens/s    |       |
-- column: steady              | Steady      | count | sum
-- column: ts                  | Start       | ns    | min
-- column: name                | Name        | text  | label
SELECT step, phase, context_requests, context_tokens, generation_requests, generation_tokens, kernels, kernel_time,
       gpu_span, gpu_busy, iif(timed_on = 'cpu', dur, NULL), period, launch_lag, round(tokens_per_s, 1), steady,
       iif(step IS NULL, NULL, coalesce(ts, gpu_start)), iif(step IS NULL, '[no step]', coalesce(name, '[inferred]'))
FROM temp.step_figures
WHERE steady = 1 OR NOT coalesce(:steady, 0)
ORDER BY step IS NULL, step;
