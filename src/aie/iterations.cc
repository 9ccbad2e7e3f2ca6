#include "aie/iterations.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/statistics.h"

namespace tracedb::aie {
namespace {

// The ends of the stalls that are long enough, ascending.
std::vector<Cycles> stall_boundaries(const Tile& tile, double least) {
  std::vector<Cycles> out;
  for (const Span& stall : tile.lock_stalls) {
    if (static_cast<double>(stall.duration()) >= least) out.push_back(stall.end);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<Iteration> split_at_stalls(const std::vector<TileKernel>& kernels, const std::vector<Cycles>& boundaries) {
  std::vector<Iteration> out(1);
  auto boundary = boundaries.begin();
  for (const TileKernel& kernel : kernels) {
    for (; boundary != boundaries.end() && kernel.start >= *boundary; ++boundary) out.emplace_back();
    out.back().kernels.push_back(kernel);
  }
  return out;
}

std::vector<Iteration> split_by_rule(const std::vector<TileKernel>& kernels, const Boundaries& rule) {
  std::vector<Iteration> out(1);
  for (const TileKernel& kernel : kernels) {
    const std::vector<TileKernel>& open = out.back().kernels;
    const bool full = rule.rule == Boundaries::Rule::kCount && static_cast<std::int64_t>(open.size()) >= rule.value;
    const bool apart =
        rule.rule == Boundaries::Rule::kGap && !open.empty() && kernel.start - open.back().end >= rule.value;
    if (full || apart) out.emplace_back();
    out.back().kernels.push_back(kernel);
  }
  return out;
}

std::int64_t count_outliers(TileKernels& found, const KernelOptions& options) {
  if (!found.durations) return 0;
  const double low = options.window.low * found.durations->median;
  const double high = options.window.high * found.durations->median;
  const auto outside = [&](const TileKernel& kernel) {
    const auto duration = static_cast<double>(kernel.duration());
    return duration < low || duration > high;
  };
  std::vector<TileKernel>& kernels = found.pairs.kernels;
  const auto count = std::count_if(kernels.begin(), kernels.end(), outside);
  if (options.outliers == Outliers::kDrop) {
    std::erase_if(kernels, outside);
    found.durations = durations_of(kernels);
  }
  return count;
}

void label(std::vector<Iteration>& iterations, const KernelOptions& options) {
  std::int64_t index = 0;
  for (Iteration& iteration : iterations) {
    const std::int64_t number = index++ - options.warmup;
    const bool behind = options.measured && number >= *options.measured;
    iteration.phase = number < 0 ? Phase::kWarmup : behind ? Phase::kExtra : Phase::kPerf;
  }
}

}  // namespace

std::string_view to_text(Phase phase) {
  constexpr std::string_view kNames[] = {"warmup", "perf", "extra"};
  return kNames[static_cast<std::size_t>(phase)];
}

std::optional<Durations> durations_of(const std::vector<TileKernel>& kernels) {
  if (kernels.empty()) return std::nullopt;
  std::vector<Cycles> sorted;
  sorted.reserve(kernels.size());
  for (const TileKernel& kernel : kernels) sorted.push_back(kernel.duration());
  Durations out;
  out.first = sorted.front();
  std::sort(sorted.begin(), sorted.end());
  out.shortest = sorted.front();
  out.longest = sorted.back();
  out.median = sorted_median(sorted);
  out.total = std::accumulate(sorted.begin(), sorted.end(), Cycles{0});
  out.mean = static_cast<double>(out.total) / static_cast<double>(sorted.size());
  return out;
}

std::optional<Span> Iteration::span() const {
  if (kernels.empty()) return std::nullopt;
  return Span{kernels.front().start, kernels.back().end};
}

TileKernels find_kernels(const Tile& tile, const KernelOptions& options) {
  TileKernels out;
  out.pairs = pair_kernels(tile.starts, tile.ends, options.duplicate_gap);
  out.durations = durations_of(out.pairs.kernels);
  out.outliers = count_outliers(out, options);
  const std::vector<TileKernel>& kernels = out.pairs.kernels;
  if (kernels.empty()) return out;
  const Boundaries& rule = options.boundaries;
  out.iterations = rule.rule == Boundaries::Rule::kStall
                       ? split_at_stalls(kernels, stall_boundaries(tile, rule.stall_factor * out.durations->median))
                       : split_by_rule(kernels, rule);
  if (options.empty == EmptyIterations::kDrop) {
    out.empty_iterations = static_cast<std::int64_t>(
        std::erase_if(out.iterations, [](const Iteration& iteration) { return iteration.kernels.empty(); }));
  }
  label(out.iterations, options);
  return out;
}

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
