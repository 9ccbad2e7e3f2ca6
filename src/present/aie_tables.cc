#include "present/aie_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text/amounts.h"
#include "present/cells.h"

namespace tracedb {
namespace {

using aie::Cycles;
using aie::Span;
using aie::Tile;
using aie::TileKernels;

Cell if_known(bool known, Cell value) {
  if (!known) value = Cell();
  return value;
}

Report report(const std::vector<AieTrace>& traces, std::string_view name) {
  Report out{declared_columns(name), {}};
  if (!traces.empty() && !traces.front().name.empty()) {
    out.columns.insert(out.columns.begin(), {"input", "Input", Unit::kText});
  }
  return out;
}

void add_row(Report& out, const AieTrace& trace, Row row) {
  if (!trace.name.empty()) row.insert(row.begin(), trace.name);
  out.rows.push_back(std::move(row));
}

// Work and time of the iterations that count.
struct Measured {
  std::int64_t iterations = 0;
  Cycles cycles = 0;
};

// No time where the work is not known.
Measured measured(const aie::Iteration& iteration) {
  const std::optional<Span> span = iteration.whole ? iteration.span() : std::nullopt;
  return span ? Measured{1, span->duration()} : Measured{};
}

Measured measured(const TileKernels& kernels) {
  Measured out;
  for (const aie::Iteration& iteration : kernels.iterations) {
    if (iteration.phase != aie::Phase::kPerf) continue;
    const Measured one = measured(iteration);
    out = {out.iterations + one.iterations, out.cycles + one.cycles};
  }
  return out;
}

// Unknown where the work or the time is.
struct Rates {
  bool known = false;
  double gmacs = 0, utilisation = 0;
  // False as well where it is more than the cores can do: others share the work.
  [[nodiscard]] bool possible() const { return known && utilisation <= 100; }
  [[nodiscard]] Cell gmacs_cell() const { return if_known(known, gmacs); }  // of all cores, however many they are
  [[nodiscard]] Cell tile_cell() const { return if_known(possible(), gmacs); }
  [[nodiscard]] Cell utilisation_cell() const { return if_known(possible(), utilisation); }
};

// Of `cores` of the cores that share the work.
Rates rates_of(const aie::Work& work, std::int64_t sharing, std::int64_t cores, Measured part) {
  if (!work.macs || sharing <= 0 || part.cycles <= 0) return {};
  const double macs = *work.macs / static_cast<double>(sharing) * static_cast<double>(cores * part.iterations);
  return {true, aie::gmacs_per_second(work, macs, part.cycles), aie::utilisation_pct(work, macs, part.cycles, cores)};
}

Row tile_row(const AieTrace& trace, std::size_t at, const aie::Work& work) {
  const Tile& tile = trace.tiles[at];
  const TileKernels& kernels = trace.kernels[at];
  const bool any = kernels.durations.has_value();
  const aie::Durations durations = kernels.durations.value_or(aie::Durations());
  Row row = {tile.name,
             static_cast<std::int64_t>(kernels.pairs.kernels.size()),
             kernels.pairs.orphan_starts,
             kernels.pairs.orphan_ends,
             kernels.pairs.duplicates,
             kernels.outliers};
  for (const Cell& figure : {Cell(durations.first), Cell(durations.shortest), Cell(durations.median),
                             Cell(durations.mean), Cell(durations.longest)}) {
    row.push_back(if_known(any, figure));
  }
  const Span own = tile.window.value_or(Span{0, 0});
  const Span all = trace.window.value_or(Span{0, 0});
  const Cycles traced = (tile.last_stalls > 0 ? all.end : own.end) - own.start;  // nothing but the stall, behind `own`
  for (std::size_t i = 0; i < aie::kActivities; ++i) {
    row.push_back(if_known(tile.traced[i], share_of(tile.in[i], traced)));
  }
  const Rates rates = rates_of(work, trace.cores, 1, measured(kernels));
  row.emplace_back(static_cast<std::int64_t>(kernels.iterations.size()));
  row.push_back(rates.tile_cell());
  row.push_back(rates.utilisation_cell());
  row.push_back(if_known(tile.window.has_value(), own.start));
  row.push_back(if_known(tile.window.has_value(), own.end));
  row.push_back(share_of(traced, all.duration()));
  return row;
}

Row iteration_row(const AieTrace& trace, std::size_t tile, std::size_t at, const aie::Work& work) {
  const std::vector<aie::Iteration>& iterations = trace.kernels[tile].iterations;
  const aie::Iteration& iteration = iterations[at];
  const bool any = !iteration.kernels.empty();
  const Span span = iteration.span().value_or(Span{0, 0});
  const bool has_next = any && at + 1 < iterations.size() && !iterations[at + 1].kernels.empty();
  const Cycles next = has_next ? iterations[at + 1].kernels.front().start : 0;
  const aie::Durations durations = aie::durations_of(iteration.kernels).value_or(aie::Durations());
  const Rates rates = rates_of(work, trace.cores, 1, measured(iteration));
  return {trace.tiles[tile].name,
          iteration.number ? Cell(static_cast<std::int64_t>(*iteration.number)) : Cell(),
          std::string(to_text(iteration.phase)),
          static_cast<std::int64_t>(iteration.kernels.size()),
          if_known(any, durations.mean),
          if_known(any, durations.shortest),
          if_known(any, durations.longest),
          if_known(any, span.start),
          if_known(any, span.end),
          if_known(any, span.duration()),
          if_known(has_next, next - span.start),
          rates.tile_cell(),
          rates.utilisation_cell()};
}

void add_system(Report& out, const AieTrace& trace, const aie::Work& work, std::int64_t least_tiles) {
  const std::int64_t least = least_tiles > 0 ? least_tiles : tiles_with_kernels(trace.kernels);
  const auto iterations = system_iterations(trace.kernels, std::max<std::int64_t>(least, 1));
  if (iterations.empty()) return;
  Measured known;  // of the whole ones
  Cycles runtime = 0, wall = 0;
  double rate_sum = 0;
  for (const aie::SystemIteration& iteration : iterations) {
    const Measured one = iteration.whole ? Measured{1, iteration.runtime} : Measured{};
    const Rates rates = rates_of(work, trace.cores, trace.shown_cores, one);
    add_row(out, trace,
            {std::to_string(iteration.number), iteration.tiles, iteration.runtime, iteration.span.duration(),
             rates.gmacs_cell(), rates.utilisation_cell()});
    known = {known.iterations + one.iterations, known.cycles + one.cycles};
    runtime += iteration.runtime;
    wall += iteration.span.duration();
    rate_sum += rates.gmacs;
  }
  const auto count = static_cast<double>(iterations.size());
  const Rates rates = rates_of(work, trace.cores, trace.shown_cores, known);
  add_row(out, trace,
          {std::string("mean"), Cell(), static_cast<double>(runtime) / count, static_cast<double>(wall) / count,
           if_known(rates.known, rate_sum / static_cast<double>(known.iterations)), Cell()});
  add_row(out, trace, {std::string("all"), Cell(), runtime, wall, rates.gmacs_cell(), rates.utilisation_cell()});
}

}  // namespace

Report aie_tiles(const std::vector<AieTrace>& traces, const aie::Work& work) {
  Report out = report(traces, "aie_tiles");
  for (const AieTrace& trace : traces) {
    for (std::size_t i = 0; i < trace.tiles.size(); ++i) add_row(out, trace, tile_row(trace, i, work));
  }
  return out;
}

Report aie_iterations(const std::vector<AieTrace>& traces, const aie::Work& work) {
  Report out = report(traces, "aie_iterations");
  for (const AieTrace& trace : traces) {
    for (std::size_t tile = 0; tile < trace.tiles.size(); ++tile) {
      for (std::size_t i = 0; i < trace.kernels[tile].iterations.size(); ++i) {
        add_row(out, trace, iteration_row(trace, tile, i, work));
      }
    }
  }
  return out;
}

Report aie_system(const std::vector<AieTrace>& traces, const aie::Work& work, std::int64_t least_tiles) {
  Report out = report(traces, "aie_system");
  for (const AieTrace& trace : traces) add_system(out, trace, work, least_tiles);
  return out;
}

void add_odd_iterations(const Tile& tile, const TileKernels& found, std::vector<std::string>& out) {
  for (const aie::Iteration& one : found.iterations) {
    if (one.whole || !found.usual_kernels) continue;
    out.push_back(
        fmt::format("{}: the iteration at {} has {}, others {}: {}; no rate of it is known, but means of cycles "
                    "count it",
                    tile.name, one.kernels.front().start, counted(one.kernels.size(), "kernel"), *found.usual_kernels,
                    one.kernels.size() > *found.usual_kernels ? "an edge between two may be lost"
                    : &one == &found.iterations.front()       ? "the recording may begin in it"
                                                              : "the recording may end in it"));
  }
}

std::vector<std::string> aie_warnings(const AieTrace& trace, const aie::KernelOptions& options, const aie::Work& work) {
  constexpr Cycles kLostSync = Cycles{1} << 18U;  // of the timeline go with each lost sync packet
  std::vector<std::string> out;
  double most = 0;  // cores that an iteration keeps busy
  for (const TileKernels& kernels : trace.kernels) {
    for (const aie::Iteration& iteration : kernels.iterations) {
      most = std::max(most, rates_of(work, 1, 1, measured(iteration)).utilisation / 100);
    }
  }
  if (most > static_cast<double>(trace.cores)) {
    out.push_back(
        fmt::format("the work is more than {} can do in the time of an iteration: others, which are not "
                    "traced, share it; give --cores (at least {:.0f})",
                    counted(trace.cores, "core"), std::ceil(most)));
  }
  for (std::size_t i = 0; i < trace.tiles.size(); ++i) {
    const Tile& tile = trace.tiles[i];
    const TileKernels& kernels = trace.kernels[i];
    if (kernels.pairs.kernels.empty()) {
      out.push_back(fmt::format("{}: no kernels: no pair among {} and {}", tile.name,
                                counted(tile.starts.size(), "start"), counted(tile.ends.size(), "end")));
    }
    if (kernels.empty_iterations > 0) {
      out.push_back(fmt::format("{}: {} without kernels left out; --keep-empty-iterations keeps them", tile.name,
                                counted(kernels.empty_iterations, "iteration")));
    }
    const auto found = std::ssize(kernels.iterations);
    const auto numbered =
        std::ranges::count_if(kernels.iterations, [](const auto& one) { return one.number.has_value(); });
    if (found > 0 && (found < trace.most_iterations || numbered < found)) {
      out.push_back(
          fmt::format("{}: {}, {} of which at the time of one of the {} on another tile: the system has these; in "
                      "a pipeline, whose tiles take turns at an iteration, numbers and phases would be others",
                      tile.name, counted(found, "iteration"), numbered, trace.most_iterations));
    }
    add_odd_iterations(tile, kernels, out);
    if (options.measured && found != options.warmup + *options.measured) {
      out.push_back(fmt::format("{}: {}, expected {}", tile.name, counted(found, "iteration"),
                                options.warmup + *options.measured));
    }
    if (tile.lost_stall_ends > 0) {
      out.push_back(fmt::format("{}: {} without an end, taken to last until the core does something else", tile.name,
                                counted(tile.lost_stall_ends, "stall")));
    }
    if (tile.last_stalls > 0) {
      out.push_back(fmt::format("{}: {} no end, taken to last until the last event of any core, {} later", tile.name,
                                counted(tile.last_stalls, "last stall has", "last stalls have"),
                                counted(tile.last_stall, "cycle")));
    }
    if (tile.longest_silence > kLostSync) {
      out.push_back(fmt::format("{}: no event for {} cycles: the trace may have lost sync packets there", tile.name,
                                tile.longest_silence));
    }
  }
  return out;
}

}  // namespace tracedb
