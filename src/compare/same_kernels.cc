#include "compare/same_kernels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/dense_index.h"
#include "base/parallel.h"
#include "base/unknown.h"

namespace tracedb {
namespace {

constexpr double kShortestMean = 2000;  // ns, of a mean duration
constexpr std::size_t kLeastKernels = 5;
constexpr double kLeastTime = 0.5;  // of the time of computation
constexpr double kMediansApart = 0.02;
constexpr double kSpread = 0.05;  // of the quartiles, by the median
constexpr double kLeastKernelChange = 0.03;
constexpr double kHolds = 0.05;

struct RatioSample {
  double ratio;
  double baseline_share, candidate_share;  // of the time of computation
  [[nodiscard]] double weight() const { return baseline_share + candidate_share; }
};

struct Quartiles {
  double low = 1, median = 1, high = 1;
};

double mean(std::int64_t time, std::int64_t n) { return static_cast<double>(time) / static_cast<double>(n); }

std::vector<RatioSample> ratio_samples(std::span<const SameTimes> kernels, double baseline_time,
                                       double candidate_time) {
  std::vector<RatioSample> out;
  if (baseline_time <= 0 || candidate_time <= 0) return out;
  for (const SameTimes& kernel : kernels) {
    const double ratio = kernel.ratio();
    if (!kernel.computes || ratio <= 0) continue;
    if (std::min(mean(kernel.baseline_time, kernel.baseline_n), mean(kernel.candidate_time, kernel.candidate_n)) <
        kShortestMean) {
      continue;
    }
    out.push_back({ratio, static_cast<double>(kernel.baseline_time) / baseline_time,
                   static_cast<double>(kernel.candidate_time) / candidate_time});
  }
  std::ranges::sort(out, {}, [](const RatioSample& one) { return std::pair(one.ratio, one.weight()); });
  return out;
}

// Where the weights of what is below and of what is above are the same; between two values, their geometric mean, which
// the inverse ratios have too.
template <class WeightOf>
double quantile(const std::vector<RatioSample>& sorted, double share, WeightOf weight_of) {
  double total = 0;
  for (const RatioSample& one : sorted) total += weight_of(one);
  const double wanted = share * total;
  const double slack = 1e-9 * total;
  double seen = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    seen += weight_of(sorted[i]);
    if (std::abs(seen - wanted) <= slack && i + 1 < sorted.size())
      return std::sqrt(sorted[i].ratio * sorted[i + 1].ratio);
    if (seen > wanted) return sorted[i].ratio;
  }
  return sorted.back().ratio;
}

template <class WeightOf>
Quartiles quartiles(const std::vector<RatioSample>& sorted, WeightOf weight_of) {
  return {quantile(sorted, 0.25, weight_of), quantile(sorted, 0.5, weight_of), quantile(sorted, 0.75, weight_of)};
}

Quartiles by_number(const std::vector<RatioSample>& sorted) {
  return quartiles(sorted, [](const RatioSample&) { return 1.0; });
}

double apart(double a, double b) { return std::max(a / b, b / a) - 1; }

// Of the ratios and of their inverses.
bool is_change(const Quartiles& of) {
  const double up = of.median - 1;
  const double down = 1 / of.median - 1;
  const bool narrow = (of.high - of.low) / of.median < kSpread && of.median * (1 / of.low - 1 / of.high) < kSpread;
  return narrow && std::min(std::abs(up), std::abs(down)) > kLeastKernelChange;
}

bool is_uniform(const std::vector<RatioSample>& sorted) {
  if (sorted.size() < kLeastKernels) return false;
  double a = 0, b = 0;
  for (const RatioSample& one : sorted) {
    a += one.baseline_share;
    b += one.candidate_share;
  }
  if (std::min(a, b) < kLeastTime) return false;
  const Quartiles number = by_number(sorted);
  const Quartiles time = quartiles(sorted, [](const RatioSample& one) { return one.weight(); });
  return apart(number.median, time.median) <= kMediansApart && is_change(number) && is_change(time);
}

// All but the one that is farthest from the median.
std::vector<RatioSample> without_outlier(std::vector<RatioSample> sorted) {
  if (sorted.empty()) return sorted;
  const double median = by_number(sorted).median;
  const bool first = apart(sorted.front().ratio, median) > apart(sorted.back().ratio, median);
  sorted.erase(first ? sorted.begin() : sorted.end() - 1);
  return sorted;
}

struct Use {
  std::uint64_t key = 0;  // name and configuration
  std::int64_t n = 0, time = 0;
  bool computes = true;
};

struct Uses {
  DenseIndex numbers;
  std::vector<Use> all;

