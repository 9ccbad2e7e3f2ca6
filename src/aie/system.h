// Iterations of all tiles together, and rates of work.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aie/iterations.h"

namespace tracedb::aie {

// What an iteration computes, and what the array could.
struct Work {
  std::optional<double> macs;  // of all cores in one iteration; unknown: no rates
  double clock_ghz = 1.25;
  double peak_macs = 64;              // a cycle and core
  std::optional<std::int64_t> cores;  // that share the work; unknown: the tiles that have kernels
};

// GMAC/s of `macs` in so many cycles, more than 0.
double gmacs_per_second(const Work& work, double macs, Cycles cycles);
// Share of the peak of `cores` cores.
double utilisation_pct(const Work& work, double macs, Cycles cycles, std::int64_t cores);

struct SystemIteration {
  std::size_t index;       // in each tile
  std::int64_t tiles = 0;  // that have measured it
  Cycles runtime = 0;      // longest span of a tile
  Cycles wall = 0;         // from the first start to the last end of any tile
};

// The iterations that at least `least_tiles` of the tiles with kernels have measured.
std::vector<SystemIteration> system_iterations(const std::vector<TileKernels>& tiles, std::int64_t least_tiles);

std::int64_t tiles_with_kernels(const std::vector<TileKernels>& tiles);

}  // namespace tracedb::aie
