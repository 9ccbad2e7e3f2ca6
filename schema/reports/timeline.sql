-- How the time of each device is spent. temp.timeline: its figures; gaps below micro_idle_limit are micro idle. Span:
-- from the first start to the last end. Exactly: computation + exposed_comm + exposed_copy + idle = span, and host_wait
-- + kernel_wait + graph_gap + other_wait + unknown_wait = idle. Rows mean, min and max are over all devices. Fused
-- Comm: the part of Comm during which kernels of kind comm_compute ran, a collective and a norm or GEMM in one. Between
-- Steps: the part of Idle in gaps whose neighbours are not of one step. Host: where it was for most of Idle.
-- column: device           | Device          |         | label | 9 | device number; mean, min and max are over all devices
-- column: stream           | Stream          |         |       | 8 | stream number, with --per-stream
-- column: span             | Span            | ns      | sum   | 6 | from the first start to the last end of its work
-- column: busy             | Busy            | ns      | sum   | 4 | time during which at least one event ran
-- column: utilization_pct  | Utilization (%) | percent |       | 7 | busy as a share of span
-- column: idle             | Idle            | ns      | sum   | 8 | span - busy
-- column: computation      | Computation     | ns      | sum   | 6 | time during which a kernel computed
-- column: exposed_comm     | Exposed Comm    | ns      | sum   | 9 | communication during which nothing computed
-- column: exposed_copy     | Exposed Copy    | ns      | sum   | 5 | copies during which nothing computed or communicated
-- column: comm             | Comm            | ns      | sum   | 3 | time during which a kernel communicated
-- column: fused_comm       | Fused Comm      | ns      | sum   | 1 | the part of it in kernels that also compute
-- column: overlap_pct      | Overlap (%)     | percent |       | 3 | share of the communication during which something computed
-- column: copy             | Copy            | ns      | sum   | 2 | time during which a copy ran
-- column: host_wait        | Host Wait       | ns      | sum   | 8 | idle because the next work was launched late
-- column: kernel_wait      | Kernel Wait     | ns      | sum   | 7 | idle briefly before work that was already launched
-- column: graph_gap        | Graph Gap       | ns      | sum   | 5 | idle between the kernels of one graph launch
-- column: other_wait       | Other Wait      | ns      | sum   | 5 | idle before launched work, for longer
-- column: unknown_wait     | Unknown Wait    | ns      | sum   | 4 | idle before work whose launch is not known
-- column: between_steps    | Between Steps   | ns      | sum   | 6 | idle in gaps whose neighbours are not of one step, whatever the cause
-- column: host             | Host            | text    |       | 7 | where the launching thread was for most of the idle time
-- column: host_pct         | Host (%)        | percent |       | 5 | share of the idle time it was there
-- column: python_calls     | Python Calls    | count   | sum   | 1 | recorded Python calls that start while the device is idle
-- column: gaps             | Gaps            | count   | sum   | 2 | number of idle times
-- column: micro_idle       | Micro Idle      | ns      | sum   | 2 | idle in gaps below the limit
-- column: macro_idle       | Macro Idle      | ns      | sum   | 2 | idle in longer gaps
-- column: micro_idle_limit | Micro Below     | ns      |       |   | that limit (--micro-idle)
-- column: unselected       | Unselected Work | ns      | sum   | 1 | the part of idle during which work ran that was not selected
-- column: kernels          | Kernels         | count   | sum   | 2 | kernels that ran
-- column: memory_ops       | Copies          | count   | sum   | 1 | copies and fills that ran
-- column: begin            | Begin           | ns      | min   | 1 | start of the first work, since the begin of the trace
SELECT coalesce(d.ordinal, d.name, 'unknown'), s.number, t.span, t.busy, 100.0 * t.busy / nullif(t.span, 0), t.idle,
       t.computation, t.exposed_comm, t.exposed_copy, t.comm, t.fused_comm, 100.0 * (t.comm - t.exposed_comm) / nullif(t.comm, 0),
       t.copy, t.host_wait, t.kernel_wait, t.graph_gap, t.other, t.unknown, t.between_steps, t.host,
       100.0 * t.host_time / nullif(t.idle, 0), t.python_calls, t.gaps, t.micro_idle, t.macro_idle,
       t.micro_idle_limit, t.unselected, t.kernels, t.memory_ops, t.begin
FROM temp.timeline t LEFT JOIN device d ON d.id = t.device_id LEFT JOIN stream s ON s.id = t.stream_id
ORDER BY d.ordinal, t.device_id, t.stream_id;
