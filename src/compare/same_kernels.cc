#include "compare/same_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "compare/key_numbers.h"
#include "passes/group_stats.h"

namespace tracedb {
namespace {

constexpr double kUniformSpread = 0.05;  // metrics F.10
constexpr double kUniformChange = 0.03;

struct Use {
  std::uint64_t key = 0;  // name and configuration
  std::int64_t n = 0, time = 0;
};

struct Uses {
  KeyNumbers numbers;
  std::vector<Use> all;
  std::int64_t time = 0;  // of all kernels of the runs

  void add(std::uint64_t key, std::int64_t dur) {
    const auto [place, is_new] = numbers.number(key);
    if (is_new) all.push_back({key, 0, 0});
    ++all[place].n;
    all[place].time = bounded_add(all[place].time, dur);
    time = bounded_add(time, dur);
  }
};

std::uint64_t key_of(NameId name, std::uint32_t config) { return (std::uint64_t{name} << 32) | config; }

Uses uses_of(const Side& side, std::span<const StepGroup> groups, GroupSide StepGroup::*which) {
  Uses uses;
  const auto names = side.events.kernels.ids("name_id");
  const auto configs = side.events.kernels.ids("launch_config_id");
  const auto dur = side.events.kernels.times("dur");
  for (const StepGroup& group : groups) {
    for (const std::uint32_t place : (group.*which).runs) {
      const Run& run = side.runs[place];
      for (std::size_t i = run.begin; i < run.end; ++i) {
        const std::uint32_t row = side.kernel_rows[i];
        if (dur[row] == kNullCell || dur[row] < 0) continue;
        const NameId name = side.name(names[row]);
        const std::uint32_t config = configs[row] < side.config_of.size() ? side.config_of[configs[row]] : 0;
        uses.add(key_of(name, config), dur[row]);
      }
    }
  }
  return uses;
}

struct Weighted {
  double value, weight;
};

double quantile(const std::vector<Weighted>& sorted, double share) {
  double total = 0;
  for (const Weighted& one : sorted) total += one.weight;
  double seen = 0;
  for (const Weighted& one : sorted) {
    seen += one.weight;
    if (seen >= share * total) return one.value;
  }
  return sorted.empty() ? 0 : sorted.back().value;
}

bool is_uniform(double median, double low, double high) {
  return high - low < kUniformSpread * median && std::abs(median - 1) > kUniformChange;
}

// Asked of the ratios and of their inverses, so that swapped sides are judged alike.
void find_uniform_change(SameKernels& out) {
  std::vector<Weighted> ratios;
  for (const SameKernel& kernel : out.kernels) {
    const double ratio = kernel.ratio();
    if (ratio > 0)
      ratios.push_back({ratio, static_cast<double>(kernel.baseline_time) + static_cast<double>(kernel.candidate_time)});
  }
  if (ratios.empty()) return;
  std::sort(ratios.begin(), ratios.end(), [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  out.median_ratio = quantile(ratios, 0.5);
  out.low_quartile = quantile(ratios, 0.25);
  out.high_quartile = quantile(ratios, 0.75);
  constexpr std::size_t kLeast = 3;  // kernels: one alone is always like itself
  out.uniform = ratios.size() >= kLeast && is_uniform(out.median_ratio, out.low_quartile, out.high_quartile) &&
                is_uniform(1 / out.median_ratio, 1 / out.high_quartile, 1 / out.low_quartile);
}

}  // namespace

double SameKernel::ratio() const {
  if (baseline_n == 0 || candidate_n == 0 || baseline_time == 0) return 0;
  return static_cast<double>(candidate_time) / static_cast<double>(candidate_n) /
         (static_cast<double>(baseline_time) / static_cast<double>(baseline_n));
}

std::vector<std::uint32_t> ConfigNumbers::enter(const Index& index) {
  constexpr std::int64_t kMost = 1 << 27;  // a hostile index must not make us fill the memory
  std::vector<std::uint32_t> numbers;
  Statement rows(index.database(),
                 "SELECT id, grid_x, grid_y, grid_z, block_x, block_y, block_z FROM launch_config WHERE id > 0 AND "
                 "grid_x IS NOT NULL AND block_x IS NOT NULL ORDER BY id");
  while (rows.step() && rows.int64(0) < kMost) {
    const std::string text = fmt::format("[{},{},{}] [{},{},{}]", rows.int64(1), rows.int64(2), rows.int64(3),
                                         rows.int64(4), rows.int64(5), rows.int64(6));
    const auto [entry, is_new] = numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    const auto id = static_cast<std::size_t>(rows.int64(0));
    if (id >= numbers.size()) numbers.resize(id + 1, 0);
    numbers[id] = entry->second;
  }
  return numbers;
}

SameKernels same_kernels(const Side& baseline, const Side& candidate, std::span<const StepGroup> groups,
                         const Vocabulary& vocabulary) {
  Uses a, b;
  run_both([&] { a = uses_of(baseline, groups, &StepGroup::baseline); },
           [&] { b = uses_of(candidate, groups, &StepGroup::candidate); });
  std::unordered_map<std::uint64_t, const Use*> others;
  for (const Use& use : b.all) others.emplace(use.key, &use);
  SameKernels out;
  double time_a = 0, time_b = 0;
  for (const Use& use : a.all) {
    const auto found = others.find(use.key);
    if (found == others.end()) continue;
    const Use& other = *found->second;
    out.kernels.push_back({static_cast<NameId>(use.key >> 32), static_cast<std::uint32_t>(use.key), use.n, other.n,
                           use.time, other.time});
    time_a += static_cast<double>(use.time);
    time_b += static_cast<double>(other.time);
  }
  std::sort(out.kernels.begin(), out.kernels.end(), [&](const SameKernel& x, const SameKernel& y) {
    const auto rank = [&](const SameKernel& k) {
      return std::tuple(-(static_cast<double>(k.baseline_time) + static_cast<double>(k.candidate_time)),
                        std::string_view(vocabulary.names()[k.name].name), k.config);
    };
    return rank(x) < rank(y);
  });
  out.baseline_share = a.time > 0 ? time_a / static_cast<double>(a.time) : 0;
  out.candidate_share = b.time > 0 ? time_b / static_cast<double>(b.time) : 0;
  find_uniform_change(out);
  return out;
}

}  // namespace tracedb
