#include "aie/tile.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/lookup.h"
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

// Of a tile, while it is read.
struct Times {
  std::vector<Cycles> edges;                                // of all events
  std::vector<Cycles> core;                                 // marks of kernels, and begins of what the core is in
  std::vector<Cycles> work;                                 // of these the begins of vector instructions that last
  std::vector<std::pair<std::size_t, Cycles>> open_stalls;  // Activity and begin of those without an end
};

class Tiles {
 public:
  Tiles(Database& database, const Marks& marks) : marks_(marks) {
    read_names(database);
    read_processes(database);
  }

  std::vector<Tile> read(Database& database, Cycles base) {
    Statement rows(database, script("aie/events"));
    while (rows.step()) {
      const auto* tile = find_in(positions_, rows.int64(0));
      if (tile == nullptr) continue;
      const Name* name = find_in(names_, rows.int64(1));
      Event event{rows.int64(2) + base, std::nullopt, rows.int64(4) != 0};
      if (!rows.is_null(3)) event.dur = rows.int64(3);
      add(tiles_[*tile], times_[*tile], name == nullptr ? Name() : *name, event);
    }
    for (std::size_t i = 0; i < tiles_.size(); ++i) finish(tiles_[i], times_[i]);
    const std::optional<Span> window = window_of(tiles_);
    for (std::size_t i = 0; i < tiles_.size() && window; ++i) end_stalls(tiles_[i], times_[i], window->end);
    return std::move(tiles_);
  }

 private:
  void read_names(Database& database) {
    const auto is_mark = [](const Mark& mark, TileEvent usual, std::string_view name) {
      return mark.name.empty() ? tile_event(name) == usual : mark.name == name;
    };
    Statement rows(database, script("aie/names"));
    while (rows.step()) {
      const std::string_view text = rows.text(1);
      names_[rows.int64(0)] = {is_mark(marks_.start, TileEvent::kKernelStart, text),
                               is_mark(marks_.end, TileEvent::kKernelEnd, text), activity_of(tile_event(text))};
    }
  }

  void read_processes(Database& database) {
    std::vector<std::pair<std::string, std::string>> cores;
    Statement rows(database, script("aie/processes"));
    while (rows.step()) {
      if (!is_core_process(rows.text(1))) continue;
      positions_[rows.int64(0)] = cores.size();
      cores.emplace_back(rows.text(1), rows.text(2));
    }
    std::vector<TileProcess> processes;
    for (const auto& [name, pid] : cores) processes.push_back({name, pid});
    for (std::string& label : tile_labels(processes)) tiles_.emplace_back().name = std::move(label);
    times_.resize(tiles_.size());
  }

  void add(Tile& tile, Times& times, const Name& name, const Event& event) const {
    ++tile.events;
    times.edges.push_back(event.ts);
    if (event.dur) times.edges.push_back(event.ts + *event.dur);
    if (name.starts || name.ends || name.activity) times.core.push_back(event.ts);
    const auto mark = [&](bool at_end, std::vector<Cycles>& marks) {
      if (!at_end && !event.lone_end) marks.push_back(event.ts);
      if (at_end && event.lone_end) marks.push_back(event.ts);
      if (at_end && event.dur) marks.push_back(event.ts + *event.dur);
    };
    if (name.starts) mark(marks_.start.at_end, tile.starts);
    if (name.ends) mark(marks_.end.at_end, tile.ends);
    if (!name.activity) return;
    const auto vector = static_cast<std::size_t>(Activity::kVector);
    if (*name.activity == vector && event.dur.value_or(0) > 0) times.work.push_back(event.ts);
    if (event.dur)
      spend(tile, *name.activity, {event.ts, event.ts + *event.dur});
    else if (!event.lone_end && *name.activity != vector)
      times.open_stalls.emplace_back(*name.activity, event.ts);
  }

