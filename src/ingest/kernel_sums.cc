#include "ingest/kernel_sums.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "ingest/records.h"

namespace tracedb {
namespace {

// Nearest rank: the smallest value with at least `percent` of all values at or below it.
std::int64_t nearest_rank(const std::vector<std::int64_t>& sorted, std::size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

}  // namespace

void KernelSums::add(const KernelGroup& group, std::int64_t dur) {
  const std::uint64_t key = std::uint64_t{group.name} << 32U | std::uint64_t{group.stream} << 4U | group.step_kind;
  const auto [entry, is_new] = index_.try_emplace(key, static_cast<std::uint32_t>(groups_.size()));
  if (is_new) groups_.push_back({group, 0, {}});
  Samples& samples = groups_[entry->second];
  ++samples.n;
  if (dur != kUnset) samples.durations.push_back(dur);
}

KernelSum KernelSums::summarise(const KernelGroup& group, std::int64_t n, std::vector<std::int64_t> durations) {
  KernelSum sum;
  sum.group = group;
  sum.n = n;
  sum.known = static_cast<std::int64_t>(durations.size());
  if (durations.empty()) return sum;
  std::sort(durations.begin(), durations.end());
  for (const std::int64_t dur : durations) {
    if (__builtin_add_overflow(sum.total, dur, &sum.total)) sum.total = std::numeric_limits<std::int64_t>::max();
    sum.sum_of_squares += static_cast<double>(dur) * static_cast<double>(dur);
  }
  const std::size_t middle = durations.size() / 2;
  const auto upper = static_cast<double>(durations[middle]);
  sum.median = durations.size() % 2 == 1 ? upper : (static_cast<double>(durations[middle - 1]) + upper) / 2;
  sum.min = durations.front();
  sum.max = durations.back();
  sum.p50 = nearest_rank(durations, 50);
  sum.p90 = nearest_rank(durations, 90);
  sum.p99 = nearest_rank(durations, 99);
  return sum;
}

std::vector<KernelSum> KernelSums::by_group() const {
  std::vector<KernelSum> out;
  out.reserve(groups_.size());
  for (const Samples& samples : groups_) out.push_back(summarise(samples.group, samples.n, samples.durations));
  return out;
}

std::vector<KernelSum> KernelSums::by_name() const {
  std::vector<Samples> names;
  std::unordered_map<std::uint32_t, std::size_t> position;
  for (const Samples& samples : groups_) {
    const auto [entry, is_new] = position.try_emplace(samples.group.name, names.size());
    if (is_new) names.push_back({{samples.group.name, 0, 0}, 0, {}});
    Samples& all = names[entry->second];
    all.n += samples.n;
    all.durations.insert(all.durations.end(), samples.durations.begin(), samples.durations.end());
  }
  std::vector<KernelSum> out;
  out.reserve(names.size());
  for (Samples& samples : names) out.push_back(summarise(samples.group, samples.n, std::move(samples.durations)));
  return out;
}

}  // namespace tracedb
