#include "ingest/link/flow_links.h"

#include <algorithm>
#include <limits>

#include "base/unknown.h"
#include "ingest/store/trace_store.h"

namespace tracedb {
namespace {

// More flows than this with one id are not compared: such an id says nothing about correlations.
constexpr std::size_t kMostStarts = 4;
constexpr std::uint64_t kLargestId = std::numeric_limits<std::int64_t>::max();

std::vector<std::uint32_t> streams_of_threads(const TraceStore& store) {
  std::vector<std::uint32_t> out;
  for (const ThreadInfo& thread : store.threads) {
    const auto found = store.stream_tracks.find(track_text(store.processes[thread.process - 1].pid, thread.tid));
    out.push_back(found == store.stream_tracks.end() ? 0 : found->second);
  }
  return out;
}

std::int64_t arrow_id(const EventId& id) {
  return id.type == EventIdType::kInteger && id.number <= kLargestId ? static_cast<std::int64_t>(id.number)
                                                                     : kUnknownValue;
}

FlowArrow arrow(const FlowRecord& start, const FlowRecord& end, std::uint32_t stream) {
  return {arrow_id(end.id), end.ts, start.ts, stream, start.track};
}

}  // namespace

FlowLinks::FlowLinks(const TraceStore& store)
    : by_id(store.spool(4)),
      needed(store.uncorrelated > 0 || store.calls.size() == 0 || store.operators_by_flow),
      by_start(store.spool(4)),
      origins(store.spool(4)),
      stream_of_thread_(streams_of_threads(store)) {}

void FlowLinks::add(const std::vector<FlowRecord>& ends) {
  if (ends.size() < 2 || ends.front().id.type == EventIdType::kNone) return;
  if (ends.size() == 2) return ends[0].ph == 's' ? add_one(ends[0], ends[1]) : add_one(ends[1], ends[0]);
  starts_.clear();
  for (const FlowRecord& flow : ends) {
    if (flow.ph == 's') starts_.push_back(flow);
  }
  if (starts_.empty() || starts_.size() == ends.size()) return;
  const auto earlier = [](const FlowRecord& a, const FlowRecord& b) { return a.ts < b.ts; };
  if (starts_.size() > 1) std::stable_sort(starts_.begin(), starts_.end(), earlier);
  for (const FlowRecord& flow : ends) {
    const std::uint32_t stream = flow.ph == 'f' ? stream_of_thread_[flow.track - 1] : 0;
    if (stream == 0) continue;
    const auto later = std::upper_bound(starts_.begin(), starts_.end(), flow, earlier);
    if (later == starts_.begin()) continue;
    if (needed) by_start.push(arrow(*(later - 1), flow, stream));
    if (arrow_id(flow.id) == kUnknownValue || starts_.size() > kMostStarts) continue;
    for (auto start = starts_.begin(); start != later; ++start) by_id.push(arrow(*start, flow, stream));
  }
}

void FlowLinks::add_one(const FlowRecord& start, const FlowRecord& end) {
  if (start.ph != 's' || end.ph != 'f' || start.ts > end.ts) return;
  const std::uint32_t stream = stream_of_thread_[end.track - 1];
  if (stream == 0) return;
  const FlowArrow only = arrow(start, end, stream);
  if (needed) by_start.push(only);
  if (only.id != kUnknownValue) by_id.push(only);
}

}  // namespace tracedb
