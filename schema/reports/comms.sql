-- Communication by collective. temp.comms: kernels of kinds comm and comm_compute in the selection; one row for
-- each collective, group, type and size, and one for each short name of kernels that the trace does not describe. Times
-- include waiting for other ranks, so bandwidths are lower bounds. Busy: concurrent kernels count once, for the one
-- that started first; Exposed: the part of it during which the device computes nothing. comm_compute: fused with a
-- norm, a GEMM or the like. Bytes: the larger of input and output of one collective. GB/s: 10^9 bytes per second.
-- column: time_pct     | Time (%)    | percent | sum | kept
-- column: total_time   | Total Time  | ns      | sum | kept
-- column: instances    | Instances   | count   | sum | kept
-- column: avg          | Avg         | ns      | mean
-- column: med          | Med         | ns      |
-- column: min          | Min         | ns      | min
-- column: max          | Max         | ns      | max
-- column: p99          | P99         | ns      |
-- column: busy         | Busy        | ns      | sum
-- column: exposed      | Exposed     | ns      | sum | kept
-- column: exposed_pct  | Exposed (%) | percent |
-- column: bytes        | Bytes       | bytes   |
-- column: total_bytes  | Total Bytes | bytes   | sum
-- column: alg_gb_per_s | Alg GB/s    | GB/s    |
-- column: bus_gb_per_s | Bus GB/s    | GB/s    | | kept
-- column: ranks        | Ranks       |         |
-- column: dtype        | Type        | text    |
-- column: group        | Group       | text    |
-- column: kind         | Kind        | text    |
-- column: name         | Name        | text    | label
SELECT 100.0 * total / nullif(total(total) OVER (), 0), total, n, 1.0 * total / nullif(known, 0), median, min, max, p99,
       busy, exposed, 100.0 * exposed / nullif(busy, 0), bytes, bytes * n,
       1.0 * bytes * known / nullif(total, 0), factor * bytes * known / nullif(total, 0), group_size, dtype,
       group_name || CASE WHEN group_description NOT IN ('', 'undefined', group_name)
                          THEN ' (' || group_description || ')' ELSE '' END,
       kind,
       coalesce(name, '[no name]')
FROM temp.comms
ORDER BY total DESC, name, group_name, group_description, dtype, bytes, kind;
