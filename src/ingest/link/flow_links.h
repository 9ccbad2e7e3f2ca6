// Flows from the CPU to the device, as the profiler draws them: from a point on a thread, where a launch begins, to the
// start of a kernel or memory operation on its stream. Two uses. Where a device event carries no correlation, or one
// that no recorded call has, they are the only evidence of its launch: what is open where the flow begins launched what
// starts where it ends. Elsewhere they confirm or contradict the links that correlations make.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <vector>

#include "ingest/link/launch_table.h"
#include "ingest/link/row_stream.h"
#include "ingest/store/external_sorter.h"
#include "ingest/store/records.h"
#include "ingest/store/trace_store.h"

namespace tracedb {

// One flow to a device event. Times absolute, in ns.
struct FlowArrow {
  std::int64_t id;  // of the flow, which profilers make the correlation; kUnknownValue where it is no integer
  std::int64_t end_ts;
  std::uint32_t stream, thread;  // where it ends, where it starts
  std::int64_t start_ts;
  auto operator<=>(const FlowArrow&) const = default;
};
inline FlowArrow key_of(const FlowArrow& arrow) { return arrow; }

struct ByFlowStart {
  bool operator()(const FlowArrow& a, const FlowArrow& b) const { return a.start_ts < b.start_ts; }
};

// A flow with what is open where it starts.
struct FlowOrigin {
  std::int64_t end_ts;
  std::uint32_t stream;
  Origin origin;
};
struct ByFlowEnd {
  bool operator()(const FlowOrigin& a, const FlowOrigin& b) const {
    return a.end_ts != b.end_ts ? a.end_ts < b.end_ts : a.stream < b.stream;
  }
};

// Collects the flows of a trace while it is read; the link passes take from it what they need.
class FlowLinks {
 public:
  explicit FlowLinks(const TraceStore& store);

  // All ends of one flow. Only those on streams count, and for each of them only starts that are not later.
  void add(const std::vector<FlowRecord>& ends);

  ExternalSorter<FlowArrow, std::less<>> by_id;
  // Only those by which links must be made: all, or those whose id is no call's correlation.
  bool needed;
  bool for_users;  // also where the launch is known: another thread may have asked for it
  ExternalSorter<FlowArrow, ByFlowStart> by_start;
  ExternalSorter<FlowOrigin, ByFlowEnd> origins;

 private:
  [[nodiscard]] FlowArrow arrow(const FlowRecord& start, const FlowRecord& end, std::uint32_t stream) const;
  [[nodiscard]] bool makes_link(const FlowArrow& flow) const {
    return needed || !store_.correlations.has_call(flow.id);
  }
  void add_one(const FlowRecord& start, const FlowRecord& end);

  const TraceStore& store_;
  std::vector<std::uint32_t> stream_of_thread_;  // by thread id - 1: the stream drawn there; 0: none
  std::vector<FlowRecord> starts_;               // scratch
};

using FlowTable = PagedTable<FlowArrow, std::less<>>;

// Events that need no links: flow ends without a partner, slices and instants, to rows in time order.

// `flow_ids` of flow_unmatched rows are integers; text and numbers above 63 bits are collected in TextFlowIds instead.
struct TextFlowId {
  std::uint32_t row;
  EventId id;
};

// Releases store.flows. `links` takes the flows that end on the device.
void emit_flows(TraceStore& store, RowStream& rows, std::vector<TextFlowId>& text_flow_ids, FlowLinks& links);
void emit_other_events(TraceStore& store, RowStream& rows);

}  // namespace tracedb
