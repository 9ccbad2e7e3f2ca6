-- How long do kernels wait between their launch and their start?
-- Small delays mean that the GPU has nothing queued.
SELECT call, calls, kernels, round(api_median) AS call_median_ns, round(delay_median) AS delay_median_ns, delay_p99 AS delay_p99_ns, started_early
FROM launch_calls ORDER BY kernels DESC, call;
