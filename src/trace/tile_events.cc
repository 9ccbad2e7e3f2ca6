#include "trace/tile_events.h"

#include <algorithm>
#include <array>
#include <set>

namespace tracedb {
namespace {

struct Entry {
  std::string_view name;
  TileEvent event;
};

constexpr std::array kNames = {
    Entry{"INSTR_EVENT_0", TileEvent::kKernelStart},  Entry{"Event0", TileEvent::kKernelStart},
    Entry{"InstrEvent0", TileEvent::kKernelStart},    Entry{"INSTR_EVENT_1", TileEvent::kKernelEnd},
    Entry{"Event1", TileEvent::kKernelEnd},           Entry{"InstrEvent1", TileEvent::kKernelEnd},
    Entry{"LOCK_STALL", TileEvent::kLockStall},       Entry{"LockStall", TileEvent::kLockStall},
    Entry{"STREAM_STALL", TileEvent::kStreamStall},   Entry{"StreamStall", TileEvent::kStreamStall},
    Entry{"MEMORY_STALL", TileEvent::kMemoryStall},   Entry{"MemoryStall", TileEvent::kMemoryStall},
    Entry{"CASCADE_STALL", TileEvent::kCascadeStall}, Entry{"CascadeStall", TileEvent::kCascadeStall},
    Entry{"INSTR_VECTOR", TileEvent::kVector},        Entry{"VectorInstr", TileEvent::kVector},
    Entry{"InstrVector", TileEvent::kVector},
};

}  // namespace

TileEvent tile_event(std::string_view name) {
  const auto* const found =
      std::find_if(kNames.begin(), kNames.end(), [name](const Entry& entry) { return entry.name == name; });
  return found == kNames.end() ? TileEvent::kOther : found->event;
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

}  // namespace tracedb
