#include "aie/tile.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/statistics.h"
#include "sql/scripts.h"

namespace tracedb::aie {
namespace {

// By Activity.
constexpr TileEvent kActivityEvents[kActivities] = {TileEvent::kLockStall, TileEvent::kStreamStall,
                                                    TileEvent::kMemoryStall, TileEvent::kCascadeStall,
                                                    TileEvent::kVector};

std::optional<std::size_t> activity_of(TileEvent event) {
  const auto at = static_cast<std::size_t>(std::ranges::find(kActivityEvents, event) - std::begin(kActivityEvents));
  return at < kActivities ? std::optional(at) : std::nullopt;
}

struct Name {
  bool starts = false, ends = false;
  std::optional<std::size_t> activity;
};

struct Event {
  Cycles ts;
  std::optional<Cycles> dur;
  bool lone_end;
};

constexpr Cycles kOpen = std::numeric_limits<Cycles>::max();  // the end of a stall without one

using Names = std::unordered_map<std::int64_t, Name>;

Names read_names(Database& database, const Marks& marks) {
  const auto is_mark = [](const Mark& mark, TileEvent usual, std::string_view name) {
    return mark.name.empty() ? tile_event(name) == usual : mark.name == name;
  };
  Names out;
  Statement rows(database, script("aie/names"));
  while (rows.step()) {
    const std::string_view text = rows.text(1);
    out[rows.int64(0)] = {is_mark(marks.start, TileEvent::kKernelStart, text),
                          is_mark(marks.end, TileEvent::kKernelEnd, text), activity_of(tile_event(text))};
  }
  return out;
}

// Tiles that have only their names, and by process which of them it is.
std::map<std::int64_t, std::size_t> read_processes(Database& database, std::vector<Tile>& tiles) {
  std::map<std::int64_t, std::size_t> positions;
  std::vector<std::pair<std::string, std::string>> cores;
  Statement rows(database, script("aie/processes"));
  while (rows.step()) {
    if (!is_core_process(rows.text(1))) continue;
    positions[rows.int64(0)] = cores.size();
    cores.emplace_back(rows.text(1), rows.text(2));
  }
  std::vector<TileProcess> processes;
  for (const auto& [name, pid] : cores) processes.push_back({name, pid});
  for (std::string& label : tile_labels(processes)) tiles.emplace_back().name = std::move(label);
  return positions;
}

// `times`: of all edges.
void add(Tile& tile, std::vector<Cycles>& times, const Name& name, const Event& event, const Marks& marks) {
  ++tile.events;
  times.push_back(event.ts);
  if (event.dur) times.push_back(event.ts + *event.dur);
  const auto mark = [&](bool at_end, std::vector<Cycles>& edges) {
    if (at_end == event.lone_end) edges.push_back(event.ts);
    if (at_end && event.dur) edges.push_back(event.ts + *event.dur);
  };
  if (name.starts) mark(marks.start.at_end, tile.starts);
  if (name.ends) mark(marks.end.at_end, tile.ends);
  if (!name.activity) return;
  const bool locks = *name.activity == static_cast<std::size_t>(Activity::kLockStall);
  if (!event.dur && locks && !event.lone_end) tile.lock_stalls.push_back({event.ts, kOpen});
  if (!event.dur) return;
  tile.traced[*name.activity] = true;
  tile.in[*name.activity] += *event.dur;
  if (locks) tile.lock_stalls.push_back({event.ts, event.ts + *event.dur});
}

// A stall whose end is lost ended when the next kernel or stall began at the latest; without either, it is the last.
void close_stalls(Tile& tile) {
  std::vector<Span>& stalls = tile.lock_stalls;
  for (std::size_t i = 0; i < stalls.size(); ++i) {
    if (stalls[i].end != kOpen) continue;
    const auto kernel = std::ranges::lower_bound(tile.starts, stalls[i].start);
    if (kernel != tile.starts.end()) stalls[i].end = *kernel;
    if (i + 1 < stalls.size()) stalls[i].end = std::min(stalls[i].end, stalls[i + 1].start);
    if (stalls[i].end == kOpen) continue;
    constexpr auto kLock = static_cast<std::size_t>(Activity::kLockStall);
    ++tile.lost_stall_ends;
    tile.traced[kLock] = true;
    tile.in[kLock] += stalls[i].duration();
  }
  std::erase_if(stalls, [](const Span& stall) { return stall.end == kOpen; });
}

void finish(Tile& tile, std::vector<Cycles>& times) {
  std::ranges::sort(tile.starts);
  std::ranges::sort(tile.ends);
  std::ranges::sort(tile.lock_stalls, {}, &Span::start);
  close_stalls(tile);
  if (times.empty()) return;
  std::ranges::sort(times);
  tile.window = Span{times.front(), times.back()};
  for (std::size_t i = 1; i < times.size(); ++i) {
    tile.longest_silence = std::max(tile.longest_silence, times[i] - times[i - 1]);
  }
}

// The ends of the stalls that are long enough, ascending.
std::vector<Cycles> stall_boundaries(const Tile& tile, double least) {
  std::vector<Cycles> out;
  for (const Span& stall : tile.lock_stalls) {
    if (static_cast<double>(stall.duration()) >= least) out.push_back(stall.end);
  }
  std::ranges::sort(out);
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
  if (rule.rule == Boundaries::Rule::kCount) out.back().whole = std::ssize(out.back().kernels) >= rule.value;
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
  const auto count = std::ranges::count_if(kernels, outside);
  if (options.outliers == Outliers::kDrop) {
    std::erase_if(kernels, outside);
    found.durations = durations_of(kernels);
  }
  return count;
}

// Those of `own` that are `all`, null for those that it lacks: by number where there are as many, else by the time that
// they have in common. One that lasts through several of them is none of these: the boundary between them is lost.
std::vector<const Iteration*> matched(const std::vector<Iteration>& all, const std::vector<Iteration>& own) {
  std::vector<const Iteration*> found;
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Iteration* best = nullptr;
    Cycles most = 0;
    const auto span = all[i].span();
    for (std::size_t at = next; span && at < own.size(); ++at) {
      const auto other = own[at].span();
      if (!other || other->end <= span->start) continue;
      if (other->start >= span->end) break;
      const Cycles common = std::min(span->end, other->end) - std::max(span->start, other->start);
      if (common > most) best = &own[at];
      most = std::max(most, common);
    }
    if (best != nullptr) next = static_cast<std::size_t>(best - own.data());
    found.push_back(all.size() == own.size() ? &own[i] : best);
  }
  std::vector<const Iteration*> out = found;
  for (std::size_t i = 1; i < found.size(); ++i) {
    if (found[i] == found[i - 1]) out[i] = out[i - 1] = nullptr;
  }
  return out;
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

std::vector<Tile> read_tiles(const Index& index, const Marks& marks) {
  Database& database = index.database();
  const Cycles base = index.meta_int64("base_time_ns").value_or(0);
  const Names names = read_names(database, marks);
  std::vector<Tile> tiles;
  const auto positions = read_processes(database, tiles);
  std::vector<std::vector<Cycles>> times(tiles.size());
  Statement rows(database, script("aie/events"));
  while (rows.step()) {
    const auto tile = positions.find(rows.int64(0));
    if (tile == positions.end()) continue;
    const auto name = names.find(rows.int64(1));
    Event event{rows.int64(2) + base, std::nullopt, rows.int64(4) != 0};
    if (!rows.is_null(3)) event.dur = rows.int64(3);
    add(tiles[tile->second], times[tile->second], name == names.end() ? Name() : name->second, event, marks);
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) finish(tiles[i], times[i]);
  return tiles;
}

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
  std::ranges::sort(sorted);
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
  if (tiles.empty()) return {};
  const auto count = [](const TileKernels& tile) { return tile.iterations.size(); };
  const std::vector<Iteration>& all = std::ranges::max_element(tiles, {}, count)->iterations;
  std::vector<std::vector<const Iteration*>> by_tile;
  for (const TileKernels& tile : tiles) by_tile.push_back(matched(all, tile.iterations));
  std::vector<SystemIteration> out;
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (all[index].phase != Phase::kPerf) continue;
    SystemIteration system{index};
    std::optional<Span> whole;
    for (const std::vector<const Iteration*>& tile : by_tile) {
      const std::optional<Span> span = tile[index] == nullptr ? std::nullopt : tile[index]->span();
      if (!span) continue;
      ++system.tiles;
      system.whole = system.whole && tile[index]->whole;
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
  return std::ranges::count_if(tiles, [](const TileKernels& tile) { return !tile.iterations.empty(); });
}

}  // namespace tracedb::aie
