#include "compare/reasons.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "compare/reason_parts.h"

namespace tracedb {
namespace {

constexpr double kLeastOfStep = 0.005;   // of the time of a step
constexpr double kLeastOfFew = 0.01;     // where steps are too few for an interval, or did not change as a whole
constexpr double kLeastOfSingle = 0.05;  // of transitions that are too few: each waits as chance has it
constexpr double kLeastOfMoved = 0.02;   // of all that changed
constexpr double kExplained = 0.9;       // of all that changed
constexpr double kMostWaiting = 0.5;     // of the waiting time: least that the host must be at one place
constexpr double kSameAmount = 0.01;     // of a change
constexpr double kExample = 0.25;        // of a reason: least that the pair of kernels named with it must be
constexpr double kMostOfMember = 0.5;    // the same where one member of a layer is told
constexpr double kNearlyAll = 0.95;      // of the change of an operation: least that one role has made alone
constexpr double kAlike = 0.99;          // of a transition: what is as large and part of the change comes before it

constexpr std::array<std::string_view, 14> kCauses = {
    "between_steps", "recording", "transition", "rare_steps",  "idle",        "communication", "copies",
    "no_step",       "operation", "fusion",     "concurrency", "other_steps", "clocks",        "load"};

double size(const Reason& reason) { return std::abs(static_cast<double>(reason.change.change)); }

std::vector<std::int64_t> step_values(const ComparedTrace& trace, const GroupSide& side,
                                      std::int64_t DeviceStep::*figure) {
  return sample_of_steps(trace.work, side.device_steps, [&](std::uint32_t i) { return trace.work.steps[i].*figure; });
}

// Before a step of another kind.
std::vector<std::int64_t> between_values(const ComparedTrace& trace, const GroupSide& side, StepKind to) {
  std::vector<std::int64_t> values;
  for (const std::uint32_t i : side.matched) {
    const Transition& transition = trace.periods.transitions[i];
    if (transition.period != kUnknownValue && transition.to == to) values.push_back(trace.work.steps[i].between);
  }
  return values;
}

// Of a row of the ledger, by LedgerKind: its cause, and what it sums up by step (null: it is not by step).
struct CauseOfRow {
  Cause cause = Cause::kOperation;
  std::int64_t DeviceStep::*figure = nullptr;
};
constexpr CauseOfRow kCausesOfRows[] = {{},
                                        {Cause::kFusion},
                                        {Cause::kCommunication, &DeviceStep::exposed_comm},
                                        {Cause::kCopies, &DeviceStep::exposed_copy},
                                        {Cause::kConcurrency, &DeviceStep::at_once},
                                        {Cause::kOtherSteps, &DeviceStep::shared},
                                        {Cause::kIdle, &DeviceStep::idle},
                                        {Cause::kNoStep, &DeviceStep::other},
                                        {Cause::kBetweenSteps, &DeviceStep::between},
                                        {Cause::kNoStep, &DeviceStep::between_other},
                                        {Cause::kRareSteps}};

class Finder {
 public:
  Finder(const Comparison& comparison, const GroupComparison& group, const ReasonSources& sources)
      : comparison_(comparison),
        group_(group),
        a_(sources.baseline),
        b_(sources.candidate),
        kernel_names_(sources.kernel_names) {}

