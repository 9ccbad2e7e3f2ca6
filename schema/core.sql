-- The tables of an index: the format document. One index holds one trace.
--
-- Conventions. Times are integer nanoseconds: `ts` counts from meta.base_time_ns (the first timed event of the trace),
-- `dur` is a length; each is the nearest nanosecond to what the trace says, halves away from zero, and an end is always
-- ts + dur. NULL means unknown, never zero. Ids are small integers that start at 1 and mean nothing outside this
-- file. `*_id` columns refer to the table of that name. Correlation, external id and the other numbers in columns of type
-- ANY are the profiler's own: integers, but text in decimal where they do not fit in 63 bits and a sign.
-- Every table exists in every index, if need be empty; packed.sql has those that are packed. Rows of the event tables are stored in time order, so ids are
-- time-ordered too: by ts, then the longer one first, then file order; kernels, memory operations, instants and counters by
-- ts, then file order.

CREATE TABLE meta (              -- facts about the trace, the ingest and the index, one per row
  key TEXT PRIMARY KEY,          -- tool_version, source_hash, base_time_ns, complete, trace.<top-level key>, rank and
                                 -- rank_source (distributedInfo, or file name: and the part that says it),
                                 -- time_unit (cycle: read every ns as one cycle), kernels_from_marks (of AI Engine
                                 -- tiles: kernels made of the events that mark start and end, which have rows too),
                                 -- links_confirmed_by_flow, links_contradicted_by_flow, links_made_by_flow, ...; summary:
                                 -- what trace-query ls shows of the trace, under a mark of the rules it was found by
  value TEXT                     -- text; numbers in decimal, trace.* as the JSON text of the trace
) STRICT;

CREATE TABLE event_count (       -- conservation: read = stored + skipped, for each category and phase of the trace
  category TEXT,                 -- as in the trace; NULL where the event has none
  ph TEXT,                       -- Chrome phase letter: X, i, s, f, C, M, B, E, ...; NULL where the event has none
  read INTEGER NOT NULL,         -- events of this kind in the file
  stored INTEGER NOT NULL,       -- rows they became in the event tables
  skipped INTEGER NOT NULL,      -- events without a row of their own; skip_reason says why
  skip_reason TEXT               -- matched flow, metadata, end of a slice, no timestamp, not an object, ...
) STRICT;

CREATE TABLE string (            -- every distinct text, once
  id INTEGER PRIMARY KEY,        -- in order of first appearance in the trace; files of frames come last
  value TEXT NOT NULL            -- unescaped UTF-8, unique
) STRICT;

CREATE TABLE device (            -- accelerators: those events ran on, joined with those the trace describes
  id INTEGER PRIMARY KEY,
  ordinal INTEGER,               -- the profiler's device number; NULL where a device was named otherwise
  name TEXT,                     -- as described by the trace: by number, else the one model it lists; NULL if it does not say
  vendor TEXT NOT NULL,          -- nvidia, amd, intel, ascend, aie, unknown
  used INTEGER NOT NULL,         -- 1: events ran on it; 0: only described
  compute_capability TEXT,       -- "9.0"
  sm_count INTEGER,              -- multiprocessors or compute units
  warp_size INTEGER,             -- 32 or 64
  memory_bytes INTEGER,          -- of the device
  max_threads_per_block INTEGER, -- limit of the device
  max_threads_per_sm INTEGER,    -- limit of a multiprocessor
  registers_per_block INTEGER,   -- limit of the device
  registers_per_sm INTEGER,      -- of a multiprocessor
  shared_memory_per_block INTEGER,  -- bytes, without opting in
  shared_memory_per_sm INTEGER,  -- bytes
  shared_memory_per_block_optin INTEGER,  -- bytes, for kernels that ask for more
  properties TEXT                -- the trace's own JSON object for this device; NULL: it lists others only, the figures are
                                 -- of the one model among them
) STRICT;

