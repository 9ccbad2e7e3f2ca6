#include "compare/steps/step_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "base/text/amounts.h"
#include "base/unknown.h"
#include "passes/steps/step_stats.h"

namespace tracedb {
namespace {

constexpr std::array<std::string_view, kStepMetrics> kMetricNames = {"span", "busy", "period", "kernel_time"};
constexpr std::string_view kTransition = "period to ";

constexpr std::uint64_t kSeed = 0x7472616365646221;
constexpr std::size_t kDirectly = 50;  // values; beyond, means are drawn

__extension__ using WideProduct = unsigned __int128;

// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>((static_cast<WideProduct>(next()) * n) >> 64); }
  // Sum of twelve uniform numbers less six: near enough to normal for an interval of 95 %.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(next() >> 11) * 0x1p-53;
    return sum;
  }

 private:
  std::uint64_t state_;
};

std::uint64_t seed_of(std::span<const std::int64_t> sorted) {
  Random mix(kSeed + sorted.size());
  std::uint64_t seed = mix.next();
  for (const std::int64_t value : sorted) seed = Random(seed ^ static_cast<std::uint64_t>(value)).next();
  return seed;
}

// Why there is no verdict; "" where there is one.
std::string reason_of(const Change& change, double coverage, const std::string& barred) {
  if (!barred.empty()) return barred;
  if (std::min(change.baseline_steps, change.candidate_steps) < kLeastSteps) {
    return fmt::format("{}/{} steps", change.baseline_steps, change.candidate_steps);
  }
  return coverage < kLeastCoverage ? part_text(coverage, 0) + " covered" : "";
}

}  // namespace

std::optional<StepMetric> step_metric_from(std::string_view text) {
  const auto found = std::ranges::find(kMetricNames, text);
  if (found == kMetricNames.end()) return std::nullopt;
  return static_cast<StepMetric>(found - kMetricNames.begin());
}
std::string_view to_string(StepMetric metric) { return kMetricNames[static_cast<std::size_t>(metric)]; }

std::string period_measure(std::string_view to) { return std::string(kTransition) + std::string(to); }
bool is_transition(std::string_view measure) { return measure.starts_with(kTransition); }

constexpr std::string_view kTo = " to ";
std::string transition_kind(std::string_view from, std::string_view to) {
  return std::string(from) + std::string(kTo) + std::string(to);
}
std::string_view own_kind(std::string_view kind) { return kind.substr(0, kind.find(kTo)); }

double sum_of_times(std::span<const std::int64_t> values) {
  double sum = 0;
  for (const std::int64_t value : values) sum += static_cast<double>(value);
  return sum;
}

std::vector<std::int64_t> step_sample(const StepWork& work, std::span<const std::uint32_t> group, StepMetric metric,
                                      std::span<const std::int64_t> periods) {
  return sample_of_steps(work, group, [&](std::uint32_t i) {
    const DeviceStep& step = work.steps[i];
    return metric == StepMetric::kSpan     ? step.span
           : metric == StepMetric::kBusy   ? step.busy
           : metric == StepMetric::kPeriod ? periods[i]
                                           : step.kernel_time;
  });
}

std::string LoadDifference::words() const {
  return fmt::format("the load differs by {:.1f} %",
                     100 * (std::max(baseline, candidate) / std::min(baseline, candidate) - 1));
}

LoadDifference LoadDifference::of(std::string_view op) const {
  LoadDifference out = *this;
  out.power = is_attention(op) ? 2 : 1;
  return out;
}

bool is_attention(std::string_view op) { return op.find("attention") != std::string_view::npos; }

LoadDifference load_difference(std::span<const std::int64_t> baseline, std::span<const std::int64_t> candidate,
                               double attention) {
  const MeanDraws a = draw_means(baseline), b = draw_means(candidate);
  const Interval range = difference_interval(a, b);
  return {a.mean, b.mean, range.low <= 0 && range.high >= 0, 1 + attention};
}

bool same_load(double a, double b) {
  constexpr double kSame = 0.1;
  return a <= 0 || b <= 0 || std::abs(a - b) <= kSame * std::max(a, b);
}

