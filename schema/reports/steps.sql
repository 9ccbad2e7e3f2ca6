-- Steps in time order, and rows for kernels outside of steps. temp.step_figures: one row for each; times in ns.
-- :steady: 1: only the steady steps.
-- column: step                | Step        |       |       | 8 | number of the step, from 0 in time order
-- column: phase               | Phase       | text  |       | 7 | kind of step
-- column: context_requests    | Ctx Reqs    | count |       | 1 | requests in prefill
-- column: context_tokens      | Ctx Tokens  | count | sum   | 2 | their tokens
-- column: generation_requests | Gen Reqs    | count |       | 1 | requests in decode
-- column: generation_tokens   | Gen Tokens  | count | sum   | 2 | their tokens
-- column: kernels             | Kernels     | count | sum   | 2 | kernels in the step
-- column: total_time          | Kernel Time | ns    | sum   | 5 | sum of their durations
-- column: gpu_span            | GPU Span    | ns    |       | 7 | from the first kernel, copy or fill to the end of the last
-- column: gpu_busy            | GPU Busy    | ns    |       | 4 | time during which a kernel, copy or fill ran, on the busiest device
-- column: host                | Host        | ns    |       | 4 | time of the step on the host
-- column: period              | Period      | ns    |       | 8 | from the start of the step's work on the device to that of the next step
-- column: period_on           | Period On   | text  |       |   | device; host: steps of this kind run nothing on a device, period is host_period
-- column: next_phase          | Next Phase  | text  |       |   | kind of the step that period leads to
-- column: host_period         | Host Period | ns    |       | 1 | from the start of the step to that of the next on its thread
-- column: launch_lag          | Launch Lag  | ns    |       | 3 | from the start of the step on the host to its first kernel
-- column: tokens_per_s        | Tokens/s    |       |       | 3 | tokens of the step per second of period
-- column: steady              | Steady      | count | sum   |   | 1 in the longest run of full decode batches
-- column: ts                  | Start       | ns    | min   | 1 | start, since the begin of the trace
-- column: name                | Name        | text  | label |   | annotation of the step; [no step], [launched before the recording]: kernels outside of steps
SELECT step, phase, context_requests, context_tokens, generation_requests, generation_tokens, kernels, kernel_time,
       gpu_span, gpu_busy, iif(timed_on = 'cpu', dur, NULL), period, period_on,
       next_phase, host_period, launch_lag, round(tokens_per_s, 1), steady,
       iif(step IS NULL, NULL, coalesce(ts, gpu_start)), coalesce(name, iif(warm_up, '[inferred: warm-up]', '[inferred]'))
FROM temp.step_figures
WHERE steady = 1 OR NOT coalesce(:steady, 0)
ORDER BY step IS NULL, step, name DESC;
