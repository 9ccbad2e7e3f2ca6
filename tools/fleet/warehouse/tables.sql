-- The tables of each server of the warehouse (ClickHouse 18.16 or later); then cluster.sql, or single.sql for one server.
-- A partition is a night. Only load.py writes here. NULL: not known, or (phase, stack, layer) in none.

-- One row per trace, kernel name, phase and layer. Of the executions in it n have a duration and untimed have none;
-- sum to p95 are of the n.
CREATE TABLE IF NOT EXISTS kernel_rollup_local (
  night Date,
  job LowCardinality(String),
  trace_id UInt64,                          -- first 63 bits of the XXH3-128 of the trace's bytes
  rank Nullable(Int32),
  gpu LowCardinality(Nullable(String)),
  model LowCardinality(Nullable(String)),
  name LowCardinality(String),
  op LowCardinality(String),                -- operation class
  phase LowCardinality(Nullable(String)),
  stack LowCardinality(Nullable(String)),   -- of layers
  layer Nullable(Int32),
  n UInt64,
  untimed UInt64,
  sum_ns UInt64,
  min_ns Nullable(UInt64),
  max_ns Nullable(UInt64),
  p50_ns Nullable(UInt64),                  -- of this row's executions: cannot be added up
  p95_ns Nullable(UInt64)
) ENGINE = MergeTree PARTITION BY night ORDER BY (job, name, night, trace_id);

-- The ledger: one row per trace that was loaded, with its figures as its index has them.
CREATE TABLE IF NOT EXISTS loaded_trace_local (
  night Date,
  job LowCardinality(String),
  trace_id UInt64,
  content_hash String,                      -- all of the XXH3-128
  source String,                            -- path of the trace
  rank Nullable(Int32),
  world_size Nullable(Int32),
  gpu Nullable(String),
  model Nullable(String),
  framework Nullable(String),
  format Nullable(String),
  date_ns Nullable(Int64),                  -- first event, since 1970
  complete UInt8,                           -- 0: the trace is cut short
  steps UInt64,
  kernels UInt64,                           -- with and without a duration
  sum_ns UInt64,
  rollup_rows UInt64,
  tool_version String,                      -- of the program that made the index; another one is loaded again
  loaded_at DateTime
) ENGINE = MergeTree PARTITION BY night ORDER BY (job, night, trace_id);
