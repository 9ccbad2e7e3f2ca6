#include "compare/steps/step_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

#include "base/statistics.h"
#include "base/text/amounts.h"
#include "base/unknown.h"
#include "compare/steps/step_metrics.h"
#include "passes/steps/step_stats.h"

namespace tracedb {
namespace {

constexpr int kUnknownBatch = -1;

bool counts_requests(StepKind kind) { return kind == StepKind::kDecode; }

int bucket_of(const StepInfo& info) {
  const std::optional<std::int64_t> batch = load_of(info);
  return !batch || *batch < 0 ? kUnknownBatch : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*batch)));
}

std::string bucket_label(StepKind kind, int bucket) {
  const char* what = counts_requests(kind) ? "requests" : "tokens";
  if (bucket == kUnknownBatch) return "batch unknown";
  if (bucket <= 1) return fmt::format("{} {}", bucket, what);
  const std::uint64_t low = std::uint64_t{1} << (bucket - 1);
  return fmt::format("{}..{} {}", low, 2 * low - 1, what);
}

using Buckets = std::map<int, std::vector<std::uint32_t>>;
using Kinds = std::map<StepKind, Buckets>;

Kinds kinds_of(const ComparedTrace& trace) {
  Kinds kinds;
  for (std::uint32_t i = 0; i < trace.work.steps.size(); ++i) {
    const StepInfo& info = trace.steps.steps[trace.work.steps[i].step - 1].info;
    kinds[info.kind][bucket_of(info)].push_back(i);
  }
  return kinds;
}

std::size_t count(const Buckets& buckets) {
  std::size_t n = 0;
  for (const auto& [bucket, steps] : buckets) n += steps.size();
  return n;
}

// Half the sum of the differences of shares: the part of the steps that is in other batch sizes.
double mix_distance(const Buckets& a, const Buckets& b) {
  const auto share = [](const Buckets& of, int bucket) {
    const auto found = of.find(bucket);
    return found == of.end() ? 0.0 : static_cast<double>(found->second.size()) / static_cast<double>(count(of));
  };
  double distance = 0;
  for (const auto& [bucket, steps] : a) distance += std::abs(share(a, bucket) - share(b, bucket));
  for (const auto& [bucket, steps] : b) distance += a.contains(bucket) ? 0 : share(b, bucket);
  return distance / 2;
}

// Sets which of the matched steps count. `periods`: of them, to a step of their own or another kind.
void choose_steps(const ComparedTrace& trace, const std::vector<std::int64_t>& periods, bool every_step,
                  double least_margin, GroupSide& side) {
  const std::vector<DeviceStep>& steps = trace.work.steps;
  std::vector<std::uint32_t> whole;
  for (const std::uint32_t i : side.matched) {
    const std::uint32_t step = steps[i].step;
    (step != 0 && trace.steps.steps[step - 1].cut ? side.cut : whole).push_back(i);
  }
  side.all_cut = !side.matched.empty() && whole.empty();
  if (whole.empty() || every_step) whole = side.matched, side.cut.clear();
  const auto followed = std::ranges::count_if(whole, [&](std::uint32_t i) { return periods[i] != kUnknownValue; });
  side.by_period = followed > 0 && 2 * static_cast<std::size_t>(followed) >= whole.size();
  if (every_step) return;
  std::map<std::uint32_t, std::vector<std::uint32_t>> sample;  // by step
  for (const std::uint32_t i : whole) {
    if (!side.by_period || periods[i] != kUnknownValue) sample[steps[i].step].push_back(i);
  }
  std::vector<std::vector<std::uint32_t>> by_step;
  std::vector<std::uint32_t> first_device;  // of each
  std::size_t marked = 0;
  for (auto& [step, devices] : sample) {
    if (marked == by_step.size() && trace.steps.steps[step - 1].warm_up) ++marked;
    first_device.push_back(steps[devices.front()].device);
    by_step.push_back(std::move(devices));
  }
  const std::vector<std::int64_t> times =
      step_sample(trace.work, whole, side.by_period ? StepMetric::kPeriod : StepMetric::kSpan, periods);
  const UsualSteps usual = usual_steps(times, marked, least_margin, first_device);
  side.margin = usual.margin;
  side.warm_up = usual.warm_up;
  for (std::size_t i = 0; i < usual.warm_up; ++i) side.warm_up_time = std::max(side.warm_up_time, times[i]);
  const auto add = [&](std::vector<std::uint32_t>& to, std::size_t step) {
    to.insert(to.end(), by_step[step].begin(), by_step[step].end());
  };
  for (const std::size_t i : usual.rare) add(side.rare, i);
  side.device_steps.clear();
  for (const std::size_t i : usual.counted) {
    add(side.device_steps, i);
    if (usual.slow_from && times[i] >= *usual.slow_from) add(side.slow, i);
  }
}