  void add(std::uint64_t key, std::int64_t n, std::int64_t time, bool computes) {
    const auto [position, is_new] = numbers.index_of(key);
    if (is_new) all.push_back({key, 0, 0, true});
    Use& own = all[position];
    own.n += n;
    own.time = saturating_add(own.time, time);
    if (!computes) own.computes = false;
  }
  void add(const Use& use) { add(use.key, use.n, use.time, use.computes); }
  [[nodiscard]] double time(bool of_computation) const {
    double out = 0;
    for (const Use& use : all) out += use.computes || !of_computation ? static_cast<double>(use.time) : 0;
    return out;
  }
};

std::uint64_t key_of(NameId name, std::uint32_t config) { return (std::uint64_t{name} << 32) | config; }

Uses uses_of(const ComparedTrace& trace, const GroupSide& group) {
  Uses uses;
  const auto names = trace.events.kernels.ids("name_id");
  const auto configs = trace.events.kernels.ids("launch_config_id");
  const auto kind = trace.events.kernels.ids("kind");
  const auto dur = trace.events.kernels.int64s("dur");
  for (const std::uint32_t of_group : group.device_steps) {
    for (const std::uint32_t row : trace.work.kernels(trace.work.steps[of_group])) {
      if (dur[row] < 0) continue;  // unknown
      const NameId name = trace.name(names[row]);
      const std::uint32_t config =
          configs[row] < trace.numbers.configs.size() ? trace.numbers.configs[configs[row]] : 0;
      uses.add(key_of(name, config), 1, dur[row], work_of_kernel(kind[row]) == Work::kCompute);
    }
  }
  return uses;
}

std::vector<SameKernel> in_common(const Uses& a, const Uses& b) {
  std::unordered_map<std::uint64_t, const Use*> others;
  for (const Use& use : b.all) others.emplace(use.key, &use);
  std::vector<SameKernel> out;
  for (const Use& use : a.all) {
    const auto found = others.find(use.key);
    if (found == others.end()) continue;
    const Use& other = *found->second;
    out.push_back({static_cast<NameId>(use.key >> 32),
                   static_cast<std::uint32_t>(use.key),
                   {use.n, other.n, use.time, other.time, use.computes && other.computes}});
  }
  return out;
}

// A name as a whole, where a side does not know how some of its kernels were launched.
struct NameUse {
  SameTimes times;
  bool unknown = false;
};

std::map<std::uint64_t, NameUse> by_name(const Uses& a, const Uses& b) {
  std::map<std::uint64_t, NameUse> names;
  const auto enter = [&](const Use& use) -> SameTimes& {
    NameUse& name = names[use.key >> 32];
    name.unknown = name.unknown || static_cast<std::uint32_t>(use.key) == 0;
    name.times.computes = name.times.computes && use.computes;
    return name.times;
  };
  for (const Use& use : a.all) {
    SameTimes& times = enter(use);
    times.baseline_n += use.n;
    times.baseline_time = saturating_add(times.baseline_time, use.time);
  }
  for (const Use& use : b.all) {
    SameTimes& times = enter(use);
    times.candidate_n += use.n;
    times.candidate_time = saturating_add(times.candidate_time, use.time);
  }
  return names;
}

// Kernels by name and configuration; by name alone where a configuration is not known, as of graph replays, and both
// sides run the name as often in a step.
std::vector<SameTimes> launched_alike(const StepGroup& group, const Uses& a, const Uses& b) {
  const std::map<std::uint64_t, NameUse> names = by_name(a, b);
  std::vector<SameTimes> out;
  for (const SameKernel& kernel : in_common(a, b)) {
    if (!names.at(kernel.name).unknown) out.push_back(kernel.times);
  }
  const auto runs_a = static_cast<double>(group.baseline.device_steps.size());
  const auto runs_b = static_cast<double>(group.candidate.device_steps.size());
  for (const auto& [name, use] : names) {
    const double each_a = static_cast<double>(use.times.baseline_n) / runs_a;
    const double each_b = static_cast<double>(use.times.candidate_n) / runs_b;
    constexpr double kAsOften = 0.01;
    if (use.unknown && std::abs(each_a - each_b) <= kAsOften * std::min(each_a, each_b)) out.push_back(use.times);
  }
  return out;
}

std::optional<ClockChange> clock_change(const StepGroup& group, const Uses& a, const Uses& b) {
  if (!group.comparable()) return std::nullopt;
  auto found = find_clock_change(launched_alike(group, a, b), a.time(true), b.time(true));
  if (found) found->group = group.label;
  return found;
}

}  // namespace

