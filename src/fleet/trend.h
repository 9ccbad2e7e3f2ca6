// Figures of traces in order of time, one series for each kind of trace, with the changes of their level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fleet/catalogue.h"

namespace tracedb {

// Where the level of a series changes. Binary segmentation by a rank test: within a segment the split is taken at which
// the ranks of the values before and behind it differ most, if that is more than chance gives in a random order of the
// same values. Ranks, so that a few outliers neither make nor hide a change. Where there is none, a window is looked
// for that came and went: its ranks against those of all other values. The place of a change is then set by the values:
// that of the least sum of absolute deviations from the medians of the levels before and behind it.
//
// The chance that a series of exchangeable noise gets any flag is at most the rate: the first split is tested at it,
// and each of the 2^d segments at depth d at rate / 2^d; long ones at half of it, and their windows at the other half.
// Deterministic: the orders come from a fixed seed. Pure.

struct ChangePointOptions {
  double rate = 0.01;     // of false flags per series
  std::size_t least = 3;  // values before and behind a change
};

struct ChangePoint {
  std::size_t at = 0;            // the first value of the new level
  double before = 0, after = 0;  // medians of the segments that it joins
  double p = 1;                  // of the test that found it
  bool steady = false;           // a line from the value before to the last fits better: before, after: its ends
};

// In order of place.
std::vector<ChangePoint> find_change_points(std::span<const double> values, const ChangePointOptions& options = {});

// Fewer values cannot show a change: too few orders of them differ.
std::size_t least_values(const ChangePointOptions& options);

// A run: its trace, or those of the ranks of its job.
using TrendRun = std::vector<const CatalogueEntry*>;

struct TrendPoint {
  TrendRun run;
  std::int64_t date_ns = 0;
  bool dated = true;            // by the trace; else by the time its file was changed last
  std::optional<double> value;  // ns; unknown: the trace does not have it
  double load = 0, power = 1;   // TrendValue
  std::size_t segment = 0;      // number of changes before it
  bool change = false;          // the level changes here
};

struct TrendSeries {
  std::string label;                 // "NVIDIA H100 80GB HBM3, LlamaForCausalLM, decode, rank 0 of 4"
  std::string phase;                 // "": of whole traces; "unknown": of steps of which nothing says the kind
  std::vector<TrendPoint> points;    // in order of time, those without a value too
  std::vector<ChangePoint> changes;  // places among the points that have a value
  bool is_long = false;              // enough values for a change to be told from noise (least_values())
  // The last values, fewer than half, beyond all others of a long level, too few for a change: one by more than those
  // differ, of several numbers the one with the widest gap.
  std::size_t newest = 0;
  // Places, as those of `changes`, of other values that stand out of a long level, the furthest first: they are more
  // than five robust standard deviations and 1 % from its median.
  std::vector<std::size_t> apart;
  std::optional<ChangePoint> load_change;  // of the loads of that level, found as `changes` or `newest`

  [[nodiscard]] std::vector<double> values() const;
  // The phase in a sentence; "" where there is nothing to say of it.
  [[nodiscard]] std::string said_phase() const { return phase == "unknown" ? "" : phase; }
};

struct TrendOptions {
  // Unknown: the one that most runs of a series have with a period, the longest of these.
  std::optional<std::string> phase;
  ChangePointOptions changes;
};

struct TrendValue {
  std::optional<double> value;
  double load = 0;  // requests or tokens of its steps in the mean; 0: they are not known, or the value is at equal load
  double power = 1;  // of the load that it grows by at the most
};
// By phase, of each of some runs of one series: also, by "decode to prefill", of its steps that another kind follows.
using TrendLevels = std::map<std::string, std::vector<TrendValue>>;
using TrendValues = std::function<TrendLevels(const std::string& phase, std::span<const TrendRun> runs)>;

// What steps take until another kind follows is a series where its level changes. Unlike runs (GPU, framework, model,
// rank, world size, number of ranks) are different series.
std::vector<TrendSeries> make_trends(std::span<const TrendRun> runs, const TrendOptions& options,
                                     const TrendValues& values);

}  // namespace tracedb
