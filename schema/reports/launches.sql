-- Launching calls by name. temp.launch_calls: calls that launched a kernel of the selection; without a selection, all
-- launching calls. API: time in the call. Delay: from its return to the start of its first kernel, 0 if the kernel
-- started earlier; Early counts those. Queue: the part of the delay during which the stream of the kernel had nothing
-- else to run.
-- column: time_pct         | Time (%)     | percent | sum   | 3 | share of the time in launching calls
-- column: total_time       | API Total    | ns      | sum   | 5 | time in the calls
-- column: instances        | Calls        | count   | sum   | 4 | number of calls
-- column: avg              | API Avg      | ns      | mean  | 3 | mean time in a call
-- column: med              | API Med      | ns      |       | 2 | median of that time
-- column: p99              | API P99      | ns      |       |   | time that 99 % of the calls do not exceed
-- column: max              | API Max      | ns      | max   | 1 | longest call
-- column: kernels          | Kernels      | count   | sum   | 3 | kernels that they launched
-- column: launching        | With Kernel  | count   | sum   |   | calls that launched a kernel of the selection
-- column: kernels_per_call | Kernels/Call | ratio   |       | 1 | kernels per call with a kernel
-- column: delay_avg        | Delay Avg    | ns      |       | 4 | mean time from the return of the call to the start of its first kernel, 0 if that started earlier
-- column: delay_med        | Delay Med    | ns      |       | 7 | median of that delay
-- column: delay_p99        | Delay P99    | ns      |       | 2 | delay that 99 % do not exceed
-- column: started_early    | Early        | count   | sum   |   | calls whose kernel started before they returned
-- column: queue_avg        | Queue Avg    | ns      |       | 2 | mean part of the delay during which the kernel's stream had nothing else to run
-- column: queue_med        | Queue Med    | ns      |       | 6 | median of that part
-- column: queue_p99        | Queue P99    | ns      |       | 1 | part that 99 % do not exceed
-- column: call             | Call         | text    | label |   | runtime call
SELECT 100.0 * coalesce(api_total, 0) / nullif(total(api_total) OVER (), 0), coalesce(api_total, 0), coalesce(calls, 0),
       1.0 * api_total / nullif(api_known, 0), api_median, api_p99, api_max, kernels, launching,
       1.0 * kernels / nullif(launching, 0), 1.0 * delay_total / nullif(delays, 0), delay_median, delay_p99,
       started_early, 1.0 * queue_total / nullif(queues, 0), queue_median, queue_p99, call
FROM temp.launch_calls
ORDER BY api_total DESC NULLS LAST, call;