std::vector<std::uint32_t> all_steps(const Buckets& buckets) {
  std::vector<std::uint32_t> all;
  for (const auto& [bucket, steps] : buckets) all.insert(all.end(), steps.begin(), steps.end());
  return all;
}

std::vector<std::uint32_t> all_kinds(const Kinds& kinds) {
  std::vector<std::uint32_t> all;
  for (const auto& [kind, buckets] : kinds) std::ranges::copy(all_steps(buckets), std::back_inserter(all));
  return all;
}

class Matcher {
 public:
  Matcher(const ComparedTrace& baseline, const ComparedTrace& candidate, bool every_step)
      : baseline_(baseline), candidate_(candidate), every_step_(every_step) {}

  StepMatch of_step(std::uint32_t number) {
    if (candidate_.steps.steps.empty()) return {};
    for (auto& [kind, buckets] : kinds_of(candidate_)) {
      for (auto& [bucket, steps] : buckets) {
        const auto is_own = [&](std::uint32_t i) { return candidate_.work.steps[i].step == number + 1; };
        const auto others = std::stable_partition(steps.begin(), steps.end(), is_own);
        add(std::string(to_string(kind)), group_side(baseline_, kind, {others, steps.end()}, false),
            group_side(candidate_, kind, {steps.begin(), others}, true), "");
      }
    }
    finish();
    return std::move(out_);
  }

  StepMatch run() {
    if (baseline_.steps.steps.empty() || candidate_.steps.steps.empty()) {
      whole_traces();
    } else {
      by_kind();
    }
    finish();
    return std::move(out_);
  }

 private:
  void add(std::string label, GroupSide a, GroupSide b, std::string incomparable_reason) {
    if (a.device_steps.empty() || b.device_steps.empty()) return;
    StepGroup group{std::move(label), std::move(a), std::move(b), false, std::move(incomparable_reason)};
    if (group.comparable()) compare_means(group);
    out_.groups.push_back(std::move(group));
  }

  void add(std::string label, StepKind kind, std::vector<std::uint32_t> a, std::vector<std::uint32_t> b,
           std::string incomparable_reason = "") {
    auto [first, second] = sides(kind, std::move(a), kind, std::move(b));
    add(std::move(label), std::move(first), std::move(second), std::move(incomparable_reason));
  }

  // By one rule of what is regular.
  std::pair<GroupSide, GroupSide> sides(StepKind kind_a, std::vector<std::uint32_t> a, StepKind kind_b,
                                        std::vector<std::uint32_t> b) {
    std::pair out(group_side(baseline_, kind_a, std::move(a), every_step_),
                  group_side(candidate_, kind_b, std::move(b), every_step_));
    auto& [first, second] = out;
    if (first.margin < second.margin)
      first = group_side(baseline_, kind_a, std::move(first.matched), every_step_, second.margin);
    else if (second.margin < first.margin)
      second = group_side(candidate_, kind_b, std::move(second.matched), every_step_, first.margin);
    return out;
  }