  static void spend(Tile& tile, std::size_t activity, Span span) {
    tile.traced[activity] = true;
    tile.in[activity] += span.duration();
    if (activity == static_cast<std::size_t>(Activity::kLockStall)) tile.lock_stalls.push_back(span);
  }

  static void finish(Tile& tile, Times& times) {
    std::ranges::sort(tile.starts);
    std::ranges::sort(tile.ends);
    if (times.edges.empty()) return;
    std::ranges::sort(times.edges);
    tile.window = Span{times.edges.front(), times.edges.back()};
    for (std::size_t i = 1; i < times.edges.size(); ++i) {
      tile.longest_silence = std::max(tile.longest_silence, times.edges[i] - times.edges[i - 1]);
    }
  }

  // Those without an end: when the core does something else, or never, as far as the trace goes.
  static void end_stalls(Tile& tile, Times& times, Cycles trace_end) {
    std::ranges::sort(times.core);
    std::ranges::sort(times.work);
    for (const auto& [activity, begin] : times.open_stalls) {
      const bool works = std::ranges::binary_search(times.work, begin);  // at something else from the first
      const auto next = std::ranges::upper_bound(times.core, begin - (works ? 1 : 0));
      const bool last = next == times.core.end();
      const Span stall{begin, last ? trace_end : *next};
      if (last) tile.last_stall = stall.duration();
      ++(last ? tile.last_stalls : tile.lost_stall_ends);
      spend(tile, activity, stall);
    }
  }

  const Marks& marks_;
  std::unordered_map<std::int64_t, Name> names_;
  std::map<std::int64_t, std::size_t> positions_;  // of cores, by process
  std::vector<Tile> tiles_;
  std::vector<Times> times_;  // by tile
};

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

std::optional<std::size_t> usual_kernels(const std::vector<Iteration>& iterations) {
  std::vector<std::size_t> counts;
  for (const Iteration& one : iterations) {
    if (!one.kernels.empty()) counts.push_back(one.kernels.size());
  }
  if (counts.size() < 3) return std::nullopt;
  const std::size_t middle = upper_median(std::span(counts));
  const auto alike = static_cast<std::size_t>(std::ranges::count(counts, middle));
  return 2 * alike > counts.size() ? std::optional(middle) : std::nullopt;
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

// 0 where one has no kernels, too.
Cycles overlap(const Iteration& a, const Iteration& b) {
  const auto one = a.span(), other = b.span();
  if (!one || !other) return 0;
  return std::max<Cycles>(0, std::min(one->end, other->end) - std::max(one->start, other->start));
}

// Those of `own` that have most time in common with each of `all`, null where none has any. One that lasts through
// several of them is none of these: the boundary between them is lost.
std::vector<Iteration*> matched_by_time(const std::vector<Iteration>& all, std::vector<Iteration>& own) {
  std::vector<Iteration*> found;
  std::size_t next = 0;
  for (const Iteration& one : all) {
    std::size_t best = own.size();
    Cycles most = 0;
    const auto span = one.span();
    for (std::size_t at = next; span && at < own.size(); ++at) {
      const auto other = own[at].span();
      if (other && other->start >= span->end) break;
      const Cycles common = overlap(one, own[at]);
      if (common > most) best = at;
      most = std::max(most, common);
    }
    if (best < own.size()) next = best;
    found.push_back(best < own.size() ? &own[best] : nullptr);
  }
  std::vector<Iteration*> out = found;
  for (std::size_t i = 1; i < found.size(); ++i) {
    if (found[i] == found[i - 1]) out[i] = out[i - 1] = nullptr;
  }
  return out;
}

// Numbers `own` as those of `all` that they are: by number where there are as many, unless the time tells otherwise.
void number_as(const std::vector<Iteration>& all, std::vector<Iteration>& own) {
  const std::vector<Iteration*> found = matched_by_time(all, own);
  const bool apart = std::ranges::all_of(found, [](const Iteration* one) { return one == nullptr; });
  bool together = all.size() == own.size();
  for (std::size_t i = 0; i < all.size() && together && !apart; ++i) {
    together = all[i].kernels.empty() || own[i].kernels.empty() || overlap(all[i], own[i]) > 0;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (Iteration* const one = together ? &own[i] : found[i]) one->number = i;
  }
}

Phase phase_of(std::size_t number, const KernelOptions& options) {
  const std::int64_t measured = static_cast<std::int64_t>(number) - options.warmup;
  if (measured < 0) return Phase::kWarmup;
  return options.measured && measured >= *options.measured ? Phase::kExtra : Phase::kPerf;
}

}  // namespace

