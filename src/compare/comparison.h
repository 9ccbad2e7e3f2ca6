// Two traces compared: every section of `compare` as values. Pure.
//
// Figures are per unit: per step (and device) of the group by default. Less time is better everywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/align/alignment.h"
#include "compare/ledger.h"
#include "compare/same_kernels.h"
#include "compare/steps/step_groups.h"
#include "compare/steps/step_metrics.h"
#include "compare/work_sums.h"

namespace tracedb {

// What a comparison of one kind of steps may claim: the one place that decides whether a sentence may be said. A claim
// that the data do not carry is forbidden, with the reason in words; verdicts, gate, reasons, fusions and the sentences
// of a page ask here. Pure.

enum class Claim {
  kRatio,    // "12.4 % less", "2.4 times the throughput", "24 of 24 layers faster", and why that is so
  kVerdict,  // better, worse or the same, and with it a gate
  kKernels,  // whatever rests on the names of kernels: reasons by operation, fusions, clocks
};
inline constexpr std::size_t kClaims = 3;

class Permission {
 public:
  // The first reason counts: conditions come in order of weight.
  void forbid(std::initializer_list<Claim> claims, const std::string& reason);
  [[nodiscard]] bool may(Claim claim) const { return why_not(claim).empty(); }
  // A few words, as they stand in parentheses behind a verdict: "other work", "the load differs"; "": it may.
  [[nodiscard]] const std::string& why_not(Claim claim) const { return reasons_[static_cast<std::size_t>(claim)]; }

 private:
  std::array<std::string, kClaims> reasons_;
};

// What is known of a kind of steps, as far as a claim depends on it. Another condition: a member here, its line in
// permission_of().
struct GroupEvidence {
  bool other_work = false;         // both traces record the work, and it is not the same
  std::string incomparable = {};   // why steps of the same work are not alike: other tokens, requests, kinds
  std::string no_usual_step = {};  // bar_of(), of either trace
  bool names_out_of_step = false;  // of kernels, in either trace
};
Permission permission_of(const GroupEvidence& evidence);

enum class Normalise { kStep, kToken, kNone };
std::string_view to_string(Normalise normalise);  // step, token, trace

struct CompareOptions {
  Normalise normalise = Normalise::kStep;
  double least_change = kUsualChange;  // judge()
  std::optional<std::string> phase;    // GLOBs of group labels and kinds, separated by commas
  bool plain_classes = false;          // as the rules name them, also where the sides name one operation differently
  double least_confidence = 0.3;       // of fusions that are findings
  std::optional<std::uint32_t> step;   // of one trace that is both sides: this one against the others (match_step())
  bool different_work = false;         // other work is compared as if it were the same
  bool layer_changes = true;           // LayerChange::change is asked for: its intervals take time
};

// Whether --phase, where given, wants a group or kind of steps of that name.
bool wanted_phase(const CompareOptions& options, std::string_view name);

// Of an operation or a layer.
struct SumChange {
  WorkSum baseline, candidate;
  Change change;
};
struct OpChange : SumChange {
  OpId op = 0;
};
struct LayerChange : SumChange {  // `change`: only with CompareOptions::layer_changes
  std::int32_t layer = 0;
};

// From the steps of a group to those of another kind (device_steps.h), where both sides have that.
struct TransitionChange {
  std::string to;  // a kind of steps, as both sides name it
  StepKind baseline_to = StepKind::kUnknown, candidate_to = StepKind::kUnknown;  // as each does
  Change change;                                                                 // of the time from start to start
};

// Summary where steps are too few for an interval: many parts that change alike are better evidence than one step that
// changed. Of parts that both sides have, by their time per unit (step, token): slower or faster by 1 % of the lesser.
struct Tally {
  std::string_view what;  // layers, operations, aligned kernels
  std::size_t parts = 0, slower = 0, faster = 0;
  double median = 0;  // of the changes, candidate / baseline - 1
};

struct GroupComparison {
  StepGroup group;
  Permission permission;  // what may be said of it
  LoadDifference load;
  WorkDifference other_work;
  GroupWork baseline, candidate;
  std::int64_t baseline_units = 1, candidate_units = 1;
  // Kernel time that has a counterpart: a partner in the alignment, or a class that the other side has too.
  double baseline_coverage = 0, candidate_coverage = 0;
  Change metrics[kStepMetrics];  // by StepMetric
  // Steps follow each other on both sides: the account closes over their period.
  [[nodiscard]] bool has_period() const { return group.baseline.by_period && group.candidate.by_period; }
  // And both sides record alike, so that their periods can be compared.
  [[nodiscard]] bool by_period() const { return has_period() && metric(StepMetric::kPeriod).recorded_alike; }
  [[nodiscard]] bool by_transition() const;  // the same of any of the transitions
  // Sums of either side as figures are given.
  [[nodiscard]] double baseline_per_unit(std::int64_t sum) const {
    return static_cast<double>(sum) / static_cast<double>(baseline_units);
  }
  [[nodiscard]] double candidate_per_unit(std::int64_t sum) const {
    return static_cast<double>(sum) / static_cast<double>(candidate_units);
  }
  [[nodiscard]] const Change& metric(StepMetric which) const { return metrics[static_cast<std::size_t>(which)]; }
  // Where steps have no period and are of one kind, so that no transition is compared, and both sides record alike.
  // Both are told where either is much longer than the span, which alone is compared.
  std::optional<HostStep> baseline_host, candidate_host;
  [[nodiscard]] bool is_host_told() const {
    return permission.may(Claim::kRatio) && baseline_host && candidate_host &&
           (baseline_host->is_much_longer() || candidate_host->is_much_longer());
  }
  std::vector<TransitionChange> transitions;
  std::vector<OpChange> ops;        // in order of the time of both sides
  std::vector<LayerChange> layers;  // head, layers, tail, none
  GroupAlignment alignment;
  ClassLevels levels;
  RoleLevels role_levels;
  std::vector<Fusion> fusions;
  std::size_t uncertain_fusions = 0;  // of less confidence than requested, and left out
  std::vector<Tally> tallies;         // where the steps are too few for a verdict
};

// Of the layers, operations and aligned kernels that both sides have; empty tallies are left out.
std::vector<Tally> tallies(const GroupComparison& group);

// Of parts by their ratios, candidate / baseline, in any order.
Tally tally(std::string_view what, std::vector<double> ratios);

struct CompareWarning {
  std::string code, severity;  // warning, info
  std::string side;            // baseline, candidate, both
  std::string text;
};

struct Comparison {
  Normalise normalise = Normalise::kStep;
  std::optional<std::uint32_t> step;  // CompareOptions::step
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

// Differences that limit conclusions, most serious first. `notes`: of the matching of steps.
std::vector<CompareWarning> compare_warnings(const ComparedTrace& baseline, const ComparedTrace& candidate,
                                             const KernelNameTable& kernel_names, const Comparison& comparison,
                                             const std::vector<std::string>& notes);

// One trace by itself: its groups of steps, each with its work as that of the candidate, and a baseline without any.
// Ledgers then account for the whole time of a step.
Comparison account_for(const ComparedTrace& trace, const KernelNameTable& kernel_names);

Comparison compare_traces(const ComparedTrace& baseline, const ComparedTrace& candidate,
                          const KernelNameTable& kernel_names, const CompareOptions& options);

}  // namespace tracedb