bool LoadDifference::is_apart() const { return !same_load(baseline, candidate); }

bool is_considerable(double load, double change) {
  constexpr double kLeast = 0.01, kLeastOfChange = 0.25;
  return std::abs(load) >= kLeast && std::abs(load) >= kLeastOfChange * std::abs(change);
}

Interval by_load(const LoadDifference& load, double baseline, double candidate) {
  if (load.by_chance || load.share() == 0 || load.is_apart()) return {};
  // Both at the mean load, so that swapped sides are judged alike.
  const double middle = (load.baseline + load.candidate) / 2;
  const double equal = candidate * std::pow(middle / load.candidate, load.power) -
                       baseline * std::pow(middle / load.baseline, load.power);
  const double more = equal - (candidate - baseline);
  return {std::min(0.0, more), std::max(0.0, more)};
}

Change make_change(StepValues baseline, StepValues candidate, double coverage, const std::string& barred,
                   double least_change, const LoadDifference& load) {
  Change out;
  out.baseline = draw_means(baseline.values, baseline.zeros);
  out.candidate = draw_means(candidate.values, candidate.zeros);
  out.baseline_steps = baseline.values.size() + baseline.zeros;
  out.candidate_steps = candidate.values.size() + candidate.zeros;
  out.interval = difference_interval(out.baseline, out.candidate);
  out.load = load;
  out.by_load = by_load(load, out.baseline.mean, out.candidate.mean);
  out.interval = {out.interval.low + out.by_load.low, out.interval.high + out.by_load.high};
  judge(out, coverage, barred, least_change);
  return out;
}

void judge(Change& change, double coverage, const std::string& barred, double least_change) {
  change.barred = !barred.empty();
  change.reason = reason_of(change, coverage, barred);
  change.verdict = Verdict::kInconclusive;
  if (!change.reason.empty()) return;
  // Of the lesser of both, so that swapped sides are judged alike.
  const double least = std::max(least_change, kLeastChange) * std::min(change.baseline.mean, change.candidate.mean);
  const auto [low, high] = change.measured();
  const auto verdict_at = [&, low = low, high = high](double by_load) {
    const double difference = change.difference() + by_load;
    const bool excludes_zero = low + by_load > 0 || high + by_load < 0;
    if (excludes_zero && std::abs(difference) >= least) return difference > 0 ? Verdict::kWorse : Verdict::kBetter;
    return std::max(-low - by_load, high + by_load) <= least ? Verdict::kSame : Verdict::kInconclusive;
  };
  change.verdict = verdict_at(change.by_load.low);
  change.either_by_load = change.verdict != verdict_at(change.by_load.high);
  change.wide = !change.either_by_load && change.verdict == Verdict::kInconclusive;
  if (change.wide) {
    change.reason = fmt::format("the interval reaches beyond {:g} %", 100 * std::max(least_change, kLeastChange));
  } else if (change.either_by_load) {
    change.verdict = Verdict::kInconclusive;
    change.reason = change.load.words();
  }
}

void judge_period(Change& period, const std::string& difference, const HostWaits& baseline,
                  const HostWaits& candidate) {
  if (period.baseline_steps == 0 || period.candidate_steps == 0) return;
  period.recorded_alike = difference.empty();
  if (!period.recorded_alike) {
    period.verdict = Verdict::kInconclusive;
    period.reason = "recorded differently";
    period.barred = true;
  }
  if (baseline.bound() && candidate.bound()) {
    period.caveat =
        fmt::format("both wait for the recording host, {} and {} of the period, {:.0f} and {:.0f} calls per gap",
                    part_text(baseline.share(), 0), part_text(candidate.share(), 0), baseline.calls_per_gap(),
                    candidate.calls_per_gap());
  } else if (baseline.bound() || candidate.bound()) {
    const HostWaits& waits = baseline.bound() ? baseline : candidate;
    period.caveat =
        fmt::format("{} waits for the recording host, {} of the period, {:.0f} calls per gap",
                    baseline.bound() ? "baseline" : "candidate", part_text(waits.share(), 0), waits.calls_per_gap());
  }
}

