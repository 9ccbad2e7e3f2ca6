// Kernels of a tile from the marks that they leave: a start and an end each, some of which the trace may have lost or
// may have twice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tracedb {

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