  GroupReasons run() {
    out_.group = &group_;
    out_.by_period = group_.by_period();
    collect();
    if (comparison_.normalise != Normalise::kToken) fold_clocks();
    if (comparison_.normalise != Normalise::kToken) fold_load();
    pick();
    const double steps = static_cast<double>(group_.baseline.device_steps + group_.candidate.device_steps) / 2;
    out_.weight = std::abs(static_cast<double>(out_.total.change)) * steps;
    add_transitions();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool enough_steps() const {
    const auto steps = static_cast<std::size_t>(std::min(group_.baseline.steps, group_.candidate.steps));
    return steps >= kLeastSteps && comparison_.normalise == Normalise::kStep;
  }

  [[nodiscard]] double least() const {
    const double step = std::max(0.0, std::min(out_.total.baseline, out_.total.candidate));
    const Change& change = group_.metric(out_.by_period ? StepMetric::kPeriod : StepMetric::kSpan);
    const bool certain = enough_steps() && !change.wide && change.verdict != Verdict::kSame;
    return std::max((certain ? kLeastOfStep : kLeastOfFew) * step, kLeastOfMoved * moved_);
  }

  // Of fewer regular steps, none can be told to be rare.
  [[nodiscard]] bool rare_steps_count() const { return std::min(group_.baseline.steps, group_.candidate.steps) >= 3; }

  // The rows of the ledger, divided by place.
  void collect() {
    const LedgerAccount account = ledger_of(group_, kernel_names_, LedgerBy::kOp);
    out_.total = account.total(out_.by_period);
    for (const LedgerItem& item : account.items) {
      if (is_explained(item)) moved_ += std::abs(static_cast<double>(item.change.change));
    }
    const auto places = parts_by_row();
    const bool by_name = group_.permission.may(Claim::kKernels);
    if (!by_name) all_.push_back(all_kernels(account));
    for (const LedgerItem& item : account.items) {
      const bool is_told = is_explained(item) || item.kind == LedgerKind::kBetween ||
                           (item.kind == LedgerKind::kRare && rare_steps_count());
      if (item.change.change == 0 || !is_told || (!by_name && !item.of_step)) continue;
      const auto found = places.find({item.kind, item.kind == LedgerKind::kOperation ? item.op : item.op_class});
      collect_row(item, item.of_step || found == places.end() ? nullptr : &found->second);
    }
  }

  // `places`: where the row is; null: it is not divided.
  void collect_row(const LedgerItem& item, const std::vector<LayerPart>* places) {
    Reason whole;
    const CauseOfRow& row = kCausesOfRows[static_cast<std::size_t>(item.kind)];
    whole.cause = row.cause == Cause::kBetweenSteps && !out_.by_period ? Cause::kRecording : row.cause;
    whole.op = item.op_class;
    whole.add(item);
    if (whole.cause == Cause::kRareSteps) {
      whole.baseline_n = static_cast<double>(count_steps(a_, group_.group.baseline.rare));
      whole.candidate_n = static_cast<double>(count_steps(b_, group_.group.candidate.rare));
    }
    const auto add = [&](const Reason& reason, const std::vector<LayerPart>& parts) {
      for (Reason& part : split_by_place(group_, reason, parts, least())) all_.push_back(std::move(part));
    };
    whole.interval = interval_of(whole, row.figure);
    std::vector<MemberPart> members;
    if (whole.cause == Cause::kOperation) members = split_by_member(group_, kernel_names_, whole, least());
    for (const MemberPart& member : members) add(member.reason, member.layers);
    if (!members.empty()) return;
    if (places == nullptr) return void(all_.push_back(std::move(whole)));
    add(whole, *places);
  }

  // What lies between steps is no part of a span, and of a period that is not compared.
  [[nodiscard]] bool is_explained(const LedgerItem& item) const {
    const bool between = item.kind == LedgerKind::kBetween || item.kind == LedgerKind::kBetweenOther;
    return item.kind != LedgerKind::kRare && (out_.by_period || !between);
  }

  [[nodiscard]] std::map<std::pair<LedgerKind, std::string>, std::vector<LayerPart>> parts_by_row() const {
    std::map<std::pair<LedgerKind, std::string>, std::vector<LayerPart>> parts;
    if (!group_.alignment.by_layer) return parts;
    for (const LedgerItem& item : ledger_of(group_, kernel_names_, LedgerBy::kLayerOp).items) {
      if (item.of_step) continue;
      parts[{item.kind, item.op_class}].push_back({item, item.layer});
    }
    return parts;
  }

  [[nodiscard]] std::optional<Interval> interval_of(const Reason& reason, std::int64_t DeviceStep::*figure) const {
    if (!enough_steps() || reason.cause == Cause::kRecording) return std::nullopt;
    if (reason.cause == Cause::kOperation) {
      const auto found = std::ranges::find_if(
          group_.ops, [&](const OpChange& op) { return kernel_names_.op_name(op.op) == reason.op; });
      if (found == group_.ops.end()) return std::nullopt;
      return of_all(reason, found->change);
    }
    if (figure == nullptr) return std::nullopt;
    const auto found =
        sampled(step_values(a_, group_.group.baseline, figure), step_values(b_, group_.group.candidate, figure));
    return found ? of_all(reason, *found) : std::nullopt;
  }

  // A fusion, or another reason, may have part of the row: the interval is then of something else.
  static std::optional<Interval> of_all(const Reason& reason, const Change& row) {
    const double whole = row.difference();
    const bool is_all = std::abs(static_cast<double>(reason.change.change) - whole) <= kSameAmount * std::abs(whole);
    return is_all ? std::optional(row.measured()) : std::nullopt;
  }

  static std::optional<Change> sampled(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
    if (std::min(a.size(), b.size()) < kLeastSteps) return std::nullopt;
    Change out;
    out.baseline = draw_means(a), out.candidate = draw_means(b);
    out.interval = difference_interval(out.baseline, out.candidate);
    return out;
  }

  // Moves the part of a reason's change that another one explains, of which effects of counts stay.
  static void move(Reason& from, Reason& to, std::int64_t part) {
    const auto shift = static_cast<double>(part);
    if (from.interval) from.interval = Interval{from.interval->low - shift, from.interval->high - shift};
    from.whole_row = false;
    from.change.change -= part;
    from.change.duration_effect -= part;
    to.change.change += part;
    to.change.duration_effect += part;
    to.change.baseline += from.change.baseline;
    to.change.candidate += from.change.candidate;
    to.baseline_n += from.baseline_n;
    to.candidate_n += from.candidate_n;
  }

  // All kernels slower by one factor: what it explains of each row. Swapping the traces negates it.
  void fold_clocks() {
    const auto clock = std::ranges::find_if(comparison_.same.clocks,
                                            [&](const ClockChange& one) { return one.group == group_.group.label; });
    if (clock == comparison_.same.clocks.end()) return;
    Reason reason;
    reason.cause = Cause::kClocks;
    const double factor = (clock->ratio - 1) / (clock->ratio + 1);
    for (Reason& row : all_) {
      const bool computes = row.cause == Cause::kOperation || row.cause == Cause::kFusion;
      if (!computes && row.cause != Cause::kCommunication) continue;
      // A ratio of launches says nothing of other numbers of them.
      if (comparison_.normalise != Normalise::kStep && row.baseline_n != row.candidate_n) continue;
      const double part = factor * (row.change.baseline + row.change.candidate);
      const double left = static_cast<double>(row.change.change) - part;
      // How long collectives wait says nothing about clocks, unless it changed just so.
      if (!computes && std::abs(left) > 0.25 * std::abs(part)) continue;
      move(row, reason, std::llround(part));
      if (!computes) reason.of_communication += std::llround(part);
    }
    if (clock->interval) {
      const auto whole = static_cast<double>(reason.change.change);
      const auto [low, high] = std::minmax({whole * clock->interval->low, whole * clock->interval->high});
      reason.interval = Interval{low, high};
    }
    all_.push_back(std::move(reason));
  }

  // Of a row, ns: a load explains kernels that changed up to as much as it did, attention up to its square.
  static double explained_by(double load_ratio, const Reason& row) {
    const double margin = 1 + std::min(0.05, (load_ratio - 1) / 2);
    const auto whole = static_cast<double>(row.change.change);
    const bool attention = row.op.empty() || is_attention(row.op);
    const double most = attention ? load_ratio * load_ratio : load_ratio;
    const double less = std::max(0.0, std::min(row.change.baseline, row.change.candidate));
    return std::abs(whole) <= less * (margin * most - 1) ? whole : std::copysign(less * (most - 1), whole);
  }

  // Another load changes all kernels: what changed as it did cannot be told from it.
  void fold_load() {
    const double a = mean_load(group_.group.baseline), b = mean_load(group_.group.candidate);
    const auto& by_load = comparison_.same.by_load;
    const Change& change = group_.metric(out_.by_period ? StepMetric::kPeriod : StepMetric::kSpan);
    const bool told = !same_load(a, b) || change.is_by_load();
    if (!told && std::ranges::find(by_load, group_.group.label) == by_load.end()) return;
    Reason reason;
    reason.cause = Cause::kLoad;
    for (Reason& row : all_) {
      const bool everywhere =
          row.place.layers.empty() && (row.cause == Cause::kOperation || row.cause == Cause::kFusion);
      const bool comm =
          row.cause == Cause::kCommunication && row.place.kind == PlaceKind::kLayers && row.place.layers.empty();
      if ((!everywhere && !comm) || (row.change.change > 0) != (b > a)) continue;
      const std::int64_t part = std::llround(explained_by(std::max(a / b, b / a), row));
      if (part == 0) continue;
      const std::int64_t by_count = part == row.change.change ? row.change.count_effect : 0;
      reason.change.count_effect += by_count;
      reason.change.duration_effect -= by_count;
      move(row, reason, part);
      // What is beyond the load is none of its times.
      (b > a ? reason.change.candidate : reason.change.baseline) -= size(row);
    }
    all_.push_back(std::move(reason));
  }

  void pick() {
    std::ranges::stable_sort(all_, [](const Reason& x, const Reason& y) { return size(x) > size(y); });
    moved_ = 0;
    for (const Reason& reason : all_) {
      if (!reason.is_part()) continue;
      moved_ += size(reason);
      (reason.change.change > 0 ? out_.slower : out_.faster) += static_cast<double>(reason.change.change);
    }
    const double least_change = least();
    double explained = 0;
    out_.rest = out_.total.change;
    for (Reason& reason : all_) {
      if (size(reason) < least_change) continue;
      if (reason.is_part() && !group_.permission.may(Claim::kRatio)) continue;
      finish(reason);
      if (!reason.is_part()) {
        out_.reasons.push_back(std::move(reason));
        continue;
      }
      if (explained >= kExplained * moved_) continue;
      const bool noise = reason.interval && reason.interval->low <= 0 && reason.interval->high >= 0;
      if (!noise) {
        explained += size(reason);
        out_.rest -= reason.change.change;
      }
      (noise ? out_.unsteady : out_.reasons).push_back(std::move(reason));
    }
  }

  // Before steps of another kind: by the mean over such transitions.
  void add_transitions() {
    for (const TransitionChange& transition : group_.transitions) {
      if (!transition.change.recorded_alike) continue;
      const auto a = between_values(a_, group_.group.baseline, transition.baseline_to);
      const auto b = between_values(b_, group_.group.candidate, transition.candidate_to);
      Reason reason;
      reason.cause = Cause::kTransition;
      reason.to = transition.to;
      reason.change.baseline = draw_means(a).mean;
      reason.change.candidate = draw_means(b).mean;
      reason.change.change = std::llround(reason.change.candidate - reason.change.baseline);
      reason.change.duration_effect = reason.change.change;
      reason.baseline_n = static_cast<double>(a.size());
      reason.candidate_n = static_cast<double>(b.size());
      if (const auto found = sampled(a, b)) reason.interval = found->interval;
      const bool noise = reason.interval && reason.interval->low <= 0 && reason.interval->high >= 0;
      const double step = std::max(0.0, std::min(out_.total.baseline, out_.total.candidate));
      if (noise || size(reason) < (reason.interval ? kLeastOfStep : kLeastOfSingle) * step) continue;
      out_.weight += size(reason) * (reason.baseline_n + reason.candidate_n) / 2;
      const auto place =
          std::ranges::find_if(out_.reasons, [&](const Reason& other) { return size(other) < kAlike * size(reason); });
      out_.reasons.insert(place, std::move(reason));
    }
  }

  void finish(Reason& reason) const {
    const auto total = static_cast<double>(out_.total.change);
    if (reason.is_part() && total != 0) reason.share = static_cast<double>(reason.change.change) / total;
    reason.opposing = reason.share && *reason.share < 0;
    if (reason.cause == Cause::kOperation) {
      reason.pair = pair_of(reason);
      reason.roles = changes_by_role(group_, kernel_names_, reason);
      if (!reason.roles.empty() && reason.roles[0].change / static_cast<double>(reason.change.change) > kNearlyAll)
        reason.role = to_string(reason.roles[0].role);
      reason.role_alone = !reason.role.empty() &&
                          reason.roles[0].time > kNearlyAll * (reason.change.baseline + reason.change.candidate);
    }
    for (const Fusion& fusion : group_.fusions) {
      const bool own =
          reason.cause == Cause::kFusion && kernel_names_.op_name(kernel_names_.op_of(fusion.fused.name)) == reason.op;
      if (own) reason.confidence = std::min(reason.confidence, fusion.confidence);
    }
  }

  [[nodiscard]] std::optional<ChangedPair> pair_of(const Reason& reason) const {
    std::map<std::pair<NameId, NameId>, double> pairs;
    const auto is_of = [&](const PairSide& side) {
      return kernel_names_.op_name(group_.levels.op_of(side.name, kernel_names_)) == reason.op;
    };
    for (const AlignedSegment& segment : group_.alignment.segments) {
      for (const KernelPair& pair : segment.pairs) {
        if (!pair.has_both() || !is_of(pair.baseline) || !is_of(pair.candidate)) continue;
        pairs[{pair.baseline.name, pair.candidate.name}] +=
            group_.candidate_per_unit(pair.candidate.time) - group_.baseline_per_unit(pair.baseline.time);
      }
    }
    std::optional<ChangedPair> most;
    for (const auto& [names, change] : pairs) {
      if ((change > 0) != (reason.change.change > 0)) continue;
      if (!most || std::abs(change) > std::abs(most->change)) most = {names.first, names.second, change};
    }
    // A small pair is no example of the reason, and may be of the other members.
    const double least = reason.member.empty() ? kExample : kMostOfMember;
    if (most && std::abs(most->change) < least * size(reason)) most.reset();
    return most;
  }

  const Comparison& comparison_;
  const GroupComparison& group_;
  const ComparedTrace& a_;
  const ComparedTrace& b_;
  const KernelNameTable& kernel_names_;
  std::vector<Reason> all_;  // parts of rows, which add up to the account
  double moved_ = 0;         // sum of the sizes of what is explained, ns
  GroupReasons out_;
};

// Of a transition: the kind of the next step, as the trace names it.
std::optional<StepKind> kind_after(const GroupReasons& group, const Reason& reason, bool of_candidate) {
  for (const TransitionChange& transition : group.group->transitions) {
    if (reason.cause != Cause::kTransition || transition.to != reason.to) continue;
    return of_candidate ? transition.candidate_to : transition.baseline_to;
  }
  return std::nullopt;
}

// Where the hosts are longer while devices wait: than in the other trace, all at once of each; or in long steps of one
// trace than in its other ones.
class Hosts {
 public:
  void ask(GroupReasons& group, const ReasonSources& sources) {
    const std::array<const GroupSide*, 2> sides = {&group.group->group.baseline, &group.group->group.candidate};
    for (Reason& reason : group.reasons) {
      const std::size_t longer = reason.change.change > 0 ? 1 : 0;
      if (reason.cause == Cause::kRareSteps) {
        ask_long(reason.host, sources, longer, *sides[longer], sides[longer]->rare, sides[longer]->device_steps);
        continue;
      }
      const bool between = reason.cause == Cause::kBetweenSteps || !reason.is_part();
      if (!between && reason.cause != Cause::kIdle) continue;
      const auto of = [&](std::size_t side) {
        const GroupSide& own = *sides[side];
        return add(side, {reason.cause == Cause::kTransition ? own.matched : own.device_steps, between,
                          kind_after(group, reason, side == 1)});
      };
      asking_.push_back({&reason.host, of(longer), of(1 - longer)});
    }
    for (const std::size_t side : {0U, 1U}) {
      const GroupSide& own = *sides[side];
      if (!own.slow.empty()) ask_long(group.slow_hosts[side], sources, side, own, own.slow, own.usual());
    }
  }