MeanDraws draw_means(std::span<const std::int64_t> values, std::size_t zeros) {
  std::vector<std::int64_t> sorted(values.begin(), values.end());
  sorted.insert(sorted.end(), zeros, 0);
  if (sorted.empty()) return {};
  std::ranges::sort(sorted);
  MeanDraws out;
  out.mean = sum_of_times(sorted) / static_cast<double>(sorted.size());
  if (sorted.front() == sorted.back()) {
    out.draws.assign(kResamples, out.mean);
    return out;
  }
  Random random(seed_of(sorted));
  const std::size_t n = sorted.size();
  const auto count = static_cast<double>(n);
  for (const std::int64_t value : sorted) {
    out.spread += (static_cast<double>(value) - out.mean) * (static_cast<double>(value) - out.mean) / count / count;
  }
  out.error = out.spread * count / (count - 1);
  out.per_freedom = out.error * out.error / (count - 1);
  out.draws.reserve(kResamples);
  for (std::size_t i = 0; i < kResamples; ++i) {
    if (n > kDirectly) {
      out.draws.push_back(out.mean + std::sqrt(out.spread) * random.normal());
      continue;
    }
    double sum = 0;
    for (std::size_t drawn = 0; drawn < n; ++drawn) sum += static_cast<double>(sorted[random.below(n)]);
    out.draws.push_back(sum / static_cast<double>(n));
  }
  return out;
}

void MeanDraws::add(const MeanDraws& other, double weight) {
  mean += weight * other.mean;
  for (std::size_t i = 0; i < other.draws.size(); ++i) draws[i] += weight * other.draws[i];
  spread += weight * weight * other.spread;
  error += weight * weight * other.error;
  per_freedom += weight * weight * weight * weight * other.per_freedom;
}

double student_quantile(double probability, double dof) {
  return boost::math::quantile(boost::math::students_t(dof), probability);
}

Interval difference_interval(const MeanDraws& baseline, const MeanDraws& candidate) {
  std::array<double, kResamples> differences{};
  for (std::size_t i = 0; i < kResamples; ++i) {
    differences[i] =
        (candidate.draws.empty() ? 0 : candidate.draws[i]) - (baseline.draws.empty() ? 0 : baseline.draws[i]);
  }
  // The 25th from below and from above, which a swap of the sides exchanges.
  constexpr std::size_t kOutside = kResamples / 40;
  constexpr double kNormal = 1.959964;  // as many standard errors from the mean, of draws by a normal distribution
  std::ranges::sort(differences);
  const double change = candidate.mean - baseline.mean, error = baseline.error + candidate.error;
  const double freedom = baseline.per_freedom + candidate.per_freedom;
  const double wider = freedom > 0 ? std::sqrt(error / (baseline.spread + candidate.spread)) *
                                         student_quantile(0.975, error * error / freedom) / kNormal
                                   : 1;
  // To 1/8 ns: the last digits of quantiles are not those of every library.
  const auto end = [&](double at) { return change + std::round(8 * wider * (at - change)) / 8; };
  return {end(differences[kOutside - 1]), end(differences[kResamples - kOutside])};
}

std::string_view to_string(Verdict verdict) {
  constexpr std::string_view kNames[] = {"better", "worse", "same", "inconclusive"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::optional<Interval> changes_apart(const DeviceMeans& baseline, const DeviceMeans& candidate, double least) {
  const auto device_of = [](const auto& one) { return one.first; };
  if (baseline.size() < 2 || !std::ranges::equal(baseline, candidate, {}, device_of, device_of)) return std::nullopt;
  Interval out{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const auto& [device, mean] : baseline) {
    const double change = candidate.at(device) / mean - 1;
    out.low = std::min(out.low, change);
    out.high = std::max(out.high, change);
  }
  // Of the ratios, so that swapped sides are judged alike.
  return (1 + out.high) / (1 + out.low) > 1 + least ? std::optional(out) : std::nullopt;
}

}  // namespace tracedb
