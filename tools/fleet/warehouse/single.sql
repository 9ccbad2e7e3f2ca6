-- In place of cluster.sql where one server has everything.
CREATE VIEW IF NOT EXISTS kernel_rollup AS SELECT * FROM kernel_rollup_local;

CREATE VIEW IF NOT EXISTS loaded_trace AS SELECT * FROM loaded_trace_local;
