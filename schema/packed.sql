-- Event tables whose rows are in no table of an index: packed_column (core.sql) has their columns, at a quarter of the
-- size. The programs and the extension of SQLite make tables of them, and the view python_calls (sql_views.sql); other
-- clients of SQLite do not see them.

CREATE TABLE python_call (       -- one row per python function call
  id INTEGER PRIMARY KEY,
  ts INTEGER NOT NULL,
  dur INTEGER,
  thread_id INTEGER NOT NULL,
  stack_id INTEGER NOT NULL      -- the call path that ends in this call
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
