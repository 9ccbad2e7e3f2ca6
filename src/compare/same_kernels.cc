#include "compare/same_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

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
constexpr double kSteady = 0.01;

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

bool is_of_most(const std::vector<RatioSample>& kernels) {
  double a = 0, b = 0;
  for (const RatioSample& one : kernels) {
    a += one.baseline_share;
    b += one.candidate_share;
  }
  return kernels.size() >= kLeastKernels && std::min(a, b) >= kLeastTime;
}

bool is_uniform(const std::vector<RatioSample>& sorted) {
  if (!is_of_most(sorted)) return false;
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
  std::size_t runs = 0;  // device steps that they are of
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
  void add(const Uses& other) {
    runs += other.runs;
    for (const Use& use : other.all) add(use.key, use.n, use.time, use.computes);
  }
  [[nodiscard]] double time(bool of_computation) const {
    double out = 0;
    for (const Use& use : all) out += use.computes || !of_computation ? static_cast<double>(use.time) : 0;
    return out;
  }
};

std::uint64_t key_of(NameId name, std::uint32_t config) { return (std::uint64_t{name} << 32) | config; }
NameId name_of(std::uint64_t key) { return static_cast<NameId>(key >> 32); }
std::uint32_t config_of(std::uint64_t key) { return static_cast<std::uint32_t>(key); }

// The kernels of a device step whose duration is known.
template <class Visit>
void each_kernel(const ComparedTrace& trace, const DeviceStep& step, Visit visit) {
  const auto names = trace.events.kernels.ids("name_id");
  const auto configs = trace.events.kernels.ids("launch_config_id");
  const auto kind = trace.events.kernels.ids("kind");
  const auto dur = trace.events.kernels.int64s("dur");
  for (const std::uint32_t row : trace.work.kernels(step)) {
    if (dur[row] < 0) continue;
    const std::uint32_t config = configs[row] < trace.numbers.configs.size() ? trace.numbers.configs[configs[row]] : 0;
    visit(key_of(trace.name(names[row]), config), dur[row], work_of_kernel(kind[row]) == Work::kCompute);
  }
}

// By the profiler's number of the device.
using DeviceUses = std::map<std::int64_t, Uses>;

DeviceUses uses_of(const ComparedTrace& trace, const GroupSide& group) {
  DeviceUses out;
  const std::vector<std::int64_t> numbers = device_numbers(trace.events);
  for (const std::uint32_t of_group : group.device_steps) {
    const DeviceStep& step = trace.work.steps[of_group];
    Uses& uses = out[numbers[step.device]];
    ++uses.runs;
    each_kernel(trace, step,
                [&](std::uint64_t key, std::int64_t dur, bool computes) { uses.add(key, 1, dur, computes); });
  }
  return out;
}

Uses of_all(const DeviceUses& devices) {
  Uses out;
  for (const auto& [device, uses] : devices) out.add(uses);
  return out;
}

std::vector<SameKernel> in_common(const Uses& a, const Uses& b) {
  std::unordered_map<std::uint64_t, const Use*> others;
  for (const Use& use : b.all) others.emplace(use.key, &use);
  std::vector<SameKernel> out;
  for (const Use& use : a.all) {
    const auto found = others.find(use.key);
    if (found == others.end()) continue;
    const Use& other = *found->second;
    out.push_back(
        {name_of(use.key), config_of(use.key), {use.n, other.n, use.time, other.time, use.computes && other.computes}});
  }
  return out;
}

// Kernels by name and configuration; by name alone where a configuration is not known, as of graph replays, and both
// sides run the name as often in a step.
std::vector<SameKernel> launched_alike(const Uses& a, const Uses& b) {
  std::unordered_set<NameId> unknown;
  for (const Uses* uses : {&a, &b}) {
    for (const Use& use : uses->all) {
      if (config_of(use.key) == 0) unknown.insert(name_of(use.key));
    }
  }
  const auto as_known = [&](const Uses& uses) {
    Uses out;
    for (const Use& use : uses.all) {
      const NameId name = name_of(use.key);
      out.add(unknown.contains(name) ? key_of(name, 0) : use.key, use.n, use.time, use.computes);
    }
    return out;
  };
  std::vector<SameKernel> out = in_common(as_known(a), as_known(b));
  std::erase_if(out, [&](const SameKernel& kernel) {
    constexpr double kAsOften = 0.01;
    const double each_a = mean(kernel.times.baseline_n, static_cast<std::int64_t>(a.runs));
    const double each_b = mean(kernel.times.candidate_n, static_cast<std::int64_t>(b.runs));
    return kernel.config == 0 && std::abs(each_a - each_b) > kAsOften * std::min(each_a, each_b);
  });
  return out;
}

