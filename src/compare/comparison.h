// Two traces compared: every section of `compare` as values. Pure but for the sides' columns, which it reads.
//
// Figures are per unit: per step (and device) of the group by default. Less time is better everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/alignment.h"
#include "compare/class_levels.h"
#include "compare/few_steps.h"
#include "compare/fusion.h"
#include "compare/ledger_account.h"
#include "compare/same_kernels.h"
#include "compare/step_metrics.h"
#include "compare/work_sums.h"

namespace tracedb {

enum class Normalise { kStep, kToken, kNone };
std::optional<Normalise> normalise_from(std::string_view text);
std::string_view to_string(Normalise normalise);  // step, token, trace

struct CompareOptions {
  Normalise normalise = Normalise::kStep;
  VerdictRule rule;
  std::optional<std::string> phase;  // a GLOB of group labels and kinds
  bool plain_classes = false;        // as the rules name them, also where the sides name one operation differently
  double least_confidence = 0.3;     // of fusions that are findings
};

// Whether --phase, where given, wants a group or kind of steps of that name.
bool wanted_phase(const CompareOptions& options, std::string_view name);

struct OpChange {
  OpId op = 0;
  WorkSum baseline, candidate;
  Change change;
};

struct LayerChange {
  std::int32_t layer = 0;
  WorkSum baseline, candidate;
  Change change;
};

// From the steps of a group to those of another kind (step_periods.h), where both sides have that.
struct TransitionChange {
  std::string to;  // a kind of steps, as both sides name it
  Change change;   // of the time from start to start
};

struct GroupComparison {
  StepGroup group;
  GroupWork baseline, candidate;
  PeriodSums baseline_periods, candidate_periods;
  HostWaits baseline_waits, candidate_waits;
  std::int64_t baseline_units = 1, candidate_units = 1;
  // Kernel time that has a counterpart: a partner in the alignment, or a class that the other side has too.
  double baseline_coverage = 0, candidate_coverage = 0;
  Change metrics[kStepMetrics];  // by StepMetric
  // Steps follow each other on both sides: the account closes over their period.
  [[nodiscard]] bool has_period() const { return baseline_periods.known() && candidate_periods.known(); }
  // And both sides record alike, so that their periods can be compared.
  [[nodiscard]] bool by_period() const { return has_period() && metric(StepMetric::kPeriod).recorded_alike; }
  [[nodiscard]] bool by_transition() const;  // the same of any of the transitions
  [[nodiscard]] const Change& metric(StepMetric which) const { return metrics[static_cast<std::size_t>(which)]; }
  std::vector<TransitionChange> transitions;
  std::vector<OpChange> ops;        // in order of the time of both sides
  std::vector<LayerChange> layers;  // head, layers, tail, none
  GroupAlignment alignment;
  ClassLevels levels;
  std::vector<Fusion> fusions;
  std::vector<Tally> tallies;        // where the steps are too few for a verdict
  std::size_t doubtful_fusions = 0;  // of less confidence than asked for, and left out
};

struct CompareWarning {
  std::string code, severity;  // warning, info
  std::string side;            // baseline, candidate, both
  std::string text;
};

struct Comparison {
  Normalise normalise = Normalise::kStep;
  std::vector<GroupComparison> groups;
  double baseline_share = 0, candidate_share = 0;  // of kernel time: in groups
  SameKernels same;
  std::string recording_difference;  // recording.h; "": none
  std::vector<CompareWarning> warnings;
  // Over all groups, each with the mean of both sides' steps: the change of the headline, which is the period where
  // steps follow each other on both sides and record alike, else the span, transitions as often as both sides have them
  // in the mean; and the change of the span.
  Change overall, overall_span;
};

Comparison compare_sides(const Side& baseline, const Side& candidate, const Vocabulary& vocabulary,
                         const CompareOptions& options);

}  // namespace tracedb