  void answer(const ReasonSources& sources) {
    const std::array<std::vector<HostStay>, 2> found = {
        host_stays(sources.baseline_index, sources.baseline, questions_[0]),
        host_stays(sources.candidate_index, sources.candidate, questions_[1])};
    std::array<FrameLines, 2> lines;
    if (!asking_.empty()) lines = {frame_lines(sources.baseline_index), frame_lines(sources.candidate_index)};
    for (const Asking& one : asking_) {
      const HostStay &longer = found[one.longer.side][one.longer.place],
                     &other = found[one.other.side][one.other.place];
      std::optional<HostFrame> host = longer_stay(longer, other, lines[one.longer.side], lines[one.other.side]);
      if (host && one.more) host->share *= std::min(1.0, (longer.waited - other.waited) / *one.more);
      if (host && host->share >= kMostWaiting) *one.host = std::move(host);
    }
  }

 private:
  struct Asked {
    std::size_t side, place;  // of the questions of that side
  };
  struct Asking {
    std::optional<HostFrame>* host;
    Asked longer, other;
    std::optional<double> more = std::nullopt;  // ns, that the share is of; else what the device waits longer
  };

  // Of what makes steps of a trace longer than others, the waits within them and behind them: at most one is most of
  // it.
  void ask_long(std::optional<HostFrame>& host, const ReasonSources& sources, std::size_t side, const GroupSide& own,
                const std::vector<std::uint32_t>& steps, const std::vector<std::uint32_t>& others) {
    const ComparedTrace& trace = side == 0 ? sources.baseline : sources.candidate;
    const auto time = [&](std::uint32_t i) { return time_of(trace, own, i); };
    const double more = mean_over(steps, time) - mean_over(others, time);
    if (more <= 0) return;
    for (const bool between : {false, true}) {
      if (!between || own.by_period)
        asking_.push_back({&host, add(side, {steps, between}), add(side, {others, between}), more});
    }
  }
  Asked add(std::size_t side, HostQuestion question) {
    questions_[side].push_back(std::move(question));
    return {side, questions_[side].size() - 1};
  }

