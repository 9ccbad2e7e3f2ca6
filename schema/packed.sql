-- Event tables whose rows are in no table of an index: packed_column (core.sql) has their columns, at a quarter of the
-- size. The programs and the extension of SQLite make tables of them, and the view python_calls (sql_views.sql); other
-- clients of SQLite do not see them. They are all of packed_block; packed_column has copies of columns of others, too.

CREATE TABLE python_call (       -- one row per python function call
  id INTEGER PRIMARY KEY,
  ts INTEGER NOT NULL,
  dur INTEGER,
  thread_id INTEGER NOT NULL,
  stack_id INTEGER NOT NULL      -- the call path that ends in this call
) STRICT;

CREATE TABLE memory_event (      -- allocations and frees that the trace describes, in order of time
  id INTEGER PRIMARY KEY,
  instant_id INTEGER NOT NULL,   -- its row in instant, which has the time, the bytes and the thread
  device_type INTEGER NOT NULL,  -- c10: 0 CPU, 1 CUDA, 6 HIP, 9 XLA, 12 XPU, 13 MPS, 19 MTIA, 20 other
  device_id INTEGER,             -- -1: of the CPU
  ended INTEGER,                 -- how many rows before it has the allocation of its address that it ends; 0: none is alive;
                                 -- NULL: no address is recorded
  total_change INTEGER,          -- total allocated, less that of the event before on the device (at first 0) and its bytes:
                                 -- 0 but for what is not recorded; NULL: no total is recorded
  reserved_change INTEGER        -- total reserved, less that of the event before on the device (at first 0)
) STRICT;

CREATE TABLE flow_unmatched (    -- ends of flow arrows without a partner
  id INTEGER PRIMARY KEY,
  ts INTEGER,
  category_id INTEGER,
  ph TEXT,                       -- s: start without end; f: end without start; t: step without either
  flow_id ANY,                   -- integer; text where the trace has text that is no number or more than 63 bits
  process_id INTEGER,
  thread_id INTEGER
) STRICT;
