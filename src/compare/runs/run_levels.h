// The level of each run: what each part of the period takes at equal load, and at equal speed. Pure.
//
// Each run's mean period over all its steps is the sum of its parts, the speed, the load and the rare steps.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "compare/runs/set_comparison.h"
#include "compare/runs/set_statistics.h"

namespace tracedb {

struct PartLevels {
  const RunPart* part = nullptr;  // borrowed
  SideValues values;              // ns a step
  double slope_error = 0;         // squared error of their change, by the slope of load
  bool follows_speed = false;
  double loading_error = 0;  // of those: squared error by how much it follows, where the runs do not show it
};

struct PhaseLevels {
  std::array<std::vector<const RunSums*>, 2> runs;  // with a level, by name; paired: pairs at equal places
  std::vector<SetRun> without;                      // runs without level
  std::vector<PartLevels> parts;                    // by name
  SideValues mean_period, mean_load, period;        // of all steps; of regular steps; at equal load
  SideValues load, rare, speed;                     // ns by which these make the mean period longer
  SideValues log_speed;  // by how much a run's kernels take longer than in the middle of both sides
  SideValues suspect;    // ns, of the class that may have changed instead of the speed; empty: there is none
  double period_slope_error = 0;
  bool load_varies = false;  // within runs, so that its slope is known
};

// At equal load: one slope for all runs, from the steps within runs.
PhaseLevels levels_of(const PhaseRuns& phase);

struct SpeedFit {
  std::string none;         // why there is none; ""
  double leverage = 1;      // adds to SetDesign::per_variance() of parts that follow the speed, by their slopes' error
  double kept = 1;          // share of the degrees of freedom that the slopes left
  double period_error = 0;  // squared error of the change of the period at equal speed, by the slopes
  std::string suspect;      // class of kernels that may have changed instead of the speed; "": none
  std::optional<double> suspect_p;  // of a change between the sides; none: it differs from run to run
};

// Takes the speed of each run out of its parts. It is the median of the logarithms of the kernels' times over their
// loadings (how much of the speed a group follows: 1, less if it waits for memory), weighted by time and loading: a
// change of a few groups does not move it. A change of more than half of the time does; then the other
// classes than the largest, with a vote each, say another speed, or a third of them did not change, and none is taken
// out; nor where the other classes follow less than a third of what runs of a side differ by.
SpeedFit take_out_speed(PhaseLevels& levels, const SetDesign& design);

}  // namespace tracedb
