#include "ingest/link/kernel_sums.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "ingest/store/records.h"

namespace tracedb {

void KernelSums::Durations::add(std::int64_t dur) {
  if (dur >= 0 && dur <= std::numeric_limits<std::uint32_t>::max()) {
    shorter.push_back(static_cast<std::uint32_t>(dur));
  } else {
    longer.push_back(dur);
  }
}

void KernelSums::Durations::take(Durations& other) {
  if (size() == 0) {
    std::swap(*this, other);
    return;
  }
  shorter.insert(shorter.end(), other.shorter.begin(), other.shorter.end());
  longer.insert(longer.end(), other.longer.begin(), other.longer.end());
  other = {};
}

void KernelSums::Durations::sort() {
  if (!std::is_sorted(shorter.begin(), shorter.end())) std::sort(shorter.begin(), shorter.end());
  std::sort(longer.begin(), longer.end());
}

void KernelSums::add(const KernelGroup& group, std::int64_t dur) {
  const std::uint64_t key = std::uint64_t{group.name} << 32U | std::uint64_t{group.stream} << 4U | group.step_kind;
  const auto [entry, is_new] = index_.try_emplace(key, static_cast<std::uint32_t>(groups_.size()));
  if (is_new) groups_.push_back({group, 0, {}});
  Samples& samples = groups_[entry->second];
  ++samples.n;
  if (dur != kUnset) samples.durations.add(dur);
}

KernelSum KernelSums::summarise(Samples& samples) {
  Durations& sorted = samples.durations;
  KernelSum sum;
  sum.group = samples.group;
  sum.n = samples.n;
  sum.known = static_cast<std::int64_t>(sorted.size());
  if (sorted.size() == 0) return sum;
  sorted.sort();
  const auto add = [&](std::int64_t dur) {
    if (__builtin_add_overflow(sum.total, dur, &sum.total)) sum.total = std::numeric_limits<std::int64_t>::max();
    sum.sum_of_squares += static_cast<double>(dur) * static_cast<double>(dur);
  };
  for (const std::uint32_t dur : sorted.shorter) add(dur);
  for (const std::int64_t dur : sorted.longer) add(dur);
  const std::size_t middle = sorted.size() / 2;
  const auto upper = static_cast<double>(sorted[middle]);
  sum.median = sorted.size() % 2 == 1 ? upper : (static_cast<double>(sorted[middle - 1]) + upper) / 2;
  sum.min = sorted[0];
  sum.max = sorted[sorted.size() - 1];
  // Nearest rank: the smallest value with at least so many percent of all values at or below it.
  const auto nearest_rank = [&](std::size_t percent) { return sorted[(sorted.size() * percent + 99) / 100 - 1]; };
  sum.p50 = nearest_rank(50);
  sum.p90 = nearest_rank(90);
  sum.p99 = nearest_rank(99);
  return sum;
}

KernelSumTables KernelSums::finish() {
  KernelSumTables out;
  std::vector<Samples> names;
  std::unordered_map<std::uint32_t, std::size_t> position;
  for (Samples& samples : groups_) {
    out.by_group.push_back(summarise(samples));
    const auto [entry, is_new] = position.try_emplace(samples.group.name, names.size());
    if (is_new) names.push_back({{samples.group.name, 0, 0}, 0, {}});
    Samples& all = names[entry->second];
    all.n += samples.n;
    all.durations.take(samples.durations);
  }
  for (Samples& samples : names) {
    out.by_name.push_back(summarise(samples));
    samples.durations = {};
  }
  return out;
}

}  // namespace tracedb
