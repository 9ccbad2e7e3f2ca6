// Decides which device steps of two traces are compared: those of steps of the same kind and of comparable batch. Pure.
//
// A kind of steps makes one group if both traces have the same mix of batches, else one group for each batch size
// (powers of two) that both have. If no batch size is common, all steps of the kind make one group that is marked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/trace/compared_trace.h"

namespace tracedb {

inline constexpr double kSameMix = 0.1;  // most of the steps that may be in other batch sizes

struct GroupSide {
  // Indices into StepWork::steps, ascending: the steps that all figures are of (usual steps), and all of the group.
  std::vector<std::uint32_t> device_steps, matched;
  std::vector<std::uint32_t> rare;  // of those: too long to be regular
  std::vector<std::uint32_t> slow;  // two kinds of steps: of `device_steps` the slow ones; else empty
  std::vector<std::uint32_t> cut;   // of those: cut by the recording (StepFacts), where others are whole
  bool all_cut = false;             // there is no other
  std::size_t warm_up = 0;          // steps of `matched` that are left out at the start
  std::int64_t warm_up_time = 0;    // ns, the longest of them
  // The time of a step is its period, which most of the group have; the others are in none of the lists. Else its span.
  bool by_period = false;
  bool overlapping = false;  // on the device
  double margin = 0;         // how much longer than their median regular steps may be; 0: no rule for the other side
  StepKind kind = StepKind::kUnknown;
  std::int64_t requests = 0, tokens = 0;                   // sums over `device_steps`, as far as annotations say
  bool tokens_known = false;                               // of every one
  [[nodiscard]] std::vector<std::uint32_t> usual() const;  // of `device_steps` those that are not slow
};

struct StepGroup {
  std::string label;  // "decode", "prefill 4096..8191 tokens", "trace"
  GroupSide baseline, candidate;
  bool whole_trace = false;         // without steps
  std::string incomparable_reason;  // "": both have the same batch, as far as annotations say
  [[nodiscard]] bool comparable() const { return incomparable_reason.empty(); }
  // The label in a sentence: steps of which no annotation says the kind are just steps.
  [[nodiscard]] std::string_view said() const { return label == "unknown" ? "step" : std::string_view(label); }
};

struct StepMatch {
  std::vector<StepGroup> groups;                   // by baseline time, longest first
  std::vector<std::string> notes;                  // steps that only one trace has, and what else a reader must know
  double baseline_share = 0, candidate_share = 0;  // of the kernel time that is in a group
};

// `every_step`: all steps of a group count, whatever their time.
StepMatch match_steps(const ComparedTrace& baseline, const ComparedTrace& candidate, bool every_step = false);

// The side of a group of these steps of a kind. `least_margin`: that of the side it is compared with.
GroupSide group_side(const ComparedTrace& trace, StepKind kind, std::vector<std::uint32_t> steps,
                     bool every_step = false, double least_margin = 0);
// Of those of the steps that a step of kind `to` follows: their periods are the times until that begins.
GroupSide transition_side(const ComparedTrace& trace, StepKind kind, StepKind to, std::vector<std::uint32_t> steps);

// What the host takes for a step that has no period; medians, ns.
struct HostStep {
  double time = 0;
  // Of that, where it is much of the step: until its first work on the device, and behind the last. Spans leave it out.
  double before = 0, behind = 0;
  [[nodiscard]] bool is_much_longer() const { return before + behind > 0; }  // than the span
};
// nullopt: steps have a period, or the trace does not tell. `whole_trace`: StepGroup.
std::optional<HostStep> host_step(const ComparedTrace& trace, const GroupSide& side, bool whole_trace);

// What the steps of a side are compared by: period or span, ns.
std::int64_t time_of(const ComparedTrace& trace, const GroupSide& side, std::uint32_t device_step);

// Requests of a decode step, tokens of others; nullopt where the annotation does not say.
std::optional<std::int64_t> load_of(const StepInfo& info);

std::string_view load_of(const StepGroup& group);  // "requests", "tokens"

// The mean of that over the steps of a side; 0: not known.
double mean_load(const GroupSide& side);
// And of each, as far as it is known.
std::vector<std::int64_t> load_sample(const ComparedTrace& trace, const GroupSide& side);

// The device steps of a kind and a batch size (powers of two); none where the trace has no steps.
struct StepsOfBatch {
  StepKind kind = StepKind::kUnknown;
  std::string batch;  // "32..63 requests", "batch unknown"
  std::vector<std::uint32_t> device_steps;
};
std::vector<StepsOfBatch> steps_by_batch(const ComparedTrace& trace);

// How many steps these are: a step has a device step on each device.
std::size_t count_steps(const ComparedTrace& trace, std::span<const std::uint32_t> device_steps);

// "two kinds of steps", "cut by the recording": why the times of its steps are no evidence of how long a step takes; ""
// where they are.
std::string_view bar_of(const GroupSide& side);

// One step of the candidate, counted from 0, against the other steps of its kind and batch, as one group for each kind
// of device steps. No group: there is no such step with device work, or no other like it.
StepMatch match_step(const ComparedTrace& baseline, const ComparedTrace& candidate, std::uint32_t step);

// Which steps of a group its figures are of. Means add up, so every figure is a mean; a mean says something of a step
// only where steps are alike. Warm-up at the start and rare long steps are therefore left out, and told. Pure.
//
// Source: schema/METRICS.md 10. A step is regular if its time is at most median + max(5 x 1.4826 MAD, 20 % of the
// median) of the steps; 1.4826 MAD estimates the standard deviation of normal noise. Of sides of five steps or more the
// larger margin holds for both. It is warm-up if it and all before it are longer than that of the steps behind them.
// Where sorted times have a gap of more than 30 % with two steps and 20 % of all on either side, there are two kinds of
// steps and no usual one: all but the warm-up are counted. So they are where as many are too long to be regular.
struct UsualSteps {
  std::vector<std::size_t> counted, rare;  // places in the sample, ascending
  std::size_t warm_up = 0;                 // the first of the sample, which are in neither
  std::optional<std::int64_t> slow_from;   // two kinds of steps: the least time of the slow ones, ns
  double margin = 0;                       // GroupSide
};

// `times`: ns, in order of time; the first `marked` are warm-up whatever their times. `devices`: which ran each, where
// they are not all the same: of different ones none warms up for another.
UsualSteps usual_steps(std::span<const std::int64_t> times, std::size_t marked = 0, double least_margin = 0,
                       std::span<const std::uint32_t> devices = {});

// Whether two traces did different work in a kind of steps, as far as both record it. Pure.
//
// Another architecture, unless the models have one name, and another number of layers (where both are known by names,
// or both by rhythm) are another model, or of one name another size or a trace that is cut off. Shapes of operators
// differ if the work of a kind of operators changed by more than a quarter and next to nothing of it is of operands
// that both have. Merged and split weights are the same work, and so are padded ones; what tokens, requests or the
// number of ranks explain is another load of the same work. What only one trace records is not different.

// What a trace says of the work of a kind of steps; means over its device steps.
struct WorkFacts {
  std::string model;         // its name; "": not recorded, or only what is around the model
  std::string architecture;  // "transformer, MoE"; "": not known
  std::int64_t layers = 0;   // 0: not known; by rhythm those of the largest stack: drafts make one beside it
  bool by_rhythm = false;    // the layers
  double tokens = 0, requests = 0;
  double ranks = 1;
  // Work of a step (RecordedShape) by kind of operators and by operands.
  std::map<std::string, std::map<std::string, double>> shapes;
};
WorkFacts work_facts(const ComparedTrace& trace, const GroupSide& group);

struct WorkDifference {
  // "other model: gpt_oss, 24 layers, against qwen3, 48 layers" (of the baseline, of the candidate), "attention of
  // [1,1024,512] instead of [1,16384,512]" (of the candidate, of the baseline); "": the same work.
  std::string text;
  bool cycles = false;  // those of one trace are times, of the other cycles
};
WorkDifference work_difference(const WorkFacts& baseline, const WorkFacts& candidate);

}  // namespace tracedb