CREATE TABLE process (           -- anything the trace gives a pid
  id INTEGER PRIMARY KEY,
  pid ANY,                       -- number or text, as in the trace; NULL where events have none
  name TEXT,                     -- from process_name
  labels TEXT,                   -- from process_labels
  sort_index INTEGER,            -- from process_sort_index
  rank INTEGER                   -- rank of the distributed job, if known: meta.rank
) STRICT;

CREATE TABLE thread (            -- CPU threads and other tracks that are not device streams
  id INTEGER PRIMARY KEY,
  process_id INTEGER NOT NULL,
  tid ANY,                       -- number or text, as in the trace; NULL where events have none
  name TEXT,                     -- from thread_name
  sort_index INTEGER             -- from thread_sort_index
) STRICT;

CREATE TABLE stream (            -- device queues
  id INTEGER PRIMARY KEY,
  device_id INTEGER NOT NULL,
  number ANY                     -- stream number; text where the trace has text that is no number; NULL: not given
) STRICT;

CREATE TABLE kernel_name (       -- distinct kernel names
  id INTEGER PRIMARY KEY,        -- the string id of the name
  name TEXT NOT NULL,            -- as in the trace
  short_name TEXT NOT NULL       -- demangled, template and argument lists cut
) STRICT;

CREATE TABLE launch_config (     -- distinct kernel launch configurations
  id INTEGER PRIMARY KEY,
  grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,     -- blocks
  block_x INTEGER, block_y INTEGER, block_z INTEGER,  -- threads
  registers INTEGER,             -- per thread
  shared_memory INTEGER,         -- bytes per block
  occupancy_pct REAL,            -- achieved, as the profiler estimates it
  theoretical_occupancy_pct REAL,  -- what the configuration allows at most, as the profiler says
  blocks_per_sm REAL,            -- grid size per multiprocessor, as the profiler computes it
  warps_per_sm REAL              -- the same in warps
) STRICT;

CREATE TABLE task_info (         -- of launch configurations, what a profiler of tasks says besides: Ascend's; else empty
  launch_config_id INTEGER PRIMARY KEY,
  name TEXT,                     -- of the task: "aclnnMatmul_MatMulCommon_MatMulV2", "hcom_allReduce__586_0_1"; the kernel's
                                 -- name is the type of the operation, "MatMulV2"
  core TEXT,                     -- what ran it: AI_CORE, AI_VECTOR_CORE, MIX_AIC, MIX_AIV, AI_CPU, HCCL, ...
  state TEXT,                    -- of the operation's compilation: dynamic, static
  mix_blocks INTEGER,            -- blocks on the other kind of core; launch_config.grid_x has those on this one
  input_shapes TEXT,             -- "32,3,224,224;64": operands by semicolons, as are the types and formats
  input_types TEXT,              -- "FLOAT;FLOAT"
  input_formats TEXT,            -- "NCHW;ND"
  output_shapes TEXT,            -- of the results, as input_shapes
  output_types TEXT,             -- as input_types
  output_formats TEXT            -- as input_formats
) STRICT;

CREATE TABLE kernel (            -- one row per kernel execution; id = time order
  id INTEGER PRIMARY KEY,
  ts INTEGER NOT NULL,
  dur INTEGER,                   -- NULL where the trace gives no usable number
  name_id INTEGER NOT NULL,      -- kernel_name
  stream_id INTEGER NOT NULL,
  correlation ANY,               -- as in the trace; unique only together with the launching process
  external_id ANY,               -- as in the trace
  launch_id INTEGER,             -- runtime_call that launched it (for graphs: the graph launch): by correlation, else by flow
  cpu_op_id INTEGER,             -- of the launch (runtime_call.cpu_op_id); without one: open where its flow starts, else the
                                 -- cpu_op with the same external_id, if it starts before the kernel
  stack_id INTEGER,              -- innermost python frame, on the launching thread at the launch
  annotation_id INTEGER,         -- innermost user annotation around the launch
  step_id INTEGER,
  graph_id ANY,                  -- as in the trace
  graph_node_id ANY,             -- as in the trace
  launch_config_id INTEGER,
  first_of_launch INTEGER,       -- 1: the first kernel of its launch; 0: a later one, of a graph; NULL: no launch
  kind TEXT NOT NULL,            -- compute, comm (collective or peer transfer), copy_kernel (a copy done by a kernel),
                                 -- comm_compute (a collective and computation in one kernel)
  pass TEXT                      -- of training, by the launch: forward, backward, optimizer; NULL: no launch is known, or
                                 -- its process does not train
) STRICT;

