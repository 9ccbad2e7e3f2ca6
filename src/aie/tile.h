// What an AI Engine trace says of one core tile, and its kernels, divided into iterations of the workload. Times are
// cycles from the trace's own zero.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "index/index.h"
#include "trace/tile_events.h"

namespace tracedb::aie {

using Cycles = std::int64_t;

struct Span {
  Cycles start, end;
  [[nodiscard]] Cycles duration() const { return end - start; }
};

// States of a core whose share of the time is of interest.
enum class Activity : std::size_t { kLockStall, kStreamStall, kMemoryStall, kCascadeStall, kVector };
inline constexpr std::size_t kActivities = 5;

struct Tile {
  std::string name;                  // unique within the trace
  std::vector<Cycles> starts, ends;  // marks of kernels, sorted
  std::vector<Span> lock_stalls;
  std::int64_t lost_stall_ends = 0;        // of stalls of all kinds, taken to end when the core does something else
  std::int64_t last_stalls = 0;            // without an end, in which the core stays: they begin together
  Cycles last_stall = 0;                   // how long: until the last event of any core
  std::array<Cycles, kActivities> in{};    // time spent in each
  std::array<bool, kActivities> traced{};  // whether the trace has an event of it whose length is known or taken
  std::optional<Span> window;              // from the first event to the last
  Cycles longest_silence = 0;              // between two events of the window
  std::int64_t events = 0;                 // begins and lone ends
};

// Which events mark the start and the end of a kernel, and at which of their edges.
struct Mark {
  std::string name;  // empty: INSTR_EVENT_0 or INSTR_EVENT_1, in all spellings
  bool at_end = false;
};
struct Marks {
  Mark start{"", false};
  Mark end{"", true};
};

// The cores of the trace, in order of their first event. Empty where it has none.
std::vector<Tile> read_tiles(const Index& index, const Marks& marks);
// From the first event of any to the last.
std::optional<Span> window_of(const std::vector<Tile>& tiles);

// Where one iteration ends and the next begins.
struct Boundaries {
  enum class Rule : std::uint8_t { kStall, kGap, kCount, kNone };
  Rule rule = Rule::kStall;
  std::int64_t value = 0;      // of kGap: cycles without a kernel; of kCount: kernels
  double stall_factor = 20.0;  // of kStall: a lock stall of so many median kernels ends an iteration
};

// Kernels outside [low, high] times the median.
struct OutlierWindow {
  double low = 1.0 / 3.0, high = 3.0;
};

enum class EmptyIterations : std::uint8_t { kDrop, kKeep };
enum class Outliers : std::uint8_t { kKeep, kDrop };

struct KernelOptions {
  double duplicate_gap = kDuplicateGap;
  OutlierWindow window;
  Outliers outliers = Outliers::kKeep;
  Boundaries boundaries;
  EmptyIterations empty = EmptyIterations::kDrop;
  std::int64_t warmup = 0;
  std::optional<std::int64_t> measured;  // iterations behind the warm-up; unknown: all
};

enum class Phase : std::uint8_t { kWarmup, kPerf, kExtra };
std::string_view to_text(Phase phase);

struct Iteration {
  std::vector<TileKernel> kernels;
  // Among those of the tile that has most; unknown: it is at the time of none of them, or of several.
  std::optional<std::size_t> number;
  Phase phase = Phase::kPerf;
  // False: fewer kernels than the rule says, or than is usual where the recording begins or ends, or twice as many; so
  // what it computes is not known.
  bool whole = true;
  // Of the first start and the last end; unknown without kernels.
  [[nodiscard]] std::optional<Span> span() const;
};

struct Durations {
  Cycles first = 0, shortest = 0, longest = 0, total = 0;
  double median = 0, mean = 0;
};

// Unknown without kernels.
std::optional<Durations> durations_of(const std::vector<TileKernel>& kernels);

struct TileKernels {
  KernelPairs pairs;                   // .kernels without dropped outliers
  std::int64_t outliers = 0;           // dropped or not, as the options say
  std::optional<Durations> durations;  // unknown without kernels
  std::vector<Iteration> iterations;
  std::int64_t empty_iterations = 0;  // that were dropped
  // Of an iteration: what more than half of three iterations and more have; unknown: none, or outliers were dropped.
  std::optional<std::size_t> usual_kernels;
};

TileKernels find_kernels(const Tile& tile, const KernelOptions& options);

// Iterations of all tiles together, and rates of work.

// Numbers the iterations of all tiles of a trace, and gives them their phases by these numbers. How many there are:
// those of the tile that has most.
std::int64_t number_iterations(std::vector<TileKernels>& tiles, const KernelOptions& options);

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
  std::size_t number;
  Span span;               // from the first start to the last end of any tile
  std::int64_t tiles = 0;  // that have measured it
  bool whole = true;       // on all of these
  Cycles runtime = 0;      // longest span of a tile
};

// The iterations that at least `least_tiles` of the tiles with kernels have measured, by number.
std::vector<SystemIteration> system_iterations(const std::vector<TileKernels>& tiles, std::int64_t least_tiles);

std::int64_t tiles_with_kernels(const std::vector<TileKernels>& tiles);

}  // namespace tracedb::aie
