#include "ingest/store/slice_pairs.h"

#include <fmt/format.h>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/unknown.h"
#include "ingest/store/trace_store.h"
#include "trace/tile_events.h"

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

namespace {

std::uint64_t key_of(const SliceEndpointRecord& edge) { return (std::uint64_t{edge.track} << 32U) | edge.name; }

std::string pid_text(const TrackKey& pid) {
  return pid.number != kUnknownValue ? std::to_string(pid.number) : pid.text;
}

}  // namespace

void TilePairs::add(const SliceEndpointRecord& edge) {
  process_ = store_.threads[edge.track - 1].process;
  const TileEvent event = event_of(edge.name);
  if (event == TileEvent::kKernelStart && edge.is_end == 0) {
    starts_.push_back(edge.ts);
    start_name_ = edge.name;
  }
  if (event == TileEvent::kKernelEnd && edge.is_end != 0) {
    ends_.push_back(edge.ts);
    end_name_ = edge.name;
  }
  if (edge.is_end == 0) {
    const auto [entry, is_new] = open_.try_emplace(key_of(edge), edge);
    if (is_new) return;
    keep_open(entry->second);
    entry->second = edge;
    return;
  }
  const auto found = open_.find(key_of(edge));
  if (found == open_.end()) return keep_end(edge);
  const SliceEndpointRecord& begin = found->second;
  ++store_.kind(edge.category, std::string_view(&edge.ph, 1))
        .skipped[static_cast<std::size_t>(SkipReason::kEndOfSlice)];
  store_.slices.push({begin.ts, edge.ts - begin.ts, begin.category, begin.name, begin.track, begin.args, edge.args, 0});
  open_.erase(found);
}

void TilePairs::finish() {
  if (process_ == 0) return;
  for (const auto& [key, begin] : open_) keep_open(begin);
  open_.clear();
  add_kernels();
  starts_.clear();
  ends_.clear();
  process_ = 0;
}

void TilePairs::keep_open(const SliceEndpointRecord& begin) {
  store_.issues.add(IssueKind::kBeginWithoutEnd, -1, store_.strings.text(begin.name));
  store_.slices.push({begin.ts, kUnknownValue, begin.category, begin.name, begin.track, begin.args, 0, 0});
}

void TilePairs::keep_end(const SliceEndpointRecord& end) {
  store_.issues.add(IssueKind::kEndWithoutBegin, -1,
                    end.name == 0 ? std::string_view() : store_.strings.text(end.name));
  auto instant = record_of<InstantRecord>(end.ts, 0, end.name, end.track);
  instant.category = end.category;
  instant.args = end.args;
  store_.instants.push(instant);
}

void TilePairs::add_kernels() {
  if (!is_core_process(store_.processes[process_ - 1].name)) return;
  const KernelPairs pairs = pair_kernels(starts_, ends_);
  if (pairs.kernels.empty()) return;
  auto record = record_of<DeviceRecord>(
      0, 0, store_.string_id(fmt::format("{}..{}", store_.strings.text(start_name_), store_.strings.text(end_name_))),
      store_.stream_id({kUnknownValue, "AI Engine"}, {kUnknownValue, label_of(process_)}));
  for (const TileKernel& kernel : pairs.kernels) {
    record.ts = kernel.start;
    record.dur = kernel.duration();
    store_.device_events.push(record);
  }
  store_.derived_kernels += pairs.kernels.size();
}

TileEvent TilePairs::event_of(std::uint32_t name) {
  if (name == 0) return TileEvent::kOther;
  for (auto id = static_cast<std::uint32_t>(events_.size()); id <= name; ++id) {
    events_.push_back(id == 0 ? TileEvent::kOther : tile_event(store_.strings.text(id)));
  }
  return events_[name];
}

const std::string& TilePairs::label_of(std::uint32_t process) {
  if (labels_.empty()) {
    std::vector<TileProcess> cores;
    std::vector<std::size_t> positions;
    labels_.resize(store_.processes.size());
    for (std::size_t i = 0; i < store_.processes.size(); ++i) {
      const ProcessInfo& info = store_.processes[i];
      if (!is_core_process(info.name)) continue;
      cores.push_back({info.name, pid_text(info.pid)});
      positions.push_back(i);
    }
    std::vector<std::string> labels = tile_labels(cores);
    for (std::size_t i = 0; i < labels.size(); ++i) labels_[positions[i]] = std::move(labels[i]);
  }
  return labels_[process - 1];
}

}  // namespace tracedb
