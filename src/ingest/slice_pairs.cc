#include "ingest/slice_pairs.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "ingest/trace_store.h"

namespace tracedb {
namespace {

void end_slice(TraceStore& store, std::vector<EdgeRecord>& open, const EdgeRecord& end) {
  const std::string_view name = end.name == 0 ? std::string_view() : store.strings.text(end.name);
  const auto match = std::find_if(open.rbegin(), open.rend(),
                                  [&](const EdgeRecord& begin) { return name.empty() || begin.name == end.name; });
  KindCount& count = store.kind(end.category, std::string_view(&end.ph, 1));
  if (match == open.rend()) {
    ++count.skipped[static_cast<std::size_t>(SkipReason::kEndWithoutBegin)];
    store.issues.add(IssueKind::kEndWithoutBegin, -1, name);
    return;
  }
  ++count.skipped[static_cast<std::size_t>(SkipReason::kEndOfSlice)];
  store.slices.push(
      {match->ts, end.ts - match->ts, match->category, match->name, match->track, match->args, end.args, 0});
  open.erase(std::next(match).base());
}

void keep_open(TraceStore& store, std::vector<EdgeRecord>& open) {
  for (const EdgeRecord& begin : open) {
    store.issues.add(IssueKind::kBeginWithoutEnd, -1, store.strings.text(begin.name));
    store.slices.push({begin.ts, kUnset, begin.category, begin.name, begin.track, begin.args, 0, 0});
  }
  open.clear();
}

}  // namespace

bool ByPair::group_before(const EdgeRecord& a, const EdgeRecord& b) {
  // An E may come without its category.
  const auto category = [](const EdgeRecord& edge) { return edge.kind == PairKind::kThread ? 0 : edge.category; };
  return std::tuple(a.kind, a.id.type, a.id.number, a.scope, category(a)) <
         std::tuple(b.kind, b.id.type, b.id.number, b.scope, category(b));
}

void pair_slices(TraceStore& store) {
  std::vector<EdgeRecord> open;  // of the group at hand
  store.edges.start();
  for (; const EdgeRecord* edge = store.edges.peek(); store.edges.pop()) {
    if (!open.empty() && ByPair::group_before(open.back(), *edge)) keep_open(store, open);
    if (edge->is_end != 0) {
      end_slice(store, open, *edge);
    } else {
      open.push_back(*edge);
    }
  }
  keep_open(store, open);
  store.edges.release();
}

}  // namespace tracedb
