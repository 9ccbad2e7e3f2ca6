#include "ingest/link/flow_links.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/unknown.h"

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

constexpr std::string_view kFlowLetters = "stf";

std::int64_t process_of(const TraceStore& store, std::uint32_t thread) { return store.threads[thread - 1].process; }

void emit_slices(TraceStore& store, RowStream& rows) {
  const std::vector<std::uint32_t> streams = streams_of_threads(store);
  store.slices.drain([&](const SliceRecord& slice) {
    const std::uint32_t id = rows.row(EventTable::kSlice, slice.args,
                                      {slice.ts - store.first_ts, slice.dur, id_cell(slice.category), slice.name,
                                       process_of(store, slice.track), slice.track});
    rows.argument(EventTable::kSlice, id, slice.end_args);
    if (slice.is_sync == 0) return;
    const std::uint32_t stream = slice.sync_stream != 0 ? slice.sync_stream : streams[slice.track - 1];
    rows.row(EventTable::kSync, 0,
             {slice.ts - store.first_ts, slice.dur, slice.name, id_cell(stream), slice.sync_correlation,
              slice.wait_stream, slice.wait_correlation});
  });
}

// Makes rows of memory_event, in which what follows from the rows before is 0.
class MemoryEvents {
 public:
  void add(const InstantRecord& event, std::uint32_t instant, TraceStore& store, RowStream& rows) {
    if (event.device_type == kUnknownValue || event.bytes < kLeastNumber) return;
    Device& device = devices_[{event.device_type, event.device_id}];
    const std::int64_t change = change_of(device.allocated, event.total_allocated, event.bytes);
    const std::int64_t reserved = change_of(device.reserved, event.total_reserved, 0);
    const std::uint32_t row = ++rows_;
    std::int64_t ended = event.address == kUnknownValue ? kUnknownValue : 0;
    if (event.address != kUnknownValue) {
      auto& rows_alive = device.alive[process_of(store, event.track)];
      const auto alive = rows_alive.find(event.address);
      const bool is_alive = alive != rows_alive.end();
      if (is_alive) ended = row - alive->second;
      if (is_alive && event.bytes > 0) store.issues.add(IssueKind::kAllocatedTwice, -1, {});
      if (is_alive && event.bytes < 0) rows_alive.erase(alive);
      if (event.bytes > 0) rows_alive[event.address] = row;
    }
    rows.row(EventTable::kMemoryEvent, 0, {instant, event.device_type, event.device_id, ended, change, reserved});
  }

 private:
  struct Device {
    std::int64_t allocated = 0, reserved = 0;
    // Row of the allocation by process and address: each has its own.
    std::unordered_map<std::int64_t, std::unordered_map<std::int64_t, std::uint32_t>> alive;
  };
  // From the last total to `now`, but for `bytes`; modulo 2^64, as whoever wrote the trace chose its numbers.
  static std::int64_t change_of(std::int64_t& last, std::int64_t now, std::int64_t bytes) {
    const auto out = static_cast<std::int64_t>(static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(last) -
                                               static_cast<std::uint64_t>(bytes));
    if (now == kUnknownValue || out < kLeastNumber) return kUnknownValue;
    last = now;
    return out;
  }

  std::map<std::pair<std::int64_t, std::int64_t>, Device> devices_;
  std::uint32_t rows_ = 0;
};

void emit_instants(TraceStore& store, RowStream& rows) {
  MemoryEvents memory;
  store.instants.drain([&](const InstantRecord& instant) {
    const std::uint32_t id = rows.row(EventTable::kInstant, instant.args,
                                      {instant.ts - store.first_ts, id_cell(instant.category), instant.name,
                                       process_of(store, instant.track), instant.track, instant.bytes});
    memory.add(instant, id, store, rows);
  });
}

using FlowsByTime = ExternalSorter<FlowRecord, ByTimestamp>;

// The ends of one flow: those without a partner go to `unmatched`.
void match(TraceStore& store, const std::vector<FlowRecord>& ends, FlowsByTime& unmatched) {
  bool start = false;
  bool end = false;
  for (const FlowRecord& flow : ends) {
    start |= flow.ph == 's';
    end |= flow.ph == 'f';
  }
  for (const FlowRecord& flow : ends) {
    const bool bound = flow.id.type != EventIdType::kNone;
    const bool matched = bound && (flow.ph == 's' ? end : flow.ph == 'f' ? start : start && end);
    if (matched) {
      EventCount& count = store.kind(flow.category, std::string_view(&flow.ph, 1));
      ++count.skipped[static_cast<std::size_t>(SkipReason::kMatchedFlow)];
    } else {
      unmatched.push(flow);
    }
  }
}

}  // namespace