CREATE TABLE memory_op (         -- copies and fills by the device's own engines
  id INTEGER PRIMARY KEY,
  ts INTEGER NOT NULL,
  dur INTEGER,
  kind TEXT NOT NULL,            -- memcpy, memset
  direction TEXT,                -- HtoD, DtoH, DtoD, HtoH, PtoP, ...; NULL if the trace does not say
  name_id INTEGER NOT NULL,      -- string
  bytes ANY,                     -- how many were copied or filled
  bandwidth_gb_s REAL,           -- 10^9 bytes per second, as the profiler says: better than bytes / dur where the trace
                                 -- counts in whole microseconds; NULL: it does not say, or not a positive number
  stream_id INTEGER NOT NULL,
  correlation ANY,
  external_id ANY,
  launch_id INTEGER,             -- runtime_call
  cpu_op_id INTEGER,
  stack_id INTEGER,
  annotation_id INTEGER,
  step_id INTEGER,
  pass TEXT                      -- as of kernel
) STRICT;

CREATE TABLE runtime_call (      -- CUDA runtime, CUDA driver and HIP calls
  id INTEGER PRIMARY KEY,
  ts INTEGER NOT NULL,
  dur INTEGER,
  thread_id INTEGER NOT NULL,
  name_id INTEGER NOT NULL,      -- string
  correlation ANY,
  external_id ANY,
  kind TEXT NOT NULL,            -- launch, graph_launch, copy, sync, other
  cpu_op_id INTEGER,             -- of the operators open on the thread at ts: the one with its external_id, else the innermost
  stack_id INTEGER,              -- innermost python frame on the thread at ts
  annotation_id INTEGER,         -- innermost user annotation on the thread at ts
  step_id INTEGER                -- innermost step on the thread at ts; else one whose mark takes in the whole process
) STRICT;

CREATE TABLE op_shape (          -- distinct argument descriptions of operators, JSON text as in the trace
  id INTEGER PRIMARY KEY,
  dims TEXT, types TEXT, strides TEXT, concrete_inputs TEXT,  -- of all inputs, one JSON list each
  detail TEXT                    -- JSON object: of a backward operator "Fwd thread id", of an operator that is one generated
                                 -- kernel kernel_backend, kernel_file, num_warps ...
) STRICT;

CREATE TABLE cpu_op (            -- framework operators
  id INTEGER PRIMARY KEY,
  ts INTEGER NOT NULL,
  dur INTEGER,
  thread_id INTEGER NOT NULL,
  name_id INTEGER NOT NULL,      -- string
  external_id ANY,
  parent_id INTEGER,             -- cpu_op that encloses it on the thread
  depth INTEGER NOT NULL,        -- 0: no parent
  sequence_number ANY,           -- ties a backward operator to its forward one
  shape_id INTEGER               -- op_shape
) STRICT;

CREATE TABLE frame (             -- distinct python frames
  id INTEGER PRIMARY KEY,
  name_id INTEGER NOT NULL,      -- string: the event's name, e.g. "vllm/model.py(12): forward" or "nn.Module: Linear_3"
  function TEXT,                 -- "forward"; the whole name where it has no file
  file_id INTEGER,               -- string: "vllm/model.py"
  line INTEGER                   -- first line of the function, as profiled
) STRICT;

CREATE TABLE stack (             -- distinct python call paths: a trie from the root
  id INTEGER PRIMARY KEY,        -- a parent's id is smaller than its children's
  parent_id INTEGER,             -- NULL: outermost
  frame_id INTEGER NOT NULL,
  depth INTEGER NOT NULL         -- 1: outermost
) STRICT;

