// Why a kind of steps takes longer or shorter: the rows of its ledger, each as a cause that a person can act on. Pure.
//
// Every change is a sum of rows of ledger_of(), by operation or by layer and operation, so that the reasons and what is
// left of the change add up to it to the nanosecond. An operation that changed in few of many layers, or otherwise in
// the head or tail of a step than in its layers, is a reason for these places and one for the others; one whose members
// (role, operator, kernel) moved against each other is two. Where kernel names are unreliable, all kernels are one.
// What one common cause explains is one reason: clocks that make all kernels of computation slower (same_kernels.h),
// and another load.
//
// A row is a reason if it is more than noise: at least 0.5 % of the time of the step (1 % where steps are too few for
// an interval, or did not change as a whole) and 2 % of all that changed, and if the 95 % interval of its change over
// the steps excludes 0. Reasons are in order of the size of their change; those of the last tenth of all that changed
// are left out. What lies between a step and one of another kind is no part of span or period: where that changed by
// more than noise, it is a reason beside them, per transition.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "compare/trace/compared_trace.h"
#include "passes/host/host_activity.h"
#include "passes/roles/role.h"

namespace tracedb {

// Where the host of a trace is while the device waits, between the steps of a group and within them: the place that
// says most (passes/host/host_activity.h).

struct HostFrame {
  std::string frame;       // of python, "llama.py(374): forward"; else an operator or a call, as the trace has it
  double share = 0;        // of the waiting time, or of what it is longer
  std::int64_t calls = 0;  // of python that it makes meanwhile
};

// In which time the host is looked for: from each of these device steps to the next of its kind, or of the kind `to`,
// on its device, or in the gaps of 2 us and more within the steps.
struct HostQuestion {
  std::vector<std::uint32_t> steps;
  bool between = false;
  std::optional<StepKind> to = std::nullopt;
};

// Where the host was in the time of a question.
struct HostStay {
  struct At {
    double time = 0;  // ns, of a wait in the mean
    std::int64_t calls = 0;
  };
  std::size_t waits = 0;            // steps, or pairs of them
  double waited = 0;                // ns, of one in the mean
  std::optional<HostFrame> mostly;  // nullopt: there is no such time, or nothing recorded in it
  // By python, operators and calls: whether the trace records any, and the time at each place, as the trace has it.
  std::array<bool, 3> recorded{};
  std::array<std::map<std::string, At>, 3> at;
};

// All at once, since each call reads all that the host did.
std::vector<HostStay> host_stays(const Index& index, const ComparedTrace& trace,
                                 std::span<const HostQuestion> questions);

// By frame without its line: the frames of a trace.
using FrameLines = std::map<std::string, std::set<std::string>>;
FrameLines frame_lines(const Index& index);

// Where the host of the trace that waits longer is longer than the other's, by at least half of what its device waits
// longer; the innermost of what both record. nullopt: nowhere. Lines move from one version to the next: where those of
// a function of a file differ, any of the other's may be the same frame, and all of them count against it.
std::optional<HostFrame> longer_stay(const HostStay& longer, const HostStay& other, const FrameLines& longer_lines,
                                     const FrameLines& other_lines);

// How long the critical path of a trace's steps would be if kernels of theirs took other times: what a reason brings
// alone, where other work or the host may hide it (passes/critical/critical_path.h).

// That kernels of computation, all by one factor, take less time in a device step.
struct PathQuestion {
  std::span<const std::uint32_t> device_steps;
  std::function<bool(NameId, std::int32_t layer)> is_of;  // layer: as in LayerSet
  double less = 0;                                        // ns a device step; below 0: more
};

// No bound on either side: not all of these kernels need have changed by that factor, and delays that were never
// observed count as none, as what is waited for without a record stays as it was.
struct PathWithout {
  double length = 0, without = 0;  // ns a step, of the path as it was and as it would be; means over at most 32 steps
  bool is_inferred = false;        // the path rests, in part, on what is not recorded
};

// All at once, since each call reads all that devices and hosts did. nullopt: such kernels do not take as much, the
// steps run on several devices, which may have changed differently, or overlap, as the host is a step or more ahead.
std::vector<std::optional<PathWithout>> step_paths(const Index& index, const ComparedTrace& trace,
                                                   std::span<const PathQuestion> questions);

enum class Cause {
  kBetweenSteps,   // time between steps, or steps that overlap
  kRecording,      // the same where the traces record differently: no change of the program
  kTransition,     // time before a step of another kind; beside the change that the others explain
  kRareSteps,      // rare long steps; beside it, too
  kIdle,           // the device runs nothing within a step
  kCommunication,  // exposed
  kCopies,         // exposed
  kNoStep,         // work that no step has, while nothing else runs
  kOperation,      // kernels of a class
  kFusion,
  kConcurrency,  // kernels of a step that run at once
  kOtherSteps,   // what steps that overlap run in each other's time
  kClocks,       // kernels of computation, all by one factor
  kLoad,         // kernels under another load
};
std::string_view to_string(Cause cause);  // between_steps, recording, transition, rare_steps, idle ...

enum class PlaceKind { kStep, kLayers, kStepHead, kStepTail };

// Where in a step a reason is.
struct Place {
  PlaceKind kind = PlaceKind::kStep;
  std::vector<std::int32_t> layers;     // the few that it is about; empty: all
  std::size_t compared = 0, moved = 0;  // layers that both traces have it in; of those: changed as the reason does
};

// Kernels at the same positions of both traces, of a reason: the pair that changed most.
struct ChangedPair {
  NameId baseline = 0, candidate = 0;
  double change = 0;  // ns per unit
};

// What the kernels of one role changed, ns per unit.
struct RoleChange {
  Role role = Role::kNone;
  double change = 0, time = 0;  // `time`: of both sides
};

// `baseline_n`, `candidate_n`: of a transition, how many there are.
struct Reason : CountedChange {
  Cause cause = Cause::kOperation;
  std::string op;           // class of the kernels; "" where they are of many, or none; of an operation: all kernels
  std::string member;       // of an operation whose members moved against each other: which of them, "bmm"; else ""
  std::string to;           // of a transition: the kind of the next step, as both traces name it
  std::string role;         // of the kernels that changed; "" where they have no common one
  bool role_alone = false;  // all that the reason counts is of that role
  // Of an operation: the roles that changed most of it, in order of size; empty where roles do not explain half of it.
  std::vector<RoleChange> roles;
  Place place;
  std::optional<double> share;       // of the change that is explained; nullopt: not part of it
  std::optional<Interval> interval;  // 95 %, of the change of a step, ns; nullopt: too few steps, or of a part
  std::optional<ChangedPair> pair;
  std::optional<HostFrame> host;  // of the trace that waits longer, while its device waits
  // Of kernels: how long the critical path of the candidate's step would be without it, its change spread over all
  // kernels of its operation and layers.
  std::optional<PathWithout> path;
  std::int64_t of_communication = 0;  // of the change by clocks, what is no kernel's of computation
  double confidence = 1;              // of fusions: the least
  bool whole_row = true;              // all that the ledger has of it in one row
  bool opposing = false;              // against the direction of the whole change
  // Of the change that is explained; else beside it.
  [[nodiscard]] bool is_part() const {
    return cause != Cause::kRecording && cause != Cause::kTransition && cause != Cause::kRareSteps;
  }
};

// Of one group of steps.
struct GroupReasons {
  const GroupComparison* group = nullptr;
  bool by_period = false;         // what is explained: the change of the period; else of the span
  LedgerChange total;             // that change
  std::vector<Reason> reasons;    // in order of size
  double slower = 0, faster = 0;  // ns: sums of the parts that got longer, that got shorter (negative)
  std::int64_t rest = 0;          // total - what reasons that are part of it explain
  std::vector<Reason> unsteady;   // large, but not beyond the difference from step to step: no reasons
  // Of either side with two kinds of steps: while its device waits longer in slow ones.
  std::array<std::optional<HostFrame>, 2> slow_hosts;
  double weight = 0;  // ns that the group and its transitions add to the change of the run, by mean number
};

// Both traces, and their indexes: where their hosts were, and what the candidate's paths would be.
struct ReasonSources {
  const ComparedTrace& baseline;
  const ComparedTrace& candidate;
  const KernelNameTable& kernel_names;
  const Index& baseline_index;
  const Index& candidate_index;
};

// Of each group, those that change the run most first.
std::vector<GroupReasons> find_reasons(const Comparison& comparison, const ReasonSources& sources);

}  // namespace tracedb