std::vector<Tile> read_tiles(const Index& index, const Marks& marks) {
  return Tiles(index.database(), marks).read(index.database(), index.meta_int64("base_time_ns").value_or(0));
}

std::optional<Span> window_of(const std::vector<Tile>& tiles) {
  std::optional<Span> out;
  for (const Tile& tile : tiles) {
    if (!tile.window) continue;
    out = out ? Span{std::min(out->start, tile.window->start), std::max(out->end, tile.window->end)} : *tile.window;
  }
  return out;
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
  if (options.outliers == Outliers::kKeep) out.usual_kernels = usual_kernels(out.iterations);
  if (!out.usual_kernels) return out;
  // Fewer kernels between others: their marks are lost, which hardly changes the span.
  for (Iteration& one : out.iterations) {
    const bool at_end = &one == &out.iterations.front() || &one == &out.iterations.back();
    const std::size_t found = one.kernels.size();
    if ((at_end && found > 0 && found < *out.usual_kernels) || found >= 2 * *out.usual_kernels) one.whole = false;
  }
  return out;
}

std::int64_t number_iterations(std::vector<TileKernels>& tiles, const KernelOptions& options) {
  if (tiles.empty()) return 0;
  const auto count = [](const TileKernels& tile) { return tile.iterations.size(); };
  const std::vector<Iteration>& all = std::ranges::max_element(tiles, {}, count)->iterations;
  for (TileKernels& tile : tiles) {
    number_as(all, tile.iterations);
    std::size_t next = 0;  // what one without a number is taken for
    for (Iteration& iteration : tile.iterations) {
      next = iteration.number.value_or(next);
      iteration.phase = phase_of(next++, options);
    }
  }
  return std::ssize(all);
}

double gmacs_per_second(const Work& work, double macs, Cycles cycles) {
  return macs * work.clock_ghz / static_cast<double>(cycles);
}

double utilisation_pct(const Work& work, double macs, Cycles cycles, std::int64_t cores) {
  return 100.0 * macs / (work.peak_macs * static_cast<double>(cores) * static_cast<double>(cycles));
}

std::vector<SystemIteration> system_iterations(const std::vector<TileKernels>& tiles, std::int64_t least_tiles) {
  std::map<std::size_t, SystemIteration> found;
  for (const TileKernels& tile : tiles) {
    for (const Iteration& iteration : tile.iterations) {
      const std::optional<Span> span = iteration.span();
      if (!span || !iteration.number || iteration.phase != Phase::kPerf) continue;
      SystemIteration& system =
          found.try_emplace(*iteration.number, SystemIteration{*iteration.number, *span}).first->second;
      ++system.tiles;
      system.whole = system.whole && iteration.whole;
      system.runtime = std::max(system.runtime, span->duration());
      system.span = {std::min(system.span.start, span->start), std::max(system.span.end, span->end)};
    }
  }
  std::vector<SystemIteration> out;
  for (const auto& [number, system] : found) {
    if (system.tiles >= least_tiles) out.push_back(system);
  }
  return out;
}

std::int64_t tiles_with_kernels(const std::vector<TileKernels>& tiles) {
  return std::ranges::count_if(tiles, [](const TileKernels& tile) { return !tile.iterations.empty(); });
}

}  // namespace tracedb::aie
