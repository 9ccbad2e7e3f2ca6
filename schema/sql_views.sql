-- What trace-query sql adds to views, by temporary views of the same names: opinions under the rules in force, made when
-- a query asks for them. The views of the index itself, as other clients see them, are main.kernels and so on. Steps are
-- those of the reports: also inferred ones, and those of --step-regex. A list in braces is that of the columns of the
-- view in main, some of them replaced (src/passes/sql/kernel_words.cc).

CREATE TEMP VIEW kernels AS          -- one row per kernel execution, with names in place of ids
SELECT
  {kernels: step kernel_step(v.id), phase kernel_phase(v.id)},
  op_class(v.name)
    AS op,                           -- trace-query sql: class under the rules in force: attention, dense_gemm, norm, ...
  kernel_stack(v.id)
    AS stack,                        -- trace-query sql: stack of layers: the modules' class, or "stack 1" ...; NULL: in none
  kernel_layer(v.id)
    AS layer,                        -- trace-query sql: layer in its stack: 0, 1, 2 ...; NULL: in none
  kernel_layer_part(v.id)
    AS layer_part,                   -- trace-query sql: layer, or head or tail of the step; NULL: unknown
  capture_op(v.id)
    AS capture_op,                   -- trace-query sql --capture: of a graph replay, the operator that launched it there
  capture_module(v.id)
    AS capture_module                -- trace-query sql --capture: of a graph replay, the innermost module there
FROM main.kernels v;

CREATE TEMP VIEW kernel_stats AS     -- kernel time by name over the whole trace
SELECT
  v.*,
  op_class(v.name)
    AS op                            -- trace-query sql: class under the rules in force
FROM main.kernel_stats v;

CREATE TEMP VIEW launches AS         -- one row per kernel whose launching call is known
SELECT
  v.*,
  op_class(v.kernel)
    AS op,                           -- trace-query sql: class of the kernel under the rules in force
  kernel_stack(v.kernel_id)
    AS stack,                        -- trace-query sql: stack of layers of the kernel; NULL: in none
  kernel_layer(v.kernel_id)
    AS layer                         -- trace-query sql: layer of the kernel in its stack; NULL: in none
FROM main.launches v;

CREATE TEMP VIEW collectives AS      -- communication kernels with what the trace says about them
SELECT
  {collectives: step kernel_step(v.kernel_id), phase kernel_phase(v.kernel_id)},
  op_class(v.kernel)
    AS op,                           -- trace-query sql: class of the kernel under the rules in force
  kernel_stack(v.kernel_id)
    AS stack,                        -- trace-query sql: stack of layers of the kernel; NULL: in none
  kernel_layer(v.kernel_id)
    AS layer                         -- trace-query sql: layer of the kernel in its stack; NULL: in none
FROM main.collectives v;

CREATE TEMP VIEW memcpys AS          -- copies and fills by the device's own engines
SELECT
  {memcpys: step memory_step(v.id), phase memory_phase(v.id)}
FROM main.memcpys v;

CREATE TEMP VIEW steps AS            -- one row per step, in time order
WITH RECURSIVE number(i) AS (
  SELECT 0 WHERE step_count() > 0
  UNION ALL SELECT i + 1 FROM number WHERE i + 1 < step_count())
SELECT
  i + 1 AS id,
  i AS step,
  step_fact(i, 'phase') AS phase,
  step_fact(i, 'name') AS name,
  step_fact(i, 'ts') AS ts,
  step_fact(i, 'ts') + step_fact(i, 'dur') AS ts_end,
  step_fact(i, 'dur') AS dur,
  step_fact(i, 'dur') / 1000.0 AS dur_us,
  step_fact(i, 'context_requests') AS context_requests,
  step_fact(i, 'context_tokens') AS context_tokens,
  step_fact(i, 'generation_requests') AS generation_requests,
  step_fact(i, 'generation_tokens') AS generation_tokens,
  step_fact(i, 'kernels') AS kernels,
  step_fact(i, 'kernel_time') AS kernel_time,
  step_fact(i, 'gpu_ts') AS gpu_ts,
  step_fact(i, 'gpu_ts_end') AS gpu_ts_end,
  step_fact(i, 'first_kernel_id') AS first_kernel_id,
  step_fact(i, 'last_kernel_id') AS last_kernel_id,
  step_fact(i, 'timed_on') AS timed_on
FROM number;
