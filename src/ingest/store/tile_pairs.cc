#include "ingest/store/tile_pairs.h"

#include <fmt/format.h>

#include "base/unknown.h"
#include "ingest/store/trace_store.h"
#include "trace/kernel_pairs.h"

namespace tracedb {
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
  InstantRecord instant{};
  instant.ts = end.ts;
  instant.bytes = kUnknownValue;
  instant.category = end.category;
  instant.name = end.name;
  instant.track = end.track;
  instant.args = end.args;
  store_.instants.push(instant);
}

void TilePairs::add_kernels() {
  if (!is_core_process(store_.processes[process_ - 1].name)) return;
  const KernelPairs pairs = pair_kernels(starts_, ends_);
  if (pairs.kernels.empty()) return;
  DeviceRecord record{};
  record.correlation = record.external_id = record.graph_id_or_bytes = record.graph_node_id_or_bandwidth =
      kUnknownValue;
  record.name =
      store_.string_id(fmt::format("{}..{}", store_.strings.text(start_name_), store_.strings.text(end_name_)));
  record.stream = store_.stream_id({kUnknownValue, "AI Engine"}, {kUnknownValue, label_of(process_)});
  record.type = DeviceEventType::kKernel;
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