  // Within a group the batches may still differ: 33 and 60 requests are one power of two.
  static void compare_means(StepGroup& group) {
    const double a = mean_load(group.baseline), b = mean_load(group.candidate);
    if (same_load(a, b)) return;
    group.incomparable_reason =
        fmt::format("{}: the batch differs: {:.0f} and {:.0f} {} a step", group.label, a, b, load_of(group));
  }

  void whole_traces() {
    const auto take = [](const ComparedTrace& trace) {
      GroupSide group;
      group.matched.resize(trace.work.steps.size());
      std::iota(group.matched.begin(), group.matched.end(), 0U);
      group.device_steps = group.matched;
      return group;
    };
    const bool neither = baseline_.steps.steps.empty() && candidate_.steps.steps.empty();
    const char* side = candidate_.steps.steps.empty() ? "baseline" : "candidate";
    const std::string incomparable_reason =
        neither ? "" : fmt::format("only the {} has steps: each is compared with the whole of the other trace", side);
    add("trace", take(baseline_), take(candidate_), incomparable_reason);
    if (!out_.groups.empty()) out_.groups.back().whole_trace = true;
  }

  void by_kind() {
    Kinds a = kinds_of(baseline_);
    Kinds b = kinds_of(candidate_);
    if (a.contains(StepKind::kUnknown) && b.contains(StepKind::kUnknown) && (a.size() == 1) != (b.size() == 1)) {
      const auto kind_of = [](const Kinds& kinds) { return kinds.size() == 1 ? StepKind::kUnknown : StepKind::kMixed; };
      auto [own, other] = sides(kind_of(a), all_kinds(a), kind_of(b), all_kinds(b));
      return add("unknown", std::move(own), std::move(other),
                 fmt::format("only the {} tells kinds of steps: all of each trace are compared",
                             a.size() == 1 ? "candidate" : "baseline"));
    }
    std::erase_if(a, [&](const auto& kind) {
      const auto other = b.extract(kind.first);
      if (other) match_batches(kind.first, kind.second, other.mapped());
      return !other.empty();
    });
    match_unknown(a, b);
    report_rest(baseline_, a, "baseline");
    report_rest(candidate_, b, "candidate");
  }

  void match_batches(StepKind kind, const Buckets& a, const Buckets& b) {
    const std::string name(to_string(kind));
    if (mix_distance(a, b) <= kSameMix) return add(name, kind, all_steps(a), all_steps(b));
    const std::size_t before = out_.groups.size();
    std::size_t left = 0;
    for (const auto& [bucket, steps] : a) {
      const auto other = b.find(bucket);
      if (other == b.end()) {
        left += steps.size();
        continue;
      }
      add(fmt::format("{} {}", name, bucket_label(kind, bucket)), kind, steps, other->second);
    }
    if (out_.groups.size() == before)
      return add(name, kind, all_steps(a), all_steps(b), name + " steps have no batch size in common");
    std::size_t other_left = 0;
    for (const auto& [bucket, steps] : b) other_left += a.contains(bucket) ? 0 : steps.size();
    if (left + other_left > 0) {
      out_.notes.push_back(fmt::format(
          "{}: left out for a batch size that the other trace lacks: {} of the baseline, {} of the candidate", name,
          counted(left, "step"), other_left));
    }
  }

  // Inferred steps may be of unknown kind on one side only: if just one kind is left opposite, they may be the same.
  void match_unknown(Kinds& a, Kinds& b) {
    if (a.size() != 1 || b.size() != 1) return;
    const StepKind first = a.begin()->first;
    const StepKind second = b.begin()->first;
    if (first != StepKind::kUnknown && second != StepKind::kUnknown) return;
    // Without the host there is nothing to tell a kind by: that is no difference.
    const bool no_host = !(first == StepKind::kUnknown ? baseline_ : candidate_).description.holds.launches;
    auto [own, other] = sides(first, all_steps(a.begin()->second), second, all_steps(b.begin()->second));
    add(std::string(to_string(first == StepKind::kUnknown ? second : first)), std::move(own), std::move(other),
        no_host ? ""
                : fmt::format("{} steps of the baseline are compared with {} steps of the candidate: only these remain",
                              to_string(first), to_string(second)));
    a.clear();
    b.clear();
  }