CREATE TABLE module_call (       -- python calls of an nn.Module that no other module made: where forward passes begin
  id INTEGER PRIMARY KEY,
  ts INTEGER NOT NULL,
  dur INTEGER,
  thread_id INTEGER NOT NULL,
  name_id INTEGER NOT NULL       -- string: "nn.Module: ResNet_0"
) STRICT;

CREATE TABLE annotation (        -- user_annotation (on a thread) and gpu_user_annotation (on a stream)
  id INTEGER PRIMARY KEY,
  ts INTEGER NOT NULL,
  dur INTEGER,
  kind TEXT NOT NULL,            -- user, gpu
  thread_id INTEGER,             -- kind user
  stream_id INTEGER,             -- kind gpu
  name_id INTEGER NOT NULL,      -- string
  external_id ANY,               -- the same for an annotation and its image on the device
  parent_id INTEGER              -- annotation that encloses it on its thread or stream
) STRICT;

CREATE TABLE step (              -- annotations whose name the built-in step grammar knows, in time order
  id INTEGER PRIMARY KEY,
  annotation_id INTEGER NOT NULL,
  sequence INTEGER NOT NULL,     -- 0, 1, 2 ... within the trace
  kind TEXT NOT NULL,            -- prefill, decode, mixed, train, other, unknown
  context_requests INTEGER,      -- requests in prefill
  context_tokens INTEGER,        -- tokens in prefill
  generation_requests INTEGER,   -- requests in decode
  generation_tokens INTEGER,     -- tokens in decode
  first_kernel_id INTEGER,       -- smallest id of its kernels
  last_kernel_id INTEGER         -- largest id of its kernels
) STRICT;

CREATE TABLE sync (              -- recorded synchronisations: rows of slice, too
  id INTEGER PRIMARY KEY,
  ts INTEGER NOT NULL,
  dur INTEGER,
  name_id INTEGER NOT NULL,      -- string: "Stream Wait Event", "Event Sync" ...
  stream_id INTEGER,             -- that waits
  correlation ANY,               -- of the call that waits
  wait_stream ANY,               -- number of the stream that is waited for
  wait_correlation ANY           -- of the call that recorded the event that is waited for
) STRICT;

CREATE TABLE collective (        -- what the trace says about communication kernels
  kernel_id INTEGER PRIMARY KEY,
  name TEXT,                     -- allreduce, ...
  group_name TEXT,               -- process group
  group_description TEXT,        -- of the process group
  group_size INTEGER,            -- ranks in the group
  ranks TEXT,                    -- JSON list
  dtype TEXT,                    -- of an element, as in the trace
  in_elements INTEGER,           -- per rank
  out_elements INTEGER,          -- per rank
  sequence INTEGER,              -- number of the collective within its group
  comms_id TEXT,                 -- 64 bits, may exceed a signed integer
  source_rank INTEGER,           -- of a receive: rank of the job that sends
  destination_rank INTEGER,      -- of a send: rank of the job that receives
  in_splits TEXT,                -- JSON list of elements by rank, as in the trace
  out_splits TEXT                -- as in_splits
) STRICT;

CREATE TABLE slice (             -- everything with a duration that fits no table above; pairs of B E, b e and S F too
  id INTEGER PRIMARY KEY,
  ts INTEGER NOT NULL,
  dur INTEGER,
  category_id INTEGER,           -- string; NULL where the event has none
  name_id INTEGER,               -- string
  process_id INTEGER NOT NULL,
  thread_id INTEGER NOT NULL
) STRICT;

CREATE TABLE instant (           -- points in time: instants, marks, samples, steps of asynchronous slices, objects, ...; of
                                 -- AI Engine tiles ends whose begin is lost
  id INTEGER PRIMARY KEY,
  ts INTEGER NOT NULL,
  category_id INTEGER,
  name_id INTEGER,
  process_id INTEGER NOT NULL,
  thread_id INTEGER NOT NULL,
  bytes ANY                      -- of memory events: size allocated (positive) or freed (negative)
) STRICT;

