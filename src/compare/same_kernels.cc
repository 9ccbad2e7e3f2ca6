#include "compare/same_kernels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "base/parallel.h"
#include "compare/key_numbers.h"
#include "passes/columns/group_stats.h"

namespace tracedb {
namespace {

struct Use {
  std::uint64_t key = 0;  // name and configuration
  std::int64_t n = 0, time = 0;
  bool computes = true;
};

struct Uses {
  KeyNumbers numbers;
  std::vector<Use> all;

  void add(std::uint64_t key, std::int64_t n, std::int64_t time, bool computes) {
    const auto [position, is_new] = numbers.number(key);
    if (is_new) all.push_back({key, 0, 0, true});
    Use& own = all[position];
    own.n += n;
    own.time = bounded_add(own.time, time);
    if (!computes) own.computes = false;
  }
  void add(const Use& use) { add(use.key, use.n, use.time, use.computes); }
  [[nodiscard]] double time() const {
    return sum([](const Use&) { return true; });
  }
  [[nodiscard]] double compute_time() const {
    return sum([](const Use& use) { return use.computes; });
  }

 private:
  template <class Counts>
  [[nodiscard]] double sum(Counts counts) const {
    double out = 0;
    for (const Use& use : all) out += counts(use) ? static_cast<double>(use.time) : 0;
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
    const DeviceStep& step = trace.work.steps[of_group];
    for (std::size_t i = step.begin; i < step.end; ++i) {
      const std::uint32_t row = trace.work.kernel_rows[i];
      if (dur[row] == kNullCell || dur[row] < 0) continue;
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
    times.baseline_time = bounded_add(times.baseline_time, use.time);
  }
  for (const Use& use : b.all) {
    SameTimes& times = enter(use);
    times.candidate_n += use.n;
    times.candidate_time = bounded_add(times.candidate_time, use.time);
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
  auto found = find_clock_change(launched_alike(group, a, b), a.compute_time(), b.compute_time());
  if (found) found->group = group.label;
  return found;
}

void sort_by_time(std::vector<SameKernel>& kernels, const KernelNameTable& kernel_names) {
  std::sort(kernels.begin(), kernels.end(), [&](const SameKernel& x, const SameKernel& y) {
    const auto rank = [&](const SameKernel& k) {
      return std::tuple(-(static_cast<double>(k.times.baseline_time) + static_cast<double>(k.times.candidate_time)),
                        std::string_view(kernel_names.entries()[k.name].name), k.config);
    };
    return rank(x) < rank(y);
  });
}

}  // namespace

SameKernels same_kernels(const ComparedTrace& baseline, const ComparedTrace& candidate,
                         std::span<const StepGroup> groups, const KernelNameTable& kernel_names) {
  SameKernels out;
  Uses all_a, all_b;
  for (const StepGroup& group : groups) {
    Uses a, b;
    run_both([&] { a = uses_of(baseline, group.baseline); }, [&] { b = uses_of(candidate, group.candidate); });
    if (auto change = clock_change(group, a, b)) out.clocks.push_back(std::move(*change));
    for (const Use& use : a.all) all_a.add(use);
    for (const Use& use : b.all) all_b.add(use);
  }
  out.kernels = in_common(all_a, all_b);
  sort_by_time(out.kernels, kernel_names);
  double time_a = 0, time_b = 0;
  for (const SameKernel& kernel : out.kernels) {
    time_a += static_cast<double>(kernel.times.baseline_time);
    time_b += static_cast<double>(kernel.times.candidate_time);
  }
  out.baseline_share = all_a.time() > 0 ? time_a / all_a.time() : 0;
  out.candidate_share = all_b.time() > 0 ? time_b / all_b.time() : 0;
  return out;
}

}  // namespace tracedb
