-- Communication by collective. temp.comms: kernels of kinds comm and comm_compute in the selection; one row for
-- each collective, group, type and size, and one for each short name of kernels that the trace does not describe. Times
-- include waiting for other ranks, so bandwidths are lower bounds. Busy: concurrent kernels count once, for the one
-- that started first; Exposed: the part of it during which the device computes nothing. comm_compute: fused with a
-- norm, a GEMM or the like. Bytes: the larger of input and output of one collective. GB/s: 10^9 bytes per second.
-- column: time_pct     | Time (%)    | percent | sum   | 3 | share of the time of all collectives selected
-- column: total_time   | Total Time  | ns      | sum   | 6 | sum of the durations, waiting for other ranks included
-- column: instances    | Instances   | count   | sum   | 4 | number of collectives
-- column: avg          | Avg         | ns      | mean  | 3 | mean duration
-- column: med          | Med         | ns      |       | 2 | median of the durations
-- column: min          | Min         | ns      | min   | 1 | shortest
-- column: max          | Max         | ns      | max   | 1 | longest
-- column: p99          | P99         | ns      |       | 1 | duration that 99 % do not exceed
-- column: busy         | Busy        | ns      | sum   |   | time during which it ran; concurrent kernels count once, for the one that started first
-- column: exposed      | Exposed     | ns      | sum   | 7 | the part of busy during which the device computes nothing
-- column: exposed_pct  | Exposed (%) | percent |       | 2 | exposed as a share of busy
-- column: bytes        | Bytes       | bytes   |       | 3 | of one collective: the larger of input and output
-- column: total_bytes  | Total Bytes | bytes   | sum   |   | of all of them
-- column: alg_gb_per_s | Alg GB/s    | GB/s    |       | 2 | algorithm bandwidth: bytes per duration, 10^9 bytes per second; a lower bound
-- column: bus_gb_per_s | Bus GB/s    | GB/s    |       | 7 | bus bandwidth: what the links carry for it, by the factor of the collective; a lower bound
-- column: ranks        | Ranks       |         |       | 1 | size of the group
-- column: dtype        | Type        | text    |       |   | type of the elements
-- column: group        | Group       | text    |       | 1 | process group
-- column: kind         | Kind        | text    |       |   | comm, or comm_compute: fused with a norm, a GEMM or the like
-- column: name         | Name        | text    | label |   | collective, or short name of a kernel that the trace does not describe
SELECT 100.0 * total / nullif(total(total) OVER (), 0), total, n, 1.0 * total / nullif(known, 0), median, min, max, p99,
       busy, exposed, 100.0 * exposed / nullif(busy, 0), bytes, bytes * n,
       1.0 * bytes * known / nullif(total, 0), factor * bytes * known / nullif(total, 0), group_size, dtype,
       group_name || CASE WHEN group_description NOT IN ('', 'undefined', group_name)
                          THEN ' (' || group_description || ')' ELSE '' END,
       kind,
       coalesce(name, '[no name]')
FROM temp.comms
ORDER BY total DESC, name, group_name, group_description, dtype, bytes, kind;