  void report_rest(const ComparedTrace& trace, const Kinds& kinds, const char* side) {
    for (const auto& [kind, buckets] : kinds) {
      out_.notes.push_back(fmt::format("only the {} has {} steps: {} left out", side, to_string(kind),
                                       counted(count_steps(trace, all_steps(buckets)), "step")));
    }
  }

  static double time_of(const ComparedTrace& trace, const GroupSide& group) {
    double time = 0;
    for (const std::uint32_t i : group.matched) time += static_cast<double>(trace.work.steps[i].kernel_time);
    return time;
  }

  void finish() {
    std::ranges::stable_sort(out_.groups, std::ranges::greater(), [&](const StepGroup& g) {
      return time_of(baseline_, g.baseline) + time_of(candidate_, g.candidate);
    });
    double a = 0, b = 0;
    for (const StepGroup& group : out_.groups) {
      a += time_of(baseline_, group.baseline);
      b += time_of(candidate_, group.candidate);
    }
    const auto share = [](double part, const ComparedTrace& trace) {
      return trace.work.kernel_time > 0 ? part / static_cast<double>(trace.work.kernel_time) : 0;
    };
    out_.baseline_share = share(a, baseline_);
    out_.candidate_share = share(b, candidate_);
  }

  const ComparedTrace& baseline_;
  const ComparedTrace& candidate_;
  bool every_step_;
  StepMatch out_;
};

constexpr double kSigma = 1.4826, kMostSigmas = 5, kLeastMargin = 0.2;
constexpr double kKindsApart = 1.3, kLeastShare = 0.2;
constexpr std::size_t kLeastOfKind = 2;

// The longest that a step may take and be regular, and how much longer than the median that is, part of it.
struct Regular {
  double margin, most;
};
Regular regular(std::span<const std::int64_t> times, double least_margin) {
  std::vector<double> values(times.begin(), times.end());
  const double middle = tracedb::median(std::span(values));
  for (double& value : values) value = std::abs(value - middle);
  const double noise = middle > 0 ? kMostSigmas * kSigma * tracedb::median(std::span(values)) / middle : 0;
  const double margin = std::max({noise, kLeastMargin, least_margin});
  return {margin, middle * (1 + margin)};
}

// How many steps make a kind.
std::size_t least_of_kind(std::size_t steps) {
  return std::max(kLeastOfKind, static_cast<std::size_t>(std::ceil(kLeastShare * static_cast<double>(steps))));
}

// The least time above the widest gap between two kinds of steps.
std::optional<std::int64_t> slow_kind(std::span<const std::int64_t> times) {
  std::vector<std::int64_t> sorted(times.begin(), times.end());
  std::ranges::sort(sorted);
  const std::size_t least = least_of_kind(sorted.size());
  std::optional<std::int64_t> found;
  double widest = kKindsApart;
  for (std::size_t i = least; i + least <= sorted.size(); ++i) {
    const double ratio = static_cast<double>(sorted[i]) / std::max(static_cast<double>(sorted[i - 1]), 1.0);
    if (ratio <= widest) continue;
    widest = ratio;
    found = sorted[i];
  }
  return found;
}

// ---- whether they do the same work

constexpr double kSameWork = 1.25;  // most by which the work may differ: padding
constexpr double kInCommon = 0.2;   // of the work on either side: least by which it is the same

using Shapes = std::map<std::string, double>;  // work of a step by operands

