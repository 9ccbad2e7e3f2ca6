-- The words for ad-hoc questions: every view of an index. Within a schema version columns are only ever added.
--
-- Conventions are those of the tables: ts and dur in integer nanoseconds, ts from meta.base_time_ns, NULL = unknown.
-- Columns that cost something (in kernels all but the kernel's own) are scalar subqueries: a query that does not name
-- them does not pay for them. Only functions of the plain SQLite library are used, so any client can read every view.

CREATE VIEW kernels AS               -- one row per kernel execution, with names in place of ids
SELECT
  k.id AS id,                        -- time order
  n.name AS name,                    -- as in the trace
  n.short_name AS short_name,        -- demangled, template and argument lists cut
  k.ts AS ts,
  k.ts + k.dur AS ts_end,
  k.dur AS dur,
  k.dur / 1000.0 AS dur_us,          -- dur in microseconds
  (SELECT d.ordinal FROM stream s JOIN device d ON d.id = s.device_id WHERE s.id = k.stream_id)
    AS device,                       -- device number
  (SELECT s.number FROM stream s WHERE s.id = k.stream_id)
    AS stream,                       -- stream number
  (SELECT st.sequence FROM step st WHERE st.id = k.step_id)
    AS step,                         -- number of the step: 0, 1, 2 ...; NULL: in no step
  (SELECT st.kind FROM step st WHERE st.id = k.step_id)
    AS phase,                        -- kind of the step: prefill, decode, mixed, train, other, unknown
  k.kind AS kind,                    -- compute, comm, copy_kernel, comm_compute
  k.pass AS pass,                    -- of training: forward, backward, optimizer; NULL: no launch is known, or no training
  (SELECT o.value FROM cpu_op c JOIN string o ON o.id = c.name_id WHERE c.id = k.cpu_op_id)
    AS cpu_op,                       -- name of the operator that launched it: by External id, else the innermost around the launch
  (WITH RECURSIVE up(parent_id, frame_id) AS (
     SELECT a.parent_id, a.frame_id FROM stack a WHERE a.id = k.stack_id
     UNION ALL SELECT b.parent_id, b.frame_id FROM up JOIN stack b ON b.id = up.parent_id)
   SELECT substr(m.value, 12) FROM up JOIN frame f ON f.id = up.frame_id JOIN string m ON m.id = f.name_id
   WHERE m.value GLOB 'nn.Module: *' LIMIT 1)
    AS module,                       -- innermost nn.Module frame in the python stack of the launch, e.g. Linear_3
  (SELECT t.value FROM annotation a JOIN string t ON t.id = a.name_id WHERE a.id = k.annotation_id)
    AS annotation,                   -- innermost user annotation around the launch
  k.correlation AS correlation,      -- as in the trace
  (SELECT l.grid_x || ',' || l.grid_y || ',' || l.grid_z FROM launch_config l WHERE l.id = k.launch_config_id)
    AS grid,                         -- blocks, "x,y,z"
  (SELECT l.block_x || ',' || l.block_y || ',' || l.block_z FROM launch_config l WHERE l.id = k.launch_config_id)
    AS block,                        -- threads, "x,y,z"
  (SELECT l.registers FROM launch_config l WHERE l.id = k.launch_config_id)
    AS registers,                    -- per thread
  (SELECT l.shared_memory FROM launch_config l WHERE l.id = k.launch_config_id)
    AS shared_memory,                -- bytes per block
  (SELECT l.occupancy_pct FROM launch_config l WHERE l.id = k.launch_config_id)
    AS occupancy_pct,                -- achieved, as the profiler estimates it
  (SELECT l.theoretical_occupancy_pct FROM launch_config l WHERE l.id = k.launch_config_id)
    AS theoretical_occupancy_pct,    -- what the launch configuration allows at most
  k.external_id AS external_id,      -- as in the trace
  k.graph_id AS graph_id,            -- as in the trace
  k.graph_node_id AS graph_node_id,  -- as in the trace
  k.launch_id AS launch_id,          -- id in launches and runtime_call
  k.stack_id AS stack_id             -- id in stacks
FROM kernel k
LEFT JOIN kernel_name n ON n.id = k.name_id;

CREATE VIEW kernel_stats AS          -- kernel time by name over the whole trace
SELECT
  n.name AS name,                    -- as in the trace
  n.short_name AS short_name,        -- demangled, template and argument lists cut
  a.n AS n,                          -- executions
  a.total AS total,                  -- ns
  100.0 * a.total / nullif((SELECT total(total) FROM kernel_name_sum), 0) AS time_pct,  -- share of all kernel time
  1.0 * a.total / nullif(a.known, 0) AS avg,  -- of the executions whose dur is known, as all figures but n
  a.median AS median,                -- mean of the middle one or two
  a.min AS min,                      -- ns, as max
  a.max AS max,                      -- the longest execution
  a.p50 AS p50,                      -- nearest rank, as p90 and p99
  a.p90 AS p90,                      -- the time that 9 of 10 executions do not exceed
  a.p99 AS p99,                      -- the time that 99 of 100 executions do not exceed
  CASE WHEN a.known = 1 THEN 0.0
       WHEN a.known > 1 THEN max(0.0, (a.sum_of_squares - 1.0 * a.total * a.total / a.known) / (a.known - 1)) END
    AS variance,                     -- of the sample (known - 1), ns^2
  a.known AS known                   -- executions whose dur is known
FROM kernel_name_sum a LEFT JOIN kernel_name n ON n.id = a.name_id;

CREATE VIEW steps AS                 -- one row per step, in time order
SELECT
  st.id AS id,
  st.sequence AS step,               -- 0, 1, 2 ...
  st.kind AS phase,                  -- prefill, decode, mixed, train, other, unknown
  t.value AS name,                   -- the annotation's text
  a.ts AS ts,                        -- on the clock that timed_on names
  a.ts + a.dur AS ts_end,
  a.dur AS dur,                      -- time the host spent in the step; timed_on gpu: the device
  a.dur / 1000.0 AS dur_us,          -- dur in microseconds
  st.context_requests AS context_requests,        -- requests in prefill
  st.context_tokens AS context_tokens,  -- tokens in prefill
  st.generation_requests AS generation_requests,  -- requests in decode
  st.generation_tokens AS generation_tokens,  -- tokens in decode
  (SELECT count(*) FROM kernel k WHERE k.id BETWEEN st.first_kernel_id AND st.last_kernel_id AND k.step_id = st.id)
    AS kernels,                      -- how many ran in it
  (SELECT min(9223372036854775807, sum(k.dur >> 32) * 4294967296 + sum(k.dur & 4294967295))
   FROM kernel k WHERE k.id BETWEEN st.first_kernel_id AND st.last_kernel_id AND k.step_id = st.id)
    AS kernel_time,                  -- sum of their dur, in two halves because no sum may overflow; at most 2^63 - 1
  (SELECT k.ts FROM kernel k WHERE k.id = st.first_kernel_id) AS gpu_ts,  -- start of its first kernel
  (SELECT max(k.ts + k.dur) FROM kernel k
   WHERE k.id BETWEEN st.first_kernel_id AND st.last_kernel_id AND k.step_id = st.id)
    AS gpu_ts_end,                   -- end of its last kernel
  st.first_kernel_id AS first_kernel_id,  -- smallest id in kernels of those that ran in it
  st.last_kernel_id AS last_kernel_id,  -- largest id in kernels of those that ran in it
  CASE a.kind WHEN 'user' THEN 'cpu' WHEN 'gpu' THEN 'gpu' END
    AS timed_on                      -- cpu: ts, ts_end and dur are of the host; gpu: only the device's annotation is known
FROM step st
LEFT JOIN annotation a ON a.id = st.annotation_id
LEFT JOIN string t ON t.id = a.name_id;

CREATE VIEW launches AS              -- one row per kernel whose launching call is known
SELECT
  k.id AS kernel_id,
  r.id AS launch_id,                 -- the same for all kernels of one graph launch
  n.name AS kernel,                  -- name of the kernel
  t.value AS call,                   -- name of the runtime call
  r.kind AS kind,                    -- launch, graph_launch, copy, other
  r.ts AS ts,                        -- of the call, on the CPU
  r.ts + r.dur AS ts_end,
  r.dur AS dur,                      -- time spent in the call
  k.ts AS kernel_ts,                 -- start of the kernel, on the device
  k.dur AS kernel_dur,               -- length of the kernel
  k.ts - (r.ts + r.dur) AS launch_delay,  -- from the call's return to the kernel's start; negative if it started earlier
  CASE WHEN k.first_of_launch = 1 THEN max(0, k.ts - (r.ts + r.dur)) END
    AS queue_delay,                  -- launch_delay, at least 0; NULL for the later kernels of a graph launch
  k.ts - r.ts AS end_to_end,         -- from the call's start to the kernel's start
  p.pid AS pid,
  th.tid AS tid,                     -- launching thread
  k.correlation AS correlation
FROM kernel k
JOIN runtime_call r ON r.id = k.launch_id
LEFT JOIN kernel_name n ON n.id = k.name_id
LEFT JOIN string t ON t.id = r.name_id
LEFT JOIN thread th ON th.id = r.thread_id
LEFT JOIN process p ON p.id = th.process_id;

CREATE VIEW memcpys AS               -- copies and fills by the device's own engines
SELECT
  m.id AS id,
  m.kind AS kind,                    -- memcpy, memset
  m.direction AS direction,          -- HtoD, DtoH, DtoD, ...
  t.value AS name,                   -- as in the trace
  m.bytes AS bytes,                  -- how many were copied or filled
  m.ts AS ts,
  m.ts + m.dur AS ts_end,
  m.dur AS dur,
  m.dur / 1000.0 AS dur_us,          -- dur in microseconds
  coalesce(m.bandwidth_gb_s, 1.0 * m.bytes / nullif(m.dur, 0))
    AS gb_per_s,                     -- 10^9 bytes per second: the profiler's own figure, else bytes by dur
  CASE WHEN m.bandwidth_gb_s IS NOT NULL THEN 'profiler'
       WHEN m.bytes IS NOT NULL AND m.dur > 0 THEN 'computed' END
    AS bandwidth_source,             -- profiler, computed; NULL: gb_per_s is unknown
  d.ordinal AS device,               -- device number
  s.number AS stream,                -- stream number
  st.sequence AS step,               -- number of the step
  st.kind AS phase,                  -- kind of the step
  m.pass AS pass,                    -- of training: forward, backward, optimizer
  (SELECT o.value FROM cpu_op c JOIN string o ON o.id = c.name_id WHERE c.id = m.cpu_op_id)
    AS cpu_op,                       -- name of the operator that launched it: by External id, else the innermost around the launch
  m.correlation AS correlation,
  m.launch_id AS launch_id,          -- id in runtime_call
  m.stack_id AS stack_id             -- id in stacks
FROM memory_op m
LEFT JOIN string t ON t.id = m.name_id
LEFT JOIN stream s ON s.id = m.stream_id
LEFT JOIN device d ON d.id = s.device_id
LEFT JOIN step st ON st.id = m.step_id;

CREATE VIEW cpu_ops AS               -- framework operators
SELECT
  c.id AS id,
  t.value AS name,                   -- aten::mm, ...
  c.ts AS ts,
  c.ts + c.dur AS ts_end,
  c.dur AS dur,
  c.dur / 1000.0 AS dur_us,          -- dur in microseconds
  p.pid AS pid,
  th.tid AS tid,
  th.name AS thread,                 -- name of the thread
  c.depth AS depth,                  -- 0: no parent
  c.parent_id AS parent_id,          -- id in cpu_ops
  (SELECT q.value FROM cpu_op o JOIN string q ON q.id = o.name_id WHERE o.id = c.parent_id)
    AS parent,                       -- name of the enclosing operator
  sh.dims AS input_dims,             -- JSON text as in the trace, as the next three
  sh.types AS input_types,           -- JSON text as in the trace
  sh.strides AS input_strides,       -- JSON text as in the trace
  sh.concrete_inputs AS concrete_inputs,  -- JSON text as in the trace
  c.external_id AS external_id,
  c.sequence_number AS sequence_number  -- ties a backward operator to its forward one
FROM cpu_op c
LEFT JOIN string t ON t.id = c.name_id
LEFT JOIN thread th ON th.id = c.thread_id
LEFT JOIN process p ON p.id = th.process_id
LEFT JOIN op_shape sh ON sh.id = c.shape_id;

CREATE VIEW stacks AS                -- distinct python call paths
SELECT
  s.id AS id,
  s.parent_id AS parent_id,          -- id in stacks; NULL: outermost
  s.depth AS depth,                  -- 1: outermost
  t.value AS frame,                  -- the innermost frame
  (WITH RECURSIVE up(parent_id, text) AS (
     SELECT s.parent_id, t.value
     UNION ALL
     SELECT b.parent_id, v.value || ';' || up.text
     FROM up JOIN stack b ON b.id = up.parent_id JOIN frame g ON g.id = b.frame_id JOIN string v ON v.id = g.name_id)
   SELECT text FROM up WHERE parent_id IS NULL)
    AS path                          -- all frames, outermost first, joined by ";" (the folded form flame graphs take)
FROM stack s
LEFT JOIN frame f ON f.id = s.frame_id
LEFT JOIN string t ON t.id = f.name_id;

CREATE VIEW collectives AS           -- communication kernels with what the trace says about them
SELECT
  k.id AS kernel_id,
  c.name AS name,                    -- allreduce, ...; NULL if the trace does not say
  n.name AS kernel,                  -- name of the kernel
  k.ts AS ts,
  k.ts + k.dur AS ts_end,
  k.dur AS dur,                      -- includes waiting for the other ranks
  k.dur / 1000.0 AS dur_us,          -- dur in microseconds
  d.ordinal AS device,               -- device number
  s.number AS stream,                -- stream number
  st.sequence AS step,               -- number of the step
  st.kind AS phase,                  -- kind of the step
  c.group_name AS group_name,        -- process group
  c.group_description AS group_description,  -- of the process group
  c.group_size AS group_size,        -- ranks in the group
  c.ranks AS ranks,                  -- JSON list
  c.dtype AS dtype,                  -- of an element, as in the trace
  c.in_elements AS in_elements,      -- per rank
  c.out_elements AS out_elements,    -- per rank
  c.sequence AS sequence,            -- number of the collective within its group
  c.comms_id AS comms_id,            -- as in the trace: 64 bits, may exceed a signed integer
  c.source_rank AS source_rank,      -- of a receive: rank of the job that sends
  c.destination_rank AS destination_rank,  -- of a send: rank of the job that receives
  k.kind AS kind                     -- comm, comm_compute (fused with computation), or whatever the kernel is
FROM kernel k
LEFT JOIN collective c ON c.kernel_id = k.id
LEFT JOIN kernel_name n ON n.id = k.name_id
LEFT JOIN stream s ON s.id = k.stream_id
LEFT JOIN device d ON d.id = s.device_id
LEFT JOIN step st ON st.id = k.step_id
WHERE c.kernel_id IS NOT NULL OR k.kind IN ('comm', 'comm_compute');

CREATE VIEW gaps AS                  -- times at which a device ran neither kernel nor copy, between its first and last one
WITH gap AS MATERIALIZED (           -- found once for a query, however it joins them
  SELECT e.device_id, e.ts, e.free_from, e.kernel_id, e.memory_op_id
  FROM (
    SELECT s.device_id, w.ts, w.kernel_id, w.memory_op_id,
      CAST(max(w.ts + w.dur) OVER (PARTITION BY s.device_id ORDER BY w.ts, w.dur
                                   ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
           AS INTEGER) AS free_from  -- with a type, as an automatic index needs it
    FROM (
      SELECT k.stream_id, k.ts, k.dur, k.id AS kernel_id, CAST(NULL AS INTEGER) AS memory_op_id FROM kernel k
      WHERE k.dur > 0
      UNION ALL
      SELECT m.stream_id, m.ts, m.dur, NULL, m.id FROM memory_op m WHERE m.dur > 0) w
    JOIN stream s ON s.id = w.stream_id) e
  WHERE e.ts > e.free_from)
SELECT
  (SELECT d.ordinal FROM device d WHERE d.id = g.device_id)
    AS device,                       -- device number
  g.free_from AS ts,                 -- end of everything before
  g.ts AS ts_end,                    -- start of what came next
  g.ts - g.free_from AS dur,
  (g.ts - g.free_from) / 1000.0 AS dur_us,  -- dur in microseconds
  g.kernel_id AS next_kernel_id,     -- id in kernels; NULL: a copy or fill came next
  (SELECT n.name FROM kernel k JOIN kernel_name n ON n.id = k.name_id WHERE k.id = g.kernel_id)
    AS next_kernel,                  -- its name
  g.memory_op_id AS next_memory_op_id,  -- id in memcpys; NULL: a kernel came next
  CASE WHEN g.kernel_id IS NOT NULL
       THEN (SELECT n.name FROM kernel k JOIN kernel_name n ON n.id = k.name_id WHERE k.id = g.kernel_id)
       ELSE (SELECT t.value FROM memory_op m JOIN string t ON t.id = m.name_id WHERE m.id = g.memory_op_id) END
    AS next_name,                    -- name of the kernel, copy or fill that came next
  CASE WHEN g.kernel_id IS NOT NULL
       THEN (SELECT o.value FROM kernel k JOIN cpu_op c ON c.id = k.cpu_op_id JOIN string o ON o.id = c.name_id
             WHERE k.id = g.kernel_id)
       ELSE (SELECT o.value FROM memory_op m JOIN cpu_op c ON c.id = m.cpu_op_id JOIN string o ON o.id = c.name_id
             WHERE m.id = g.memory_op_id) END
    AS next_cpu_op                   -- name of the operator that launched it
FROM gap g;

CREATE VIEW trace_info AS            -- facts about the trace and the index, one per row
SELECT
  key AS key,                        -- the keys of meta, then the row count of each event table as rows.<table>
  value AS value                     -- text or integer
FROM meta
UNION ALL SELECT 'rows.kernel', (SELECT coalesce(max(id), 0) FROM kernel)
UNION ALL SELECT 'rows.memory_op', (SELECT coalesce(max(id), 0) FROM memory_op)
UNION ALL SELECT 'rows.runtime_call', (SELECT coalesce(max(id), 0) FROM runtime_call)
UNION ALL SELECT 'rows.cpu_op', (SELECT coalesce(max(id), 0) FROM cpu_op)
UNION ALL SELECT 'rows.python_call', (SELECT coalesce(sum(n), 0) FROM packed_block WHERE event_table = 'python_call')
UNION ALL SELECT 'rows.annotation', (SELECT coalesce(max(id), 0) FROM annotation)
UNION ALL SELECT 'rows.slice', (SELECT coalesce(max(id), 0) FROM slice)
UNION ALL SELECT 'rows.instant', (SELECT coalesce(max(id), 0) FROM instant)
UNION ALL SELECT 'rows.counter', (SELECT coalesce(max(id), 0) FROM counter)
UNION ALL SELECT 'rows.flow_unmatched', (SELECT coalesce(sum(n), 0) FROM packed_block WHERE event_table = 'flow_unmatched');

CREATE VIEW issues AS                -- what was wrong with the trace, worst first
SELECT
  severity AS severity,              -- data_loss, warning, info
  kind AS kind,                      -- what was wrong, e.g. kernel_without_launch
  count AS count,                    -- how often
  offset AS offset,                  -- first byte it was seen at, in the decompressed trace
  sample AS sample                   -- at most 200 characters of the trace
FROM issue
ORDER BY CASE severity WHEN 'data_loss' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, count DESC, kind;
