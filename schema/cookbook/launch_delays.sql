-- How long do kernels wait between their launch and their start?
-- Small delays mean that the GPU has nothing queued.
SELECT call, calls, kernels, round(api_median) AS call_median, round(delay_median) AS delay_median, delay_p99, started_early
FROM launch_calls ORDER BY kernels DESC, call;