std::vector<SameTimes> times_of(std::span<const SameKernel> kernels) {
  std::vector<SameTimes> times;
  for (const SameKernel& kernel : kernels) times.push_back(kernel.times);
  return times;
}

std::optional<ClockChange> change_of(std::span<const SameKernel> kernels, const Uses& a, const Uses& b) {
  return find_clock_change(times_of(kernels), a.time(true), b.time(true));
}

bool is_steady(std::span<const SameKernel> kernels, const Uses& a, const Uses& b) {
  const std::vector<RatioSample> all = ratio_samples(times_of(kernels), a.time(true), b.time(true));
  if (!is_of_most(all)) return false;
  const Quartiles of = by_number(all);
  return apart(of.low, 1) < kSteady && apart(of.high, 1) < kSteady;
}

// Whether each device that both traces have changed so, too.
bool on_each_device(const DeviceUses& a, const DeviceUses& b, double ratio) {
  return std::ranges::all_of(a, [&](const auto& device) {
    const auto other = b.find(device.first);
    if (other == b.end()) return true;
    const auto own = change_of(launched_alike(device.second, other->second), device.second, other->second);
    return own && apart(own->ratio, ratio) <= kHolds;
  });
}

// By kernel: the mean duration on both sides, of those that changed so.
using UsualTimes = std::unordered_map<std::uint64_t, double>;

UsualTimes usual_times(std::span<const SameKernel> kernels, double ratio) {
  UsualTimes out;
  for (const auto& [name, config, times] : kernels) {
    if (!times.computes || times.ratio() <= 0 || apart(times.ratio(), ratio) > kHolds) continue;
    out[key_of(name, config)] =
        std::sqrt(mean(times.baseline_time, times.baseline_n) * mean(times.candidate_time, times.candidate_n));
  }
  return out;
}

// By step: how long these kernels take, in billionths of what is usual.
std::vector<std::int64_t> paces(const ComparedTrace& trace, const GroupSide& group, const UsualTimes& usual) {
  return sample_of_steps(trace.work, group.device_steps, [&](std::uint32_t i) {
    double time = 0, expected = 0;
    each_kernel(trace, trace.work.steps[i], [&](std::uint64_t key, std::int64_t dur, bool) {
      auto found = usual.find(key);
      if (found == usual.end()) found = usual.find(key_of(name_of(key), 0));
      if (found == usual.end()) return;
      time += static_cast<double>(dur);
      expected += found->second;
    });
    return expected > 0 ? std::int64_t{std::llround(1e9 * time / expected)} : kUnknownValue;
  });
}

// Of the difference as one; it includes 0 if that of the difference does.
std::optional<Interval> part_interval(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  if (std::min(a.size(), b.size()) < kLeastSteps) return std::nullopt;
  const MeanDraws of_a = draw_means(a), of_b = draw_means(b);
  const Interval interval = difference_interval(of_a, of_b);
  const double whole = of_b.mean - of_a.mean;
  const auto [low, high] = std::minmax({interval.low / whole, interval.high / whole});
  return Interval{low, high};
}

// Whether another load explains half of the change or more.
bool is_by_load(const StepGroup& group, double ratio) {
  constexpr double kHalf = 0.5;
  const double a = mean_load(group.baseline), b = mean_load(group.candidate);
  return a > 0 && b > 0 && std::log(b / a) / std::log(ratio) >= kHalf;
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
    DeviceUses devices_a, devices_b;
    run_both([&] { devices_a = uses_of(baseline, group.baseline); },
             [&] { devices_b = uses_of(candidate, group.candidate); });
    const Uses a = of_all(devices_a), b = of_all(devices_b);
    all_a.add(a);
    all_b.add(b);
    const std::vector<SameKernel> kernels = launched_alike(a, b);
    if (group.comparable() && is_steady(kernels, a, b)) out.steady.push_back(group.label);
    std::optional<ClockChange> change = change_of(kernels, a, b);
    if (!change || !on_each_device(devices_a, devices_b, change->ratio)) continue;
    const UsualTimes usual = usual_times(kernels, change->ratio);
    change->interval = part_interval(paces(baseline, group.baseline, usual), paces(candidate, group.candidate, usual));
    if (change->interval && change->interval->low <= 0) continue;  // noise
    change->group = group.label;
    if (is_by_load(group, change->ratio)) {
      out.by_load.push_back(group.label);
    } else if (group.comparable()) {
      constexpr double kMostOfClocks = 30;  // from the lowest clock of a device to its highest
      if (std::max(change->ratio, 1 / change->ratio) > kMostOfClocks) out.cause = "another unit of time on one side";
      out.clocks.push_back(std::move(*change));
    }
  }
  if (!out.clocks.empty() && !out.steady.empty())
    out.cause += fmt::format(", though kernels of {} take as long as before", fmt::join(out.steady, ", "));
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
