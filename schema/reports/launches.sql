-- Launching calls by name. temp.launch_calls: calls that launched a kernel of the selection; without a selection, all
-- launching calls. API: time in the call. Delay: from its return to the start of its first kernel, 0 if the kernel
-- started earlier; Early counts those. Queue: the part of the delay during which the stream of the kernel had nothing
-- else to run.
-- column: time_pct         | Time (%)    | percent | sum
-- column: total_time       | API Total   | ns      | sum
-- column: instances        | Calls       | count   | sum
-- column: avg              | API Avg     | ns      | mean
-- column: med              | API Med     | ns      |
-- column: p99              | API P99     | ns      |
-- column: max              | API Max     | ns      | max
-- column: kernels          | Kernels     | count   | sum
-- column: launching        | With Kernel | count   | sum
-- column: kernels_per_call | Kernels/Call | ratio  |
-- column: delay_avg        | Delay Avg   | ns      |
-- column: delay_med        | Delay Med   | ns      |
-- column: delay_p99        | Delay P99   | ns      |
-- column: started_early    | Early       | count   | sum
-- column: queue_avg        | Queue Avg   | ns      |
-- column: queue_med        | Queue Med   | ns      |
-- column: queue_p99        | Queue P99   | ns      |
-- column: call             | Call        | text    | label
SELECT 100.0 * coalesce(api_total, 0) / nullif(total(api_total) OVER (), 0), coalesce(api_total, 0), coalesce(calls, 0),
       1.0 * api_total / nullif(api_known, 0), api_median, api_p99, api_max, kernels, launching,
       1.0 * kernels / nullif(launching, 0), 1.0 * delay_total / nullif(delays, 0), delay_median, delay_p99,
       started_early, 1.0 * queue_total / nullif(queues, 0), queue_median, queue_p99, call
FROM temp.launch_calls
ORDER BY api_total DESC NULLS LAST, call;
