-- Steps by kind, and rows for kernels outside of steps. temp.phases: one row for each.
-- column: time_pct       | Time (%)       | percent | sum   | 3 | share of the kernel time
-- column: total_time     | Total Time     | ns      | sum   | 6 | kernel time of the steps
-- column: instances      | Kernels        | count   | sum   | 2 | kernels in them
-- column: steps          | Steps          | count   | sum   | 6 | number of steps
-- column: requests       | Med Requests   |         |       | 2 | median number of requests in a step
-- column: tokens         | Tokens         | count   | sum   | 4 | tokens of all of them
-- column: busy           | Kernel Busy    | ns      |       | 2 | time during which at least one kernel ran, added up over devices; copies are not in it
-- column: busy_share_pct | Busy Share (%) | percent |       |   | busy as a share of the busy time of everything selected
-- column: gpu_span       | Med GPU Span   | ns      |       | 7 | median over steps: from the first kernel, copy or fill to the end of the last on one device
-- column: host           | Med Host       | ns      |       | 3 | median time of the step on the host
-- column: period         | Med Period     | ns      |       | 8 | median time from the start of a step's work on the device to that of the next of its kind
-- column: period_on      | Period On      | text    |       |   | device; host: the steps run nothing on a device, period is host_period
-- column: host_period    | Med Host Period | ns     |       | 1 | median time from the start of the step on the host to that of the next
-- column: launch_lag     | Med Launch Lag | ns      |       | 2 | median time from the start of the step on the host to its first kernel
-- column: tokens_per_s   | Tokens/s       |         |       | 5 | tokens per second of period
-- column: phase          | Phase          | text    | label |   | kind of step; [no step], [launched before the recording]: kernels outside of steps
SELECT 100.0 * total / nullif(total(total) OVER (), 0), total, kernels, steps, requests, tokens, busy,
       100.0 * busy / nullif(all_busy, 0), gpu_span, host, period, period_on, host_period, launch_lag, round(tokens_per_s, 1), phase
FROM temp.phases
ORDER BY phase GLOB '[[]*', total DESC, phase;