double SameTimes::ratio() const {
  if (baseline_n == 0 || candidate_n == 0 || baseline_time == 0) return 0;
  return mean(candidate_time, candidate_n) / mean(baseline_time, baseline_n);
}

std::optional<ClockChange> find_clock_change(std::span<const SameTimes> kernels, double baseline_time,
                                             double candidate_time) {
  const std::vector<RatioSample> all = ratio_samples(kernels, baseline_time, candidate_time);
  std::vector<RatioSample> kept = all;
  if (!is_uniform(kept)) {
    kept = without_outlier(all);
    if (!is_uniform(kept)) return std::nullopt;
  }
  const Quartiles of = by_number(kept);
  ClockChange out{"", of.median, of.low, of.high, all.size(), 0, 0};
  double a = 0, b = 0;
  for (const RatioSample& one : all) {
    if (apart(one.ratio, of.median) > kHolds) continue;
    ++out.holding;
    a += one.baseline_share;
    b += one.candidate_share;
  }
  out.time_share = std::min(a, b);
  return out;
}

SameKernels same_kernels(const ComparedTrace& baseline, const ComparedTrace& candidate,
                         std::span<const StepGroup> groups, const KernelNameTable& kernel_names) {
  SameKernels out;
  const auto models = [](std::string_view devices) {
    const std::size_t count = devices.find(" x ");
    return count == std::string_view::npos ? devices : devices.substr(count + 3);
  };
  if (models(baseline.description.devices) != models(candidate.description.devices)) {
    out.cause = "other devices, clocks or power";
  }
  Uses all_a, all_b;
  for (const StepGroup& group : groups) {
    Uses a, b;
    run_both([&] { a = uses_of(baseline, group.baseline); }, [&] { b = uses_of(candidate, group.candidate); });
    if (auto change = clock_change(group, a, b)) out.clocks.push_back(std::move(*change));
    for (const Use& use : a.all) all_a.add(use);
    for (const Use& use : b.all) all_b.add(use);
  }
  out.kernels = in_common(all_a, all_b);
  std::ranges::sort(out.kernels, {}, [&](const SameKernel& k) {
    return std::tuple(-(static_cast<double>(k.times.baseline_time) + static_cast<double>(k.times.candidate_time)),
                      std::string_view(kernel_names.entries()[k.name].name), k.config);
  });
  double time_a = 0, time_b = 0;
  for (const SameKernel& kernel : out.kernels) {
    time_a += static_cast<double>(kernel.times.baseline_time);
    time_b += static_cast<double>(kernel.times.candidate_time);
  }
  out.baseline_share = all_a.time(false) > 0 ? time_a / all_a.time(false) : 0;
  out.candidate_share = all_b.time(false) > 0 ? time_b / all_b.time(false) : 0;
  return out;
}

}  // namespace tracedb
