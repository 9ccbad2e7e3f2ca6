// Events that need no links: slices, instants and flow ends without a partner, to rows in time order.
#pragma once

#include "ingest/row_stream.h"
#include "ingest/trace_store.h"

namespace tracedb {

// `flow_ids` of flow_unmatched rows are integers; text and numbers above 63 bits are collected in TextFlowIds instead.
struct TextFlowId {
  std::uint32_t row;
  EventId id;
};

void emit_other_events(TraceStore& store, RowStream& rows, std::vector<TextFlowId>& text_flow_ids);

}  // namespace tracedb