// "LlamaForCausalLM" -> "llama"
std::string family_of(std::string name) {
  name.resize(std::min({name.size(), name.find("For"), name.find("Model")}));
  std::erase(name, '_');
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

std::string model_text(const WorkFacts& facts) {
  const std::string number = facts.layers > 0 ? fmt::format("{} layers", facts.layers) : "";
  if (facts.model.empty()) return number;
  return facts.model + (number.empty() ? "" : ", ") + number;
}

double sum(const Shapes& shapes) {
  double all = 0;
  for (const auto& [operands, work] : shapes) all += work;
  return all;
}

// The part of the work whose operands the other side has too.
double in_common(const Shapes& own, const Shapes& other) {
  double both = 0;
  for (const auto& [operands, work] : own) both += other.contains(operands) ? work : 0;
  return both / sum(own);
}

const std::string& most(const Shapes& shapes) {
  return std::ranges::max_element(shapes, {}, [](const auto& one) { return one.second; })->first;
}

// Whether the ratio of two works is that of the load, or of ranks that share it, or lies between. Convolutions are not
// shared.
bool is_explained(double ratio, bool shared, const WorkFacts& a, const WorkFacts& b) {
  double low = 1 / kSameWork, high = kSameWork;
  const auto add = [&](double baseline, double candidate) {
    if (baseline <= 0 || candidate <= 0) return;
    low *= std::min(1.0, candidate / baseline);
    high *= std::max(1.0, candidate / baseline);
  };
  const auto load = a.tokens > 0 && b.tokens > 0 ? &WorkFacts::tokens : &WorkFacts::requests;
  add(a.*load, b.*load);
  if (shared) add(b.ranks, a.ranks);
  return ratio >= low && ratio <= high;
}

// Of models with other numbers of layers.
WorkDifference other_layers(const std::string& models, bool one_name) {
  if (!one_name) return {"other model: " + models};
  return {"other number of layers: " + models + ": another size, or a trace that is cut off"};
}

GroupSide side_of(const ComparedTrace& trace, StepKind kind, std::vector<std::uint32_t> steps,
                  const std::vector<std::int64_t>& periods, bool every_step, double least_margin) {
  GroupSide group;
  group.kind = kind;
  std::ranges::sort(steps);
  group.device_steps = group.matched = std::move(steps);
  choose_steps(trace, periods, every_step, least_margin, group);
  group.tokens_known = !group.device_steps.empty();
  double overlap = 0, span = 0;
  for (const std::uint32_t i : group.device_steps) {
    overlap += static_cast<double>(trace.work.steps[i].overlap);
    span += static_cast<double>(trace.work.steps[i].span);
    const StepInfo& info = trace.steps.steps[trace.work.steps[i].step - 1].info;
    group.requests = saturating_add(group.requests, info.context_requests.value_or(0));
    group.requests = saturating_add(group.requests, info.generation_requests.value_or(0));
    const std::optional<std::int64_t> tokens = tokens_of(info);
    group.tokens = saturating_add(group.tokens, tokens.value_or(0));
    group.tokens_known = group.tokens_known && tokens && *tokens > 0;
  }
  group.overlapping = overlap > kLeastChange * span;
  return group;
}

}  // namespace

std::vector<std::uint32_t> GroupSide::usual() const {
  std::vector<std::uint32_t> out;
  std::ranges::set_difference(device_steps, slow, std::back_inserter(out));
  return out;
}

GroupSide group_side(const ComparedTrace& trace, StepKind kind, std::vector<std::uint32_t> steps, bool every_step,
                     double least_margin) {
  return side_of(trace, kind, std::move(steps), trace.periods.within_kind, every_step, least_margin);
}

GroupSide transition_side(const ComparedTrace& trace, StepKind kind, StepKind to, std::vector<std::uint32_t> steps) {
  const std::vector<std::int64_t> periods = trace.periods.to(to);
  std::erase_if(steps, [&](std::uint32_t i) { return periods[i] == kUnknownValue; });
  return side_of(trace, kind, std::move(steps), periods, false, 0);
}

