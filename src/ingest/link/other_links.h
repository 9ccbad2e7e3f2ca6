// Events that need no links: flow ends without a partner, slices and instants, to rows in time order.
#pragma once

#include <vector>

#include "ingest/link/flow_links.h"
#include "ingest/link/row_stream.h"
#include "ingest/store/trace_store.h"

namespace tracedb {

// `flow_ids` of flow_unmatched rows are integers; text and numbers above 63 bits are collected in TextFlowIds instead.
struct TextFlowId {
  std::uint32_t row;
  EventId id;
};

// Releases store.flows. `links` takes the flows that end on the device.
void emit_flows(TraceStore& store, RowStream& rows, std::vector<TextFlowId>& text_flow_ids, FlowLinks& links);
void emit_other_events(TraceStore& store, RowStream& rows);

}  // namespace tracedb
