-- Questions an index answers with plain SQL. Each line that begins with "-- " says what the statement below it tells;
-- all of them run in the stock sqlite3 shell, in Python's sqlite3 and in trace-query sql.

-- The ten kernels that take the most time.
SELECT name, n, total / 1e6 AS total_ms, round(time_pct, 2) AS time_pct FROM kernel_stats ORDER BY total DESC LIMIT 10;

-- The ten longest single kernel executions, with what launched them.
SELECT id, short_name, dur_us, device, stream, step, cpu_op FROM kernels ORDER BY dur DESC LIMIT 10;

-- Kernel time by phase of the workload; NULL: outside every step.
SELECT phase, count(*) AS kernels, sum(dur) / 1e6 AS total_ms FROM kernels GROUP BY phase ORDER BY total_ms DESC;

-- Kernel time by operator.
SELECT cpu_op, count(*) AS kernels, sum(dur) / 1e6 AS total_ms FROM kernels GROUP BY cpu_op ORDER BY total_ms DESC LIMIT 20;

-- Steps: tokens, time on the host and on the device.
SELECT step, phase, context_tokens, generation_tokens, dur_us, kernels, (gpu_ts_end - gpu_ts) / 1e3 AS gpu_us
FROM steps ORDER BY step LIMIT 20;

-- Copies by direction, with the bandwidth reached.
SELECT kind, direction, count(*) AS n, sum(bytes) AS bytes, sum(dur) / 1e3 AS total_us,
       round(sum(bytes) / sum(bytes / gb_per_s), 3) AS gb_per_s
FROM memcpys WHERE gb_per_s > 0 GROUP BY kind, direction ORDER BY total_us DESC;

-- How long kernels wait between the return of their launch and their start, by runtime call.
SELECT call, count(*) AS launches, avg(queue_delay) / 1e3 AS avg_us, max(queue_delay) / 1e3 AS max_us
FROM launches WHERE queue_delay IS NOT NULL GROUP BY call ORDER BY launches DESC;

-- The longest times a device stood idle, and the kernel that ended each.
SELECT device, ts, dur_us, next_kernel FROM gaps ORDER BY dur DESC LIMIT 10;

-- Idle time of each device.
SELECT device, count(*) AS gaps, sum(dur) / 1e6 AS idle_ms FROM gaps GROUP BY device ORDER BY device;

-- The python call paths whose kernels take the most time (the folded form that flame graph tools read).
SELECT s.path, sum(k.dur) AS total FROM kernel k JOIN stacks s ON s.id = k.stack_id
GROUP BY k.stack_id ORDER BY total DESC LIMIT 10;

-- Operators that take the most time on the CPU, children included.
SELECT name, count(*) AS n, sum(dur) / 1e6 AS total_ms FROM cpu_ops GROUP BY name ORDER BY total_ms DESC LIMIT 20;

-- Communication: time by collective and group.
SELECT name, group_name, dtype, count(*) AS n, sum(dur) / 1e6 AS total_ms
FROM collectives GROUP BY name, group_name, dtype ORDER BY total_ms DESC;

-- Launch configurations of the longest-running kernel name.
SELECT grid, block, registers, shared_memory, count(*) AS n, avg(dur_us) AS avg_us FROM kernels
WHERE name = (SELECT name FROM kernel_stats ORDER BY total DESC LIMIT 1) GROUP BY grid, block, registers, shared_memory
ORDER BY n DESC LIMIT 20;

-- What the trace is and how it was ingested.
SELECT key, value FROM trace_info WHERE key NOT LIKE 'trace.%' ORDER BY key;

-- Events of the trace that have no row of their own, and why.
SELECT category, ph, skip_reason, skipped FROM event_count WHERE skipped > 0 ORDER BY skipped DESC;

-- What was wrong with the trace.
SELECT severity, kind, count, sample FROM issues;