FlowLinks::FlowLinks(const TraceStore& store)
    : by_id(store.spool(4)),
      needed(store.lacks_all_launches() || store.operators_by_flow || store.handoffs.size() > 0),
      for_users(store.operators_by_flow || store.handoffs.size() > 0),
      by_start(store.spool(4)),
      origins(store.spool(4)),
      store_(store),
      stream_of_thread_(streams_of_threads(store)) {}

FlowArrow FlowLinks::arrow(const FlowRecord& start, const FlowRecord& end, std::uint32_t stream) const {
  return {arrow_id(end.id), end.ts, stream, store_.caller_on(start.track), start.ts};
}

void FlowLinks::add(const std::vector<FlowRecord>& ends) {
  if (ends.size() < 2 || ends.front().id.type == EventIdType::kNone) return;
  if (ends.size() == 2) return ends[0].ph == 's' ? add_one(ends[0], ends[1]) : add_one(ends[1], ends[0]);
  starts_.clear();
  for (const FlowRecord& flow : ends) {
    if (flow.ph == 's') starts_.push_back(flow);
  }
  if (starts_.empty() || starts_.size() == ends.size()) return;
  const auto earlier = [](const FlowRecord& a, const FlowRecord& b) { return a.ts < b.ts; };
  if (starts_.size() > 1) std::ranges::stable_sort(starts_, earlier);
  for (const FlowRecord& flow : ends) {
    const std::uint32_t stream = flow.ph == 'f' ? stream_of_thread_[flow.track - 1] : 0;
    if (stream == 0) continue;
    const auto later = std::upper_bound(starts_.begin(), starts_.end(), flow, earlier);
    if (later == starts_.begin()) continue;
    if (const FlowArrow last = arrow(*(later - 1), flow, stream); makes_link(last)) by_start.push(last);
    if (arrow_id(flow.id) == kUnknownValue || starts_.size() > kMostStarts) continue;
    for (auto start = starts_.begin(); start != later; ++start) by_id.push(arrow(*start, flow, stream));
  }
}

void FlowLinks::add_one(const FlowRecord& start, const FlowRecord& end) {
  if (start.ph != 's' || end.ph != 'f' || start.ts > end.ts) return;
  const std::uint32_t stream = stream_of_thread_[end.track - 1];
  if (stream == 0) return;
  const FlowArrow only = arrow(start, end, stream);
  if (makes_link(only)) by_start.push(only);
  if (only.id != kUnknownValue) by_id.push(only);
}

void emit_flows(TraceStore& store, RowStream& rows, std::vector<TextFlowId>& text_flow_ids, FlowLinks& links) {
  FlowsByTime unmatched(store.spool(4));
  std::vector<FlowRecord> ends;
  store.flows.drain([&](const FlowRecord& flow) {
    if (!ends.empty() && ByFlow{}(ends.back(), flow)) {
      match(store, ends, unmatched);
      links.add(ends);
      ends.clear();
    }
    ends.push_back(flow);
  });
  match(store, ends, unmatched);
  links.add(ends);
  store.handoffs.drain([&](const HandoffRecord& work) {
    links.by_start.push({kUnknownValue, work.ts, work.stream, work.track, work.asked_ts});
  });
  if (unmatched.size() > 0) store.issues.add(IssueKind::kUnmatchedFlow, -1, {}, unmatched.size());
  unmatched.drain([&](const FlowRecord& flow) {
    const bool fits = flow.id.type == EventIdType::kNegative ||
                      (flow.id.type == EventIdType::kInteger && flow.id.number <= kLargestId);
    const std::uint32_t id = rows.row(
        EventTable::kFlowUnmatched, flow.args,
        {flow.ts - store.first_ts, id_cell(flow.category), static_cast<std::int64_t>(kFlowLetters.find(flow.ph)),
         fits ? static_cast<std::int64_t>(flow.id.number) : kUnknownValue, process_of(store, flow.track), flow.track});
    if (!fits && flow.id.type != EventIdType::kNone) text_flow_ids.push_back({id, flow.id});
  });
}

void emit_other_events(TraceStore& store, RowStream& rows) {
  emit_slices(store, rows);
  emit_instants(store, rows);
}

}  // namespace tracedb
