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
// Whether JSON has, in quotes, the name of one of these events; Event0 and Event1 are no sign, as others use them, too.
bool names_tile_event(std::string_view json);

// Whether the process is a core, and not the memory of one, a memory tile or a shim: "core_trace for tile2,1".
bool is_core_process(std::string_view name);

// How the tiles of a trace are called: what stands behind the last " for " of the name of their process, or all of it.
// Where several processes would be called the same, all but the first get their pid: "tile2,1 (pid 7)".
struct TileProcess {
  std::string_view name;
  std::string pid;
};
std::vector<std::string> tile_labels(std::span<const TileProcess> processes);

// Kernels of a tile from the marks that they leave: a start and an end each, some of which the trace may have lost or
// may have twice.
struct TileKernel {
  std::int64_t start, end;  // cycles
  [[nodiscard]] std::int64_t duration() const { return end - start; }
};

struct KernelPairs {
  std::vector<TileKernel> kernels;  // in time order, none overlapping another
  std::int64_t orphan_starts = 0;   // whose end is lost: another start came first
  std::int64_t orphan_ends = 0;     // whose start is lost
  std::int64_t duplicates = 0;      // starts and ends that repeat the one before within the gap
};

inline constexpr double kDuplicateGap = 0.25;

// One walk through both in time order: a start opens a kernel, the next end closes it. A start that finds one open
// replaces it, so that a lost end costs its own kernel and no other. A mark that repeats the one before within
// `duplicate_gap` times the lower quartile of the kernels' durations is a duplicate: the earlier one counts. At one
// time an end comes before a start: kernels may follow each other without a gap. Both sorted.
KernelPairs pair_kernels(std::span<const std::int64_t> starts, std::span<const std::int64_t> ends,
                         double duplicate_gap = kDuplicateGap);

}  // namespace tracedb
