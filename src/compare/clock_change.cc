#include "compare/clock_change.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tracedb {
namespace {

constexpr double kShortest = 2000;  // ns, of a mean duration
constexpr std::size_t kLeastKernels = 5;
constexpr double kLeastTime = 0.5;  // of the time of computation
constexpr double kMediansApart = 0.02;
constexpr double kSpread = 0.05;  // of the quartiles, by the median
constexpr double kLeastChange = 0.03;
constexpr double kHolds = 0.05;

struct Asked {
  double ratio;
  double baseline_share, candidate_share;  // of the time of computation
  [[nodiscard]] double weight() const { return baseline_share + candidate_share; }
};

struct Quartiles {
  double low = 1, median = 1, high = 1;
};

double mean(std::int64_t time, std::int64_t n) { return static_cast<double>(time) / static_cast<double>(n); }

std::vector<Asked> asked(std::span<const SameTimes> kernels, double baseline_time, double candidate_time) {
  std::vector<Asked> out;
  if (baseline_time <= 0 || candidate_time <= 0) return out;
  for (const SameTimes& kernel : kernels) {
    const double ratio = kernel.ratio();
    if (!kernel.computes || ratio <= 0) continue;
    if (std::min(mean(kernel.baseline_time, kernel.baseline_n), mean(kernel.candidate_time, kernel.candidate_n)) <
        kShortest) {
      continue;
    }
    out.push_back({ratio, static_cast<double>(kernel.baseline_time) / baseline_time,
                   static_cast<double>(kernel.candidate_time) / candidate_time});
  }
  std::sort(out.begin(), out.end(), [](const Asked& a, const Asked& b) {
    return std::pair(a.ratio, a.weight()) < std::pair(b.ratio, b.weight());
  });
  return out;
}

// Where the weights of what is below and of what is above are the same; between two values, their geometric mean, which
// the inverse ratios have too.
template <class WeightOf>
double quantile(const std::vector<Asked>& sorted, double share, WeightOf weight_of) {
  double total = 0;
  for (const Asked& one : sorted) total += weight_of(one);
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
Quartiles quartiles(const std::vector<Asked>& sorted, WeightOf weight_of) {
  return {quantile(sorted, 0.25, weight_of), quantile(sorted, 0.5, weight_of), quantile(sorted, 0.75, weight_of)};
}

Quartiles by_number(const std::vector<Asked>& sorted) {
  return quartiles(sorted, [](const Asked&) { return 1.0; });
}
Quartiles by_time(const std::vector<Asked>& sorted) {
  return quartiles(sorted, [](const Asked& one) { return one.weight(); });
}

double apart(double a, double b) { return std::max(a / b, b / a) - 1; }

// Of the ratios and of their inverses.
bool is_change(const Quartiles& of) {
  const double up = of.median - 1;
  const double down = 1 / of.median - 1;
  const bool narrow = (of.high - of.low) / of.median < kSpread && of.median * (1 / of.low - 1 / of.high) < kSpread;
  return narrow && std::min(std::abs(up), std::abs(down)) > kLeastChange;
}

bool is_uniform(const std::vector<Asked>& sorted) {
  if (sorted.size() < kLeastKernels) return false;
  double a = 0, b = 0;
  for (const Asked& one : sorted) {
    a += one.baseline_share;
    b += one.candidate_share;
  }
  if (std::min(a, b) < kLeastTime) return false;
  const Quartiles number = by_number(sorted);
  const Quartiles time = by_time(sorted);
  return apart(number.median, time.median) <= kMediansApart && is_change(number) && is_change(time);
}

// All but the one that is farthest from the median.
std::vector<Asked> without_outlier(std::vector<Asked> sorted) {
  if (sorted.empty()) return sorted;
  const double median = by_number(sorted).median;
  const bool first = apart(sorted.front().ratio, median) > apart(sorted.back().ratio, median);
  sorted.erase(first ? sorted.begin() : sorted.end() - 1);
  return sorted;
}

}  // namespace

double SameTimes::ratio() const {
  if (baseline_n == 0 || candidate_n == 0 || baseline_time == 0) return 0;
  return mean(candidate_time, candidate_n) / mean(baseline_time, baseline_n);
}

std::optional<ClockChange> find_clock_change(std::span<const SameTimes> kernels, double baseline_time,
                                             double candidate_time) {
  const std::vector<Asked> all = asked(kernels, baseline_time, candidate_time);
  std::vector<Asked> kept = all;
  if (!is_uniform(kept)) {
    kept = without_outlier(all);
    if (!is_uniform(kept)) return std::nullopt;
  }
  const Quartiles of = by_number(kept);
  ClockChange out{"", of.median, of.low, of.high, all.size(), 0, 0};
  double a = 0, b = 0;
  for (const Asked& one : all) {
    if (apart(one.ratio, of.median) > kHolds) continue;
    ++out.holding;
    a += one.baseline_share;
    b += one.candidate_share;
  }
  out.time_share = std::min(a, b);
  return out;
}

}  // namespace tracedb