CREATE TABLE counter (           -- samples, and what hardware counters counted in a range, a row of slice that starts at ts
  id INTEGER PRIMARY KEY,
  ts INTEGER NOT NULL,
  category_id INTEGER,
  name_id INTEGER,
  process_id INTEGER NOT NULL,
  series_id INTEGER,             -- string: the key in the event's args
  value REAL,                    -- of the sample
  continued INTEGER NOT NULL     -- 1: a further series of the event in the row before; 0: first series of its event
) STRICT;

CREATE TABLE flow_text (         -- of rows of flow_unmatched: ids of flows that are texts, or more than 63 bits
  id INTEGER PRIMARY KEY,        -- in flow_unmatched
  flow_id TEXT NOT NULL          -- as in the trace
) STRICT;

CREATE TABLE event_argument (    -- arguments of events that have a row, in the trace's order: those with kernel_type, which
                                 -- is how performance models name the kernels of an operator; with --keep-args all
  event_table TEXT NOT NULL,     -- kernel, cpu_op, ...; a slice given as begin and end may have a row for each
  event_id INTEGER NOT NULL,     -- of a counter event with several series the first row
  args TEXT NOT NULL             -- JSON as in the trace, white space taken out
) STRICT;

CREATE TABLE issue (             -- what was wrong with the trace, counted
  kind TEXT NOT NULL,            -- what was wrong, a word
  severity TEXT NOT NULL,        -- info, warning, data_loss
  count INTEGER NOT NULL,        -- how often
  offset INTEGER,                -- first byte it was seen at, in the decompressed trace
  sample TEXT                    -- at most 200 characters
) STRICT;

CREATE TABLE kernel_name_sum (   -- kernel time by name over the whole trace
  name_id INTEGER PRIMARY KEY,   -- kernel_name
  n INTEGER NOT NULL,            -- executions
  total INTEGER NOT NULL,        -- ns; at most 2^63 - 1
  min INTEGER, max INTEGER,      -- shortest and longest, ns
  sum_of_squares REAL NOT NULL,  -- ns^2
  median REAL,                   -- mean of the middle one or two
  p50 INTEGER, p90 INTEGER, p99 INTEGER,  -- nearest rank
  known INTEGER NOT NULL         -- executions whose dur is known: what all figures but n are of
) STRICT;

CREATE TABLE packed_column (     -- columns of event tables, for whoever wants many rows at once. Of kernel and runtime_call
                                 -- they are second copies; python_call and flow_unmatched have no other (packed.sql)
  event_table TEXT NOT NULL,     -- kernel, runtime_call, python_call, flow_unmatched
  name TEXT NOT NULL,            -- of the column: ts, dur, name_id, kind; of kernels also stream_id, launch_id, cpu_op_id,
                                 -- stack_id, annotation_id, step_id, launch_config_id, pass; all of python_call and
                                 -- flow_unmatched. 0: unknown; kind, pass and ph: 1 for the first listed, ...
  block INTEGER NOT NULL,        -- 0, 1, 2 ...: block b has the rows from id 65536 b + 1 on
  n INTEGER NOT NULL,            -- rows in the block: 65536, fewer in the last one
  data BLOB NOT NULL,            -- their values, packed as src/index/column_codec.h says
  hash INTEGER NOT NULL,         -- XXH3 of data, 64 bits, signed: a reader takes no other bytes than those that were written
  PRIMARY KEY (event_table, name, block)
) STRICT;

CREATE TABLE packed_block (      -- the blocks of python_call and flow_unmatched: how many rows, and which times
  event_table TEXT NOT NULL,     -- one of these
  block INTEGER NOT NULL,        -- as in packed_column
  n INTEGER NOT NULL,            -- rows
  first_ts INTEGER,              -- the smallest ts; NULL: none is known
  last_ts INTEGER,               -- the largest
  latest_end INTEGER,            -- the largest ts + dur: which blocks have a call that is open at a time
  PRIMARY KEY (event_table, block)
) STRICT;
