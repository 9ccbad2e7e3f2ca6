-- How the time of each device is spent. temp.timeline: its figures; gaps below micro_idle_limit are micro idle. Span:
-- from the first start to the last end. Exactly: computation + exposed_comm + exposed_copy + idle = span, and host_wait
-- + kernel_wait + graph_gap + other_wait + unknown_wait = idle. Rows mean, min and max are over all devices. Fused
-- Comm: the part of Comm during which kernels of kind comm_compute ran, a collective and a norm or GEMM in one.
-- column: device           | Device          |         | label
-- column: stream           | Stream          |         |
-- column: span             | Span            | ns      | sum
-- column: busy             | Busy            | ns      | sum
-- column: utilization_pct  | Utilization (%) | percent |
-- column: idle             | Idle            | ns      | sum
-- column: computation      | Computation     | ns      | sum
-- column: exposed_comm     | Exposed Comm    | ns      | sum
-- column: exposed_copy     | Exposed Copy    | ns      | sum
-- column: comm             | Comm            | ns      | sum
-- column: fused_comm       | Fused Comm      | ns      | sum
-- column: overlap_pct      | Overlap (%)     | percent |
-- column: copy             | Copy            | ns      | sum
-- column: host_wait        | Host Wait       | ns      | sum
-- column: kernel_wait      | Kernel Wait     | ns      | sum
-- column: graph_gap        | Graph Gap       | ns      | sum
-- column: other_wait       | Other Wait      | ns      | sum
-- column: unknown_wait     | Unknown Wait    | ns      | sum
-- column: gaps             | Gaps            | count   | sum
-- column: micro_idle       | Micro Idle      | ns      | sum
-- column: macro_idle       | Macro Idle      | ns      | sum
-- column: micro_idle_limit | Micro Below     | ns      |
-- column: unselected       | Unselected Work | ns      | sum
-- column: kernels          | Kernels         | count   | sum
-- column: memory_ops       | Copies          | count   | sum
-- column: begin            | Begin           | ns      | min
SELECT coalesce(d.ordinal, d.name, 'unknown'), s.number, t.span, t.busy, 100.0 * t.busy / nullif(t.span, 0), t.idle,
       t.computation, t.exposed_comm, t.exposed_copy, t.comm, t.fused_comm, 100.0 * (t.comm - t.exposed_comm) / nullif(t.comm, 0),
       t.copy, t.host_wait, t.kernel_wait, t.graph_gap, t.other, t.unknown, t.gaps, t.micro_idle, t.macro_idle,
       t.micro_idle_limit, t.unselected, t.kernels, t.memory_ops, t.begin
FROM temp.timeline t LEFT JOIN device d ON d.id = t.device_id LEFT JOIN stream s ON s.id = t.stream_id
ORDER BY d.ordinal, t.device_id, t.stream_id;