std::int64_t time_of(const ComparedTrace& trace, const GroupSide& side, std::uint32_t device_step) {
  return side.by_period ? trace.periods.to_next(device_step) : trace.work.steps[device_step].span;
}

std::optional<std::int64_t> load_of(const StepInfo& info) {
  return counts_requests(info.kind) ? info.generation_requests : tokens_of(info);
}

double mean_load(const GroupSide& side) {
  const std::int64_t sum = counts_requests(side.kind) ? side.requests : side.tokens;
  return side.device_steps.empty() ? 0 : static_cast<double>(sum) / static_cast<double>(side.device_steps.size());
}

std::string_view load_of(const StepGroup& group) {
  return counts_requests(group.baseline.kind) ? "requests" : "tokens";
}

std::vector<std::int64_t> load_sample(const ComparedTrace& trace, const GroupSide& side) {
  return sample_of_steps(trace.work, side.device_steps, [&](std::uint32_t i) {
    const std::uint32_t step = trace.work.steps[i].step;
    const auto load = step == 0 ? std::nullopt : load_of(trace.steps.steps[step - 1].info);
    return load.value_or(0) > 0 ? *load : kUnknownValue;
  });
}

std::vector<StepsOfBatch> steps_by_batch(const ComparedTrace& trace) {
  std::vector<StepsOfBatch> out;
  if (trace.steps.steps.empty()) return out;
  for (auto& [kind, buckets] : kinds_of(trace)) {
    for (auto& [bucket, steps] : buckets) out.push_back({kind, bucket_label(kind, bucket), std::move(steps)});
  }
  return out;
}

std::size_t count_steps(const ComparedTrace& trace, std::span<const std::uint32_t> device_steps) {
  std::set<std::uint32_t> steps;
  for (const std::uint32_t i : device_steps) steps.insert(trace.work.steps[i].step);
  return steps.size();
}

std::string_view bar_of(const GroupSide& side) {
  if (side.kind == StepKind::kUnit) return kRepeatingUnit;
  if (side.all_cut) return "cut by the recording";
  if (!side.slow.empty()) return "two kinds of steps";
  return side.overlapping && !side.by_period ? kOverlap : "";
}

StepMatch match_steps(const ComparedTrace& baseline, const ComparedTrace& candidate, bool every_step) {
  return Matcher(baseline, candidate, every_step).run();
}

StepMatch match_step(const ComparedTrace& baseline, const ComparedTrace& candidate, std::uint32_t step) {
  return Matcher(baseline, candidate, false).of_step(step);
}

UsualSteps usual_steps(std::span<const std::int64_t> times, std::size_t marked, double least_margin,
                       std::span<const std::uint32_t> devices) {
  constexpr std::size_t kLeastForOthers = 5;  // of fewer the scatter says little
  UsualSteps out;
  out.warm_up = std::min(marked, times.size() - std::min<std::size_t>(times.size(), 1));
  const auto warms_up = [&](std::size_t step) {
    std::vector<std::int64_t> behind;
    for (std::size_t i = step + 1; i < times.size(); ++i) {
      if (devices.empty() || devices[i] == devices[step]) behind.push_back(times[i]);
    }
    return !behind.empty() && static_cast<double>(times[step]) > regular(behind, least_margin).most;
  };
  while (out.warm_up + 1 < times.size() && warms_up(out.warm_up)) ++out.warm_up;
  const std::span<const std::int64_t> rest = times.subspan(out.warm_up);
  if (rest.empty()) return out;
  out.slow_from = slow_kind(rest);
  const Regular limit = regular(rest, least_margin);
  if (!out.slow_from && rest.size() >= kLeastForOthers) out.margin = limit.margin;
  const auto is_long = [&](std::int64_t time) { return static_cast<double>(time) > limit.most; };
  const auto beyond = static_cast<std::size_t>(std::ranges::count_if(rest, is_long));
  const bool any_rare = !out.slow_from && beyond < least_of_kind(rest.size());
  for (std::size_t i = 0; i < rest.size(); ++i) {
    (any_rare && is_long(rest[i]) ? out.rare : out.counted).push_back(out.warm_up + i);
  }
  return out;
}