  std::array<std::vector<HostQuestion>, 2> questions_;
  std::vector<Asking> asking_;
};

// Whether it is what kernels took more or less, and which.
bool is_of_kernels(const Reason& reason) {
  const bool placed = reason.place.kind == PlaceKind::kStep || reason.place.kind == PlaceKind::kLayers;
  return reason.cause == Cause::kClocks || (reason.cause == Cause::kOperation && reason.member.empty() && placed);
}

// What each would bring alone: of all reasons at once.
void find_paths(std::vector<GroupReasons>& groups, const ReasonSources& sources) {
  std::vector<PathQuestion> questions;
  std::vector<std::optional<PathWithout>*> asking;
  for (GroupReasons& group : groups) {
    const GroupComparison& own = *group.group;
    for (Reason& reason : group.reasons) {
      if (!is_of_kernels(reason)) continue;
      const auto is_of = [&own, &kernel_names = sources.kernel_names, &op = reason.op, &layers = reason.place.layers](
                             NameId name, std::int32_t layer) {
        return (layers.empty() || std::ranges::find(layers, layer) != layers.end()) &&
               (op.empty() || kernel_names.op_name(own.levels.op_of(name, kernel_names)) == op);
      };
      const std::int64_t less = reason.change.change - reason.of_communication;
      questions.push_back({own.group.candidate.device_steps, is_of, static_cast<double>(less)});
      asking.push_back(&reason.path);
    }
  }
  const std::vector<std::optional<PathWithout>> found =
      step_paths(sources.candidate_index, sources.candidate, questions);
  for (std::size_t i = 0; i < found.size(); ++i) *asking[i] = found[i];
}

}  // namespace

std::string_view to_string(Cause cause) { return kCauses[static_cast<std::size_t>(cause)]; }

std::vector<GroupReasons> find_reasons(const Comparison& comparison, const ReasonSources& sources) {
  std::vector<GroupReasons> out;
  for (const GroupComparison& group : comparison.groups) out.push_back(Finder(comparison, group, sources).run());
  Hosts hosts;
  for (GroupReasons& group : out) hosts.ask(group, sources);
  hosts.answer(sources);
  if (comparison.normalise == Normalise::kStep) find_paths(out, sources);
  std::ranges::stable_sort(out, std::ranges::greater(), &GroupReasons::weight);
  return out;
}

}  // namespace tracedb
