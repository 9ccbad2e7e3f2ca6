#include "ingest/store/slice_pairs.h"

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/unknown.h"
#include "ingest/store/tile_pairs.h"
#include "ingest/store/trace_store.h"

namespace tracedb {
namespace {

// The begins of one group that no end closed yet. Each knows the next open one of its name below it, so that an end
// finds its begin at once however many others are open.
class OpenBegins {
 public:
  explicit OpenBegins(TraceStore& store) : store_(store), innermost_(store.strings.size() + 1) {}

  [[nodiscard]] bool empty() const { return open_.empty(); }
  [[nodiscard]] const SliceEndpointRecord& last() const { return open_.back().edge; }

  void push(const SliceEndpointRecord& edge) {
    open_.push_back({edge, innermost_[edge.name], false});
    innermost_[edge.name] = static_cast<std::uint32_t>(open_.size());
  }

  void end(const SliceEndpointRecord& end) {
    const std::string_view name = end.name == 0 ? std::string_view() : store_.strings.text(end.name);
    const std::size_t match = name.empty() ? open_.size() : innermost_[end.name];
    EventCount& count = store_.kind(end.category, std::string_view(&end.ph, 1));
    if (match == 0) {
      ++count.skipped[static_cast<std::size_t>(SkipReason::kEndWithoutBegin)];
      store_.issues.add(IssueKind::kEndWithoutBegin, -1, name);
      return;
    }
    ++count.skipped[static_cast<std::size_t>(SkipReason::kEndOfSlice)];
    const SliceEndpointRecord& begin = open_[match - 1].edge;
    store_.slices.push({begin.ts, end.ts - begin.ts, begin.category, begin.name, begin.track, begin.args, end.args, 0});
    close(match - 1);
  }

  // At the end of the group.
  void keep_open() {
    for (const Begin& begin : open_) {
      innermost_[begin.edge.name] = 0;
      if (begin.closed) continue;
      const SliceEndpointRecord& edge = begin.edge;
      store_.issues.add(IssueKind::kBeginWithoutEnd, -1, store_.strings.text(edge.name));
      store_.slices.push({edge.ts, kUnknownValue, edge.category, edge.name, edge.track, edge.args, 0, 0});
    }
    open_.clear();
    closed_ = 0;
  }

 private:
  struct Begin {
    SliceEndpointRecord edge;
    std::uint32_t below;  // position + 1 of the next open one of its name; 0: none
    bool closed;
  };

  // The innermost of its name. The last one of all is never closed.
  void close(std::size_t position) {
    innermost_[open_[position].edge.name] = open_[position].below;
    open_[position].closed = true;
    ++closed_;
    for (; !open_.empty() && open_.back().closed; --closed_) open_.pop_back();
    if (closed_ > open_.size() / 2 + kFew) compact();
  }

  void compact() {
    const std::vector<Begin> all = std::exchange(open_, {});
    for (const Begin& begin : all) innermost_[begin.edge.name] = 0;
    for (const Begin& begin : all) {
      if (!begin.closed) push(begin.edge);
    }
    closed_ = 0;
  }

  static constexpr std::size_t kFew = 64;
  TraceStore& store_;
  std::vector<Begin> open_;
  std::size_t closed_ = 0;                // in open_, between others
  std::vector<std::uint32_t> innermost_;  // by name: position + 1 in open_; 0: none
};

}  // namespace

bool ByPair::group_before(const SliceEndpointRecord& a, const SliceEndpointRecord& b) {
  // An E may come without its category.
  const auto category = [](const SliceEndpointRecord& edge) {
    return edge.kind == PairKind::kThread || edge.kind == PairKind::kTile ? 0 : edge.category;
  };
  return std::tuple(a.kind, a.id.type, a.id.number, a.scope, category(a)) <
         std::tuple(b.kind, b.id.type, b.id.number, b.scope, category(b));
}

void pair_slices(TraceStore& store) {
  store.endpoints.start();
  if (store.endpoints.size() == 0) return;
  OpenBegins open(store);  // of the group at hand
  TilePairs tiles(store);
  std::optional<SliceEndpointRecord> last;  // of a tile
  for (; const SliceEndpointRecord* edge = store.endpoints.peek(); store.endpoints.pop()) {
    if (last && ByPair::group_before(*last, *edge)) tiles.finish();
    last.reset();
    if (edge->kind == PairKind::kTile) {
      tiles.add(*edge);
      last = *edge;
      continue;
    }
    if (!open.empty() && ByPair::group_before(open.last(), *edge)) open.keep_open();
    if (edge->is_end != 0) {
      open.end(*edge);
    } else {
      open.push(*edge);
    }
  }
  open.keep_open();
  tiles.finish();
  store.endpoints.release();
}

}  // namespace tracedb