WorkFacts work_facts(const ComparedTrace& trace, const GroupSide& group) {
  const auto each = [&](double sum) { return sum / static_cast<double>(group.device_steps.size()); };
  WorkFacts out;
  out.model = trace.recorded_work.model;
  for (const char* wrapper : {"DataParallel", "OptimizedModule", "GraphModule", "Norm"}) {
    if (out.model.find(wrapper) != std::string::npos) out.model.clear();
  }
  out.architecture = trace.recorded_work.architecture;
  for (const PhaseLayers& phase : trace.layers.phases) {
    if (phase.kind != group.kind) continue;
    out.by_rhythm = phase.sources == std::vector{LayerSource::kRhythm};
    out.layers = static_cast<std::int64_t>(phase.layers);
    if (out.by_rhythm && !phase.stacks.empty())
      out.layers = std::ranges::max(phase.stacks, {}, &LayerStack::layers).layers();
    break;
  }
  out.tokens = each(static_cast<double>(group.tokens));
  out.requests = each(static_cast<double>(group.requests));
  out.ranks = std::max(1.0, std::atof(trace.description.world_size.c_str()));
  for (const std::uint32_t step : group.device_steps) {
    for (const std::uint32_t i : trace.recorded_work.by_step[step]) {
      const RecordedShape& shape = trace.recorded_work.shapes[i];
      out.shapes[std::string(shape.kind)][shape.operands] += each(shape.work);
    }
  }
  return out;
}

WorkDifference work_difference(const WorkFacts& a, const WorkFacts& b) {
  const std::string models = fmt::format("{}, against {}", model_text(a), model_text(b));
  const WorkDifference other_model = {"other model: " + models};
  const bool both_layers = a.layers > 0 && b.layers > 0;
  const std::string name_a = family_of(a.model), name_b = family_of(b.model);
  const bool both_names = !name_a.empty() && !name_b.empty();
  const bool other_name = both_names && !name_a.starts_with(name_b) && !name_b.starts_with(name_a);
  const bool one_name = both_names && !other_name;
  if (both_layers && a.layers != b.layers && a.by_rhythm == b.by_rhythm) return other_layers(models, one_name);
  if (!one_name && !a.architecture.empty() && !b.architecture.empty() && a.architecture != b.architecture)
    return other_name ? other_model
                      : WorkDifference{fmt::format("other architecture, by its kernels: {}, against {}", a.architecture,
                                                   b.architecture)};
  // Attention by products of its own, on one side alone, is the same work.
  const bool attention = a.shapes.contains("attention") || b.shapes.contains("attention");
  bool compared = false;
  for (const auto& [kind, own_a] : a.shapes) {
    const auto found = b.shapes.find(kind);
    const bool left_out = attention && kind == "batched product";
    if (left_out || found == b.shapes.end() || sum(own_a) <= 0 || sum(found->second) <= 0) continue;
    compared = true;
    const Shapes& own_b = found->second;
    if (std::max(in_common(own_a, own_b), in_common(own_b, own_a)) >= kInCommon) continue;
    if (other_name) return other_model;
    if (is_explained(sum(own_b) / sum(own_a), kind != "convolution", a, b)) continue;
    return {fmt::format("{} of {} instead of {}", kind, most(own_b), most(own_a))};
  }
  const bool alike_layers = both_layers && a.layers == b.layers;
  return other_name && !compared && !alike_layers ? other_model : WorkDifference{};
}

}  // namespace tracedb
