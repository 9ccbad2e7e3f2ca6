// The names of AI Engine traces: events of a tile, old and new spelling, and the processes that stand for tiles.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

enum class TileEvent : std::uint8_t {
  kOther,
  kKernelStart,  // INSTR_EVENT_0: what the kernel puts before its work
  kKernelEnd,    // INSTR_EVENT_1
  kLockStall,
  kStreamStall,
  kMemoryStall,
  kCascadeStall,
  kVector,  // INSTR_VECTOR
};

TileEvent tile_event(std::string_view name);

// Whether the process is a core, and not the memory of one, a memory tile or a shim: "core_trace for tile2,1".
bool is_core_process(std::string_view name);

// How the tiles of a trace are called: what stands behind the last " for " of the name of their process, or all of it.
// Where several processes would be called the same, all but the first get their pid: "tile2,1 (pid 7)".
struct TileProcess {
  std::string_view name;
  std::string pid;
};
std::vector<std::string> tile_labels(std::span<const TileProcess> processes);

}  // namespace tracedb
