#include "compare/steps/usual_steps.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace tracedb {
namespace {

constexpr double kSigma = 1.4826, kMostSigmas = 5, kLeastMargin = 0.2;
constexpr double kKindsApart = 1.3, kLeastShare = 0.2;
constexpr std::size_t kLeastOfKind = 2;

// The longest that a step may take and be regular.
double most_regular(std::span<const std::int64_t> times) {
  std::vector<double> values(times.begin(), times.end());
  const double middle = tracedb::median(std::span(values));
  for (double& value : values) value = std::abs(value - middle);
  return middle + std::max(kMostSigmas * kSigma * tracedb::median(std::span(values)), kLeastMargin * middle);
}

// The least time above the widest gap between two kinds of steps.
std::optional<std::int64_t> slow_kind(std::span<const std::int64_t> times) {
  std::vector<std::int64_t> sorted(times.begin(), times.end());
  std::sort(sorted.begin(), sorted.end());
  const auto share = static_cast<std::size_t>(std::ceil(kLeastShare * static_cast<double>(sorted.size())));
  const std::size_t least = std::max(kLeastOfKind, share);
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

}  // namespace

UsualSteps usual_steps(std::span<const std::int64_t> times, std::size_t marked) {
  UsualSteps out;
  out.warm_up = std::min(marked, times.size() - std::min<std::size_t>(times.size(), 1));
  while (out.warm_up + 1 < times.size() &&
         static_cast<double>(times[out.warm_up]) > most_regular(times.subspan(out.warm_up + 1))) {
    ++out.warm_up;
  }
  const std::span<const std::int64_t> rest = times.subspan(out.warm_up);
  if (rest.empty()) return out;
  out.slow_from = slow_kind(rest);
  const double most = most_regular(rest);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const bool counts = out.slow_from || static_cast<double>(rest[i]) <= most;
    (counts ? out.counted : out.rare).push_back(out.warm_up + i);
  }
  return out;
}

}  // namespace tracedb
