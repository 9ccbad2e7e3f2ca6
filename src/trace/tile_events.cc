#include "trace/tile_events.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace tracedb {
namespace {

constexpr std::pair<std::string_view, TileEvent> kNames[] = {
    {"INSTR_EVENT_0", TileEvent::kKernelStart},  {"Event0", TileEvent::kKernelStart},
    {"InstrEvent0", TileEvent::kKernelStart},    {"INSTR_EVENT_1", TileEvent::kKernelEnd},
    {"Event1", TileEvent::kKernelEnd},           {"InstrEvent1", TileEvent::kKernelEnd},
    {"LOCK_STALL", TileEvent::kLockStall},       {"LockStall", TileEvent::kLockStall},
    {"STREAM_STALL", TileEvent::kStreamStall},   {"StreamStall", TileEvent::kStreamStall},
    {"MEMORY_STALL", TileEvent::kMemoryStall},   {"MemoryStall", TileEvent::kMemoryStall},
    {"CASCADE_STALL", TileEvent::kCascadeStall}, {"CascadeStall", TileEvent::kCascadeStall},
    {"INSTR_VECTOR", TileEvent::kVector},        {"VectorInstr", TileEvent::kVector},
    {"InstrVector", TileEvent::kVector},
};

// Takes marks in time order. Marks that are less than `gap` behind one of their kind are no news.
KernelPairs walk(std::span<const std::int64_t> starts, std::span<const std::int64_t> ends, std::int64_t gap) {
  enum class State { kBefore, kOpen, kEnded } state = State::kBefore;
  std::int64_t mark = 0;  // the start of the open kernel, or the end of the last one
  KernelPairs pairs;
  const auto take_end = [&](std::int64_t time) {
    if (state == State::kOpen && time > mark) {
      pairs.kernels.push_back({mark, time});
      state = State::kEnded;
      mark = time;
    } else {
      ++(state == State::kEnded && time - mark < gap ? pairs.duplicates : pairs.orphan_ends);
    }
  };
  std::size_t end = 0;
  for (const std::int64_t start : starts) {
    for (; end < ends.size() && ends[end] <= start; ++end) take_end(ends[end]);
    if (state == State::kOpen && start - mark < gap) {
      ++pairs.duplicates;
      continue;
    }
    if (state == State::kOpen) ++pairs.orphan_starts;
    state = State::kOpen;
    mark = start;
  }
  for (; end < ends.size(); ++end) take_end(ends[end]);
  if (state == State::kOpen) ++pairs.orphan_starts;
  return pairs;
}

std::int64_t lower_quartile(const std::vector<TileKernel>& kernels) {
  if (kernels.empty()) return 0;
  std::vector<std::int64_t> durations;
  durations.reserve(kernels.size());
  for (const TileKernel& kernel : kernels) durations.push_back(kernel.duration());
  const auto quarter = durations.begin() + static_cast<std::ptrdiff_t>((durations.size() - 1) / 4);
  std::nth_element(durations.begin(), quarter, durations.end());
  return *quarter;
}

}  // namespace

TileEvent tile_event(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name, &std::pair<std::string_view, TileEvent>::first);
  return found == std::end(kNames) ? TileEvent::kOther : found->second;
}

bool names_tile_event(std::string_view json) {
  return std::ranges::any_of(kNames, [&](const auto& known) {
    const std::string quoted = '"' + std::string(known.first) + '"';
    return !known.first.starts_with("Event") && json.find(quoted) != std::string_view::npos;
  });
}

bool is_core_process(std::string_view name) { return name.find("core_trace") != std::string_view::npos; }

std::vector<std::string> tile_labels(std::span<const TileProcess> processes) {
  constexpr std::string_view kFor = " for ";
  std::vector<std::string> labels;
  std::set<std::string> taken;
  for (const TileProcess& process : processes) {
    const std::size_t last = process.name.rfind(kFor);
    std::string label(last == std::string_view::npos ? process.name : process.name.substr(last + kFor.size()));
    if (label.empty() || taken.contains(label)) label += (label.empty() ? "(pid " : " (pid ") + process.pid + ")";
    taken.insert(label);
    labels.push_back(std::move(label));
  }
  return labels;
}

KernelPairs pair_kernels(std::span<const std::int64_t> starts, std::span<const std::int64_t> ends,
                         double duplicate_gap) {
  // Nothing is a duplicate in the first walk: repeated starts shorten a few kernels, which the quartile bears.
  const std::int64_t usual = lower_quartile(walk(starts, ends, 0).kernels);
  return walk(starts, ends, static_cast<std::int64_t>(duplicate_gap * static_cast<double>(usual)));
}

}  // namespace tracedb
