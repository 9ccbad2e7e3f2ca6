#include "aie/system.h"

#include <algorithm>

namespace tracedb::aie {

double gmacs_per_second(const Work& work, double macs, Cycles cycles) {
  return macs * work.clock_ghz / static_cast<double>(cycles);
}

double utilisation_pct(const Work& work, double macs, Cycles cycles, std::int64_t cores) {
  return 100.0 * macs / (work.peak_macs * static_cast<double>(cores) * static_cast<double>(cycles));
}

std::vector<SystemIteration> system_iterations(const std::vector<TileKernels>& tiles, std::int64_t least_tiles) {
  std::size_t most = 0;
  for (const TileKernels& tile : tiles) most = std::max(most, tile.iterations.size());
  std::vector<SystemIteration> out;
  for (std::size_t index = 0; index < most; ++index) {
    SystemIteration system{index};
    std::optional<Span> whole;
    for (const TileKernels& tile : tiles) {
      if (index >= tile.iterations.size() || tile.iterations[index].phase != Phase::kPerf) continue;
      const std::optional<Span> span = tile.iterations[index].span();
      if (!span) continue;
      ++system.tiles;
      system.runtime = std::max(system.runtime, span->duration());
      whole = whole ? Span{std::min(whole->start, span->start), std::max(whole->end, span->end)} : *span;
    }
    if (!whole || system.tiles < least_tiles) continue;
    system.wall = whole->duration();
    out.push_back(system);
  }
  return out;
}

std::int64_t tiles_with_kernels(const std::vector<TileKernels>& tiles) {
  return std::count_if(tiles.begin(), tiles.end(), [](const TileKernels& tile) { return !tile.iterations.empty(); });
}

}  // namespace tracedb::aie
