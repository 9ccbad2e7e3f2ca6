// Compares two sets of runs of one phase (steps of one kind and batch group): is the change larger than what varies
// from run to run, and which parts make it? The run is the unit of all statistics: steps and ranks within it share its
// clock, machine and memory layout. Pure; needs the sums of each run only.
//
// Times are ns per step. Swapping the sides negates changes and intervals exactly; the order of runs and parts changes
// nothing but, with `paired`, who is compared with whom.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/steps/step_metrics.h"

namespace tracedb {

// A part of the period of a step: a group of kernels, or "[exposed communication]", "[idle]", "[between steps]".
struct RunPart {
  std::string name;      // no other part has it
  std::string op_class;  // of kernels; else ""
  bool kernels = false;  // computation, whose time follows the clock
  bool waits = false;    // for the host, copies or communication, whatever the clock
};

// Sums over the regular steps of a run of a part's time x, of x^2 and of x times the load of the step. 0: has it not.
struct PartSums {
  double time = 0, time_squares = 0, time_load = 0;
};

inline constexpr std::int64_t kLeastOfLevel = 3;  // regular steps of a run

struct RunSums {
  std::string name;                        // no other run of the side has it
  std::string bar;                         // why this run has no level: "under 3 regular steps"; "": it has
  std::int64_t steps = 0, rare_steps = 0;  // regular steps; the others
  double load = 0, load_squares = 0;       // sums over regular steps of the load (requests or tokens) and its square
  double period = 0, period_squares = 0;   // sums over regular steps
  double mean_period = 0;                  // of all steps
  std::vector<PartSums> parts;             // as PhaseRuns::parts; their times add up to `period`
};

struct PhaseRuns {
  std::vector<RunPart> parts;
  std::array<std::vector<RunSums>, 2> sides;  // baseline, candidate
  std::string no_speed;                       // why speed cannot be told from work: "other GPUs"; "": it can
  std::string incomparable;                   // why the work is not the same; "": it is
  bool paired = false;                        // runs of equal place were made under equal conditions
  std::optional<Interval> devices = {};  // relative changes of the spans of devices, of all ranks, that changed apart
};

enum class GateMetric { kBoth, kPeriod, kPeriodAtEqualSpeed };
struct SetOptions {
  double budget_pct = 2;  // more than 0; "same" is a change within it, and the gate is at it
  GateMetric gate_metric = GateMetric::kBoth;
  bool gate_strict = false;  // fails only if the whole interval is above the budget
};

// Percentages are of the baseline.
struct SetMetric {
  std::int64_t baseline_runs = 0, candidate_runs = 0;  // that have a level
  double baseline = 0, candidate = 0;                  // means over runs, at equal load
  double change = 0, change_pct = 0;
  std::optional<Interval> range, range_pct;  // of 95 %; none: not judged, as `reason` tells
  std::optional<double> run_sd_pct;          // from run to run, both sides pooled; paired: of the differences
  std::optional<double> detectable_pct;      // least true change that such sets tell from 0 four times in five
  std::optional<std::int64_t> runs_needed;   // runs a side (pairs) until that is within the budget; 10000 at most
  std::optional<Interval>
      devices;  // as PhaseRuns: their mean is not the same, and passes no gate that one of them fails
  Verdict verdict = Verdict::kInconclusive;
  std::string reason;  // of an inconclusive verdict
};

enum class SetRowKind { kPart, kSpeed, kLoad, kRareSteps };
struct SetRow {
  SetRowKind kind = SetRowKind::kPart;
  std::string name;  // of the part; "[speed]" or "[speed or CLASS]", "[load]", "[rare steps]"
  std::string op_class;
  double baseline = 0, candidate = 0;  // means over runs, parts at equal load and speed
  std::int64_t change = 0;             // rounded so that the rows add up to SetComparison::change
  std::optional<Interval> range;
  std::optional<double> p, q_value;  // t test; Benjamini and Hochberg, over the parts. q of "[speed or CLASS]": its p
  std::int64_t agreeing = 0, pairs = 0;  // pairs of a run of either side, and how many changed in the row's direction
  bool named = false;                    // a reason
  bool known = true;                     // else 0: what the load does, where loads differ and no run tells
  [[nodiscard]] bool uncertain() const { return !range || (range->low <= 0 && range->high >= 0); }
};

struct SetRun {
  int side = 0;
  std::string name;
  std::string bar;  // as RunSums; or "its partner has no level"
  std::int64_t steps = 0, rare_steps = 0;
  double load = 0;                               // mean of regular steps
  double period = 0, period_at_equal_speed = 0;  // at equal load; 0 without level, as measured without speed_pct
  std::optional<double> speed_pct;  // by how much its kernels take longer than those of a run of middle speed
  std::string note;                 // how it stands out from its side; never left out for it
  std::vector<double> rows;         // as SetComparison::rows; none without level
};

struct SetComparison {
  SetMetric period, period_at_equal_speed;
  bool barred = false;       // no number of runs would have made a verdict: nothing was judged
  bool load_varies = false;  // within runs: their periods are at equal load
  // "" or why no speed is told: then parts are as measured, the second metric is not judged, and the gate is by the
  // period alone.
  std::string no_speed;
  double baseline = 0, candidate = 0;  // means over runs of the mean period of all steps, not at equal load
  std::int64_t change = 0;
  std::vector<SetRow> rows;  // parts by size of change, named ones first; then speed, load, rare steps
  std::vector<SetRun> runs;  // by side and name
  // What rare steps add to the change of the period, which is that of regular ones: percent of it; 0: less than 1 %.
  [[nodiscard]] double rare_pct() const;
  GateOutcome gate = GateOutcome::kInconclusive;
  std::optional<std::int64_t> gate_runs_needed;  // of an inconclusive gate
};

SetComparison compare_sets(const PhaseRuns& phase, const SetOptions& options);

// Judges the period of one run a side by the variance of earlier runs. `history`: those, as the baseline, against the
// same candidate. Three and more are needed; else nothing is judged.
void judge_by_history(const SetComparison& history, const SetOptions& options, SetComparison& one_run_a_side);

}  // namespace tracedb
