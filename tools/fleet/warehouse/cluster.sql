-- On each server of a cluster that remote_servers calls "fleet": what the queries ask, over all of them. A trace is whole
-- on one server. A server that is down makes a query fail; never set skip_unavailable_shards.
CREATE TABLE IF NOT EXISTS kernel_rollup AS kernel_rollup_local
ENGINE = Distributed(fleet, currentDatabase(), kernel_rollup_local, trace_id);

CREATE TABLE IF NOT EXISTS loaded_trace AS loaded_trace_local
ENGINE = Distributed(fleet, currentDatabase(), loaded_trace_local, trace_id);
