#include "ingest/link/kernel_sums.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "base/saturating.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "ingest/store/records.h"

namespace tracedb {

void KernelSums::Durations::add(std::int64_t dur) {
  if (dur >= 0 && dur <= std::numeric_limits<std::uint32_t>::max()) {
    shorter.push_back(static_cast<std::uint32_t>(dur));
  } else {
    longer.push_back(dur);
  }
}

void KernelSums::Durations::sort() {
  if (!std::is_sorted(shorter.begin(), shorter.end())) std::sort(shorter.begin(), shorter.end());
  std::sort(longer.begin(), longer.end());
}

void KernelSums::add(std::uint32_t name, std::int64_t dur) {
  const auto [index, is_new] = index_.index_of(name);
  if (is_new) names_.push_back({name, 0, {}});
  Samples& samples = names_[index];
  ++samples.n;
  if (dur != kUnknownValue) samples.durations.add(dur);
}

KernelSum KernelSums::summarise(Samples& samples) {
  Durations& sorted = samples.durations;
  KernelSum sum;
  sum.name = samples.name;
  sum.n = samples.n;
  sum.known = static_cast<std::int64_t>(sorted.size());
  if (sorted.size() == 0) return sum;
  sorted.sort();
  const auto add = [&](std::int64_t dur) {
    sum.total = saturating_add(sum.total, dur);
    sum.sum_of_squares += static_cast<double>(dur) * static_cast<double>(dur);
  };
  for (const std::uint32_t dur : sorted.shorter) add(dur);
  for (const std::int64_t dur : sorted.longer) add(dur);
  sum.median = sorted_median(sorted);
  sum.min = sorted[0];
  sum.max = sorted[sorted.size() - 1];
  sum.p50 = sorted[nearest_rank(sorted.size(), 50)];
  sum.p90 = sorted[nearest_rank(sorted.size(), 90)];
  sum.p99 = sorted[nearest_rank(sorted.size(), 99)];
  return sum;
}

std::vector<KernelSum> KernelSums::finish() {
  std::vector<KernelSum> out;
  for (Samples& samples : names_) {
    out.push_back(summarise(samples));
    samples.durations = {};
  }
  return out;
}

}  // namespace tracedb
