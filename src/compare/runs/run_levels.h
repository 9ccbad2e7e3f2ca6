// The level of each run: what each part of the period takes at equal load, and at equal speed. Pure.
//
// Each run's mean period over all its steps is the sum of its parts, [speed], [load] and [rare steps].
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "compare/runs/set_comparison.h"
#include "compare/runs/set_statistics.h"

namespace tracedb {

struct RunLevel {
  const RunSums* run = nullptr;  // borrowed
  double load_mean = 0;          // of a regular step
  std::vector<double> parts;     // as PhaseLevels::parts
  double period = 0;             // at equal load
  double load = 0, rare = 0;     // ns by which load and rare steps make the mean period longer
  double speed = 0;              // and the speed
  double log_speed = 0;          // by how much its kernels take longer than in the middle of the two sides
};

struct PhaseLevels {
  std::vector<const RunPart*> parts;           // by name; borrowed
  std::array<std::vector<RunLevel>, 2> sides;  // of runs with a level, by name; paired: pairs at the same place
  std::vector<SetRun> without;                 // runs without level
  double load_change = 0;                      // of the means of the sides
  // Squared error, by the slopes of load, of the change of each part and of the period.
  std::vector<double> slope_errors;
  double period_slope_error = 0;
};

// At equal load: one slope for all runs, from steps within the runs.
PhaseLevels levels_of(const PhaseRuns& phase);

// One value of each run of a side.
template <class Get>
std::vector<double> values_of(const std::vector<RunLevel>& side, Get get) {
  std::vector<double> out;
  out.reserve(side.size());
  for (const RunLevel& level : side) out.push_back(get(level));
  return out;
}

struct SpeedFit {
  std::string none;           // why there is none; ""
  double leverage = 0;        // SetDesign
  std::vector<bool> follows;  // parts that follow the speed, as PhaseLevels::parts
  std::vector<double> extra;  // squared error by what is not known of how much each follows
  std::string suspect;        // class of kernels that may have changed instead; "": none
  double suspect_p = 1;
};

// Takes the speed of each run out of its parts. The speed is the weighted median of the kernels' logarithms of time
// over their loadings (how much of the speed a kernel follows: 1, less if it waits for memory), so that a change of a
// few groups does not move it. A change of more than half of the time does; the groups of other classes than the
// largest, with a vote each, then say another speed.
SpeedFit take_out_speed(PhaseLevels& levels, const SetDesign& design);

}  // namespace tracedb
