-- What trace-query sql adds to views, by temporary views of the same names: opinions under the rules in force, made when
-- a query asks for them. The views of the index itself, as other clients see them, are main.kernels and so on.

CREATE TEMP VIEW kernels AS          -- one row per kernel execution, with names in place of ids
SELECT
  v.*,
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
  v.*,
  op_class(v.kernel)
    AS op,                           -- trace-query sql: class of the kernel under the rules in force
  kernel_stack(v.kernel_id)
    AS stack,                        -- trace-query sql: stack of layers of the kernel; NULL: in none
  kernel_layer(v.kernel_id)
    AS layer                         -- trace-query sql: layer of the kernel in its stack; NULL: in none
FROM main.collectives v;
