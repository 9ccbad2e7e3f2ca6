-- What trace-query sql adds to views, by temporary views of the same names: opinions under the active rules, made when
-- a query asks for them. The views of the index itself, as other clients see them, are main.kernels and so on. Steps are
-- those of the reports: also inferred ones, and those of --step-regex. A list in braces is that of the columns of the
-- view in main, some of them replaced; those that "over" a table of arrays are its columns
-- (src/passes/sql/kernel_sql_functions.cc, event_rows.h).

CREATE TEMP VIEW kernels AS          -- one row per kernel execution, with names in place of ids
SELECT
  {kernels over kernel_rows},
  v.op
    AS op,                           -- trace-query sql: class under the active rules: attention, dense_gemm, norm, ...
  v.stack
    AS stack,                        -- trace-query sql: stack of layers: the modules' class, or "stack 1" ...; NULL: in none
  v.layer
    AS layer,                        -- trace-query sql: layer in its stack: 0, 1, 2 ...; NULL: in none
  v.layer_part
    AS layer_part,                   -- trace-query sql: layer, or head or tail of the step; NULL: unknown
  v.input_dims
    AS input_dims,                   -- trace-query sql: shapes of the operator's inputs: JSON text as in the trace
  v.hlo_module
    AS hlo_module,                   -- trace-query sql: of XLA's kernels the program: jit_train_step; NULL: not known
  v.hlo_op
    AS hlo_op,                       -- trace-query sql: of XLA's kernels the operation: fusion.3
  v.hlo_opcode
    AS hlo_opcode,                   -- trace-query sql: of the operation: fusion, dot, custom-call ...
  v.hlo_shape
    AS hlo_shape,                    -- trace-query sql: of its result: f32[8,128]
  v.role
    AS role,                         -- trace-query sql: at its place in the model: qkv_proj, gate_up ...; NULL: not known
  v.role_source
    AS role_source,                  -- trace-query sql: how that is known: modules, class, order; NULL: it is not
  v.role_confidence_pct
    AS role_confidence_pct,          -- trace-query sql: of the role, percent
  capture_op(v.id)
    AS capture_op,                   -- trace-query sql --capture: of a graph replay, the operator that launched it there
  capture_module(v.id)
    AS capture_module                -- trace-query sql --capture: of a graph replay, the innermost module there
FROM kernel_rows v;

CREATE TEMP VIEW kernel_stats AS     -- kernel time by name over the whole trace
SELECT
  v.*,
  op_class(v.name)
    AS op                            -- trace-query sql: class under the active rules
FROM main.kernel_stats v;

CREATE TEMP VIEW launches AS         -- one row per kernel whose launching call is known
SELECT
  {launches over launch_rows},
  v.op
    AS op,                           -- trace-query sql: class of the kernel under the active rules
  v.stack
    AS stack,                        -- trace-query sql: stack of layers of the kernel; NULL: in none
  v.layer
    AS layer,                        -- trace-query sql: layer of the kernel in its stack; NULL: in none
  v.role
    AS role                          -- trace-query sql: role of the kernel; NULL: not known
FROM launch_rows v;

CREATE TEMP VIEW collectives AS      -- communication kernels with what the trace says about them
SELECT
  {collectives: step kernel_step(v.kernel_id), phase kernel_phase(v.kernel_id)},
  op_class(v.kernel)
    AS op,                           -- trace-query sql: class of the kernel under the active rules
  kernel_stack(v.kernel_id)
    AS stack,                        -- trace-query sql: stack of layers of the kernel; NULL: in none
  kernel_layer(v.kernel_id)
    AS layer,                        -- trace-query sql: layer of the kernel in its stack; NULL: in none
  kernel_role(v.kernel_id)
    AS role                          -- trace-query sql: role of the kernel: attention_comm, mlp_comm ...; NULL: not known
FROM main.collectives v;

CREATE TEMP VIEW python_calls AS          -- one row per python function call; its rows are packed: other clients do not see it
SELECT
  c.id AS id,
  t.value AS name,                   -- the event's name
  f.function AS function,            -- name of the function; the whole name of the event where it has no file
  fi.value AS file,                  -- where the function is defined, as in the trace
  f.line AS line,                    -- first line of the function
  c.ts AS ts,
  c.ts + c.dur AS ts_end,
  c.dur AS dur,
  c.dur / 1000.0 AS dur_us,          -- dur in microseconds
  p.pid AS pid,
  th.tid AS tid,
  s.depth AS depth,                  -- 1: outermost
  c.stack_id AS stack_id             -- id in stacks
FROM python_call c
LEFT JOIN stack s ON s.id = c.stack_id
LEFT JOIN frame f ON f.id = s.frame_id
LEFT JOIN string t ON t.id = f.name_id
LEFT JOIN string fi ON fi.id = f.file_id
LEFT JOIN thread th ON th.id = c.thread_id
LEFT JOIN process p ON p.id = th.process_id;

CREATE TEMP VIEW operator_details AS      -- one row per operator of which the trace says more than its arguments
SELECT
  o.id AS cpu_op_id,
  s.detail ->> '"Fwd thread id"' AS forward_thread,  -- of a backward operator: number of the thread of its forward one
  s.detail ->> 'kernel_backend' AS kernel_backend,   -- of operators that are one generated kernel: triton
  s.detail ->> 'kernel_hash' AS kernel_hash,         -- of its source
  s.detail ->> 'kernel_file' AS kernel_file,         -- that has its source
  s.detail ->> 'kernel_kwargs' AS kernel_arguments,  -- as tuned: sizes of its blocks
  s.detail ->> 'num_warps' AS num_warps,             -- of each of its blocks
  s.detail ->> 'num_stages' AS num_stages,           -- of its software pipeline
  s.detail ->> 'stream' AS stream                    -- number
FROM cpu_op o JOIN op_shape s ON s.id = o.shape_id
WHERE s.detail IS NOT NULL;

CREATE TEMP VIEW memcpys AS          -- copies and fills by the device's own engines
SELECT
  {memcpys: step memory_step(v.id), phase memory_phase(v.id)}
FROM main.memcpys v;

CREATE TEMP VIEW steps AS            -- one row per step, in time order
SELECT
  step + 1 AS id,
  step,
  phase,
  nullif(name, '') AS name,
  ts,
  ts + dur AS ts_end,
  dur,
  dur / 1000.0 AS dur_us,
  context_requests,
  context_tokens,
  generation_requests,
  generation_tokens,
  kernels,
  iif(known > 0, total_time, NULL) AS kernel_time,
  gpu_ts,
  gpu_ts_end,
  first_kernel_id,
  last_kernel_id,
  timed_on
FROM step_figures
WHERE step IS NOT NULL;

CREATE TEMP VIEW host_waits AS       -- runtime calls that return when a device has done its work
SELECT
  r.id
    AS call_id                       -- id in runtime_call: calls that synchronise, and copies that block
FROM runtime_call r JOIN string t ON t.id = r.name_id
WHERE (r.kind = 'sync' AND NOT t.value GLOB '*Query*' AND NOT t.value GLOB '*StreamWait*')
   OR (r.kind = 'copy' AND (NOT t.value GLOB '*Async*' OR r.id IN (
         SELECT m.launch_id FROM memory_op m JOIN runtime_call c ON c.id = m.launch_id
         WHERE m.kind = 'memcpy' AND m.ts + m.dur <= c.ts + c.dur)));
