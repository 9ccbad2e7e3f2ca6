#include "ingest/link/other_links.h"

#include <limits>
#include <string>
#include <vector>

#include "base/unknown.h"

namespace tracedb {
namespace {

constexpr std::string_view kFlowLetters = "stf";
constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();

std::int64_t process_of(const TraceStore& store, std::uint32_t thread) { return store.threads[thread - 1].process; }

void emit_slices(TraceStore& store, RowStream& rows) {
  store.slices.start();
  for (; const SliceRecord* slice = store.slices.peek(); store.slices.pop()) {
    const std::uint32_t id = rows.row(EventTable::kSlice, slice->args,
                                      {slice->ts - store.first_ts, slice->dur, id_cell(slice->category), slice->name,
                                       process_of(store, slice->track), slice->track});
    rows.argument(EventTable::kSlice, id, slice->end_args);
  }
  store.slices.release();
}

void emit_instants(TraceStore& store, RowStream& rows) {
  store.instants.start();
  for (; const InstantRecord* instant = store.instants.peek(); store.instants.pop()) {
    rows.row(EventTable::kInstant, instant->args,
             {instant->ts - store.first_ts, id_cell(instant->category), instant->name,
              process_of(store, instant->track), instant->track, instant->bytes});
  }
  store.instants.release();
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

void emit_flows(TraceStore& store, RowStream& rows, std::vector<TextFlowId>& text_flow_ids, FlowLinks& links) {
  FlowsByTime unmatched(store.spool(4));
  std::vector<FlowRecord> ends;
  store.flows.start();
  for (; const FlowRecord* flow = store.flows.peek(); store.flows.pop()) {
    if (!ends.empty() && ByFlow{}(ends.back(), *flow)) {
      match(store, ends, unmatched);
      links.add(ends);
      ends.clear();
    }
    ends.push_back(*flow);
  }
  match(store, ends, unmatched);
  links.add(ends);
  store.flows.release();
  if (unmatched.size() > 0) store.issues.add(IssueKind::kUnmatchedFlow, -1, {}, unmatched.size());
  unmatched.start();
  for (; const FlowRecord* flow = unmatched.peek(); unmatched.pop()) {
    const bool fits = flow->id.type == EventIdType::kNegative ||
                      (flow->id.type == EventIdType::kInteger && flow->id.number <= kLargest);
    const std::uint32_t id = rows.row(
        EventTable::kFlowUnmatched, flow->args,
        {flow->ts - store.first_ts, id_cell(flow->category), static_cast<std::int64_t>(kFlowLetters.find(flow->ph)),
         fits ? static_cast<std::int64_t>(flow->id.number) : kUnknownValue, process_of(store, flow->track),
         flow->track});
    if (!fits && flow->id.type != EventIdType::kNone) text_flow_ids.push_back({id, flow->id});
  }
}

void emit_other_events(TraceStore& store, RowStream& rows) {
  emit_slices(store, rows);
  emit_instants(store, rows);
}

}  // namespace tracedb
