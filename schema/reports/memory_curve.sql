-- Memory over time: a row for each allocation and each free.
-- column: ts        | Time      | ns    | min   | 9 | since the begin of the trace
-- column: device    | Device    | text  |       | 8 | cpu, cuda 0, hip 0, ...
-- column: bytes     | Bytes     | bytes | sum   | 5 | allocated; negative: freed
-- column: allocated | Allocated | bytes | max   | 7 | on the device after it
-- column: reserved  | Reserved  | bytes | max   | 6 | by the allocator after it; empty: not recorded
-- column: operator  | Operator  | text  | label | 4 | innermost operator open then
SELECT ts, device, bytes, allocated, reserved, operator FROM temp.memory_events ORDER BY id;
