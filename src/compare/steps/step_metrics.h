// The metrics of a step, and their change from one sample of steps to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/trace/recording.h"

namespace tracedb {

// The certainty of a difference between two samples of steps: a bootstrap interval of the difference of their means,
// and a verdict. Pure and reproducible: random numbers derive from the values and a fixed seed, so that a sample
// compared with itself has no difference and swapping two samples negates the interval.
//
// Source: schema/METRICS.md 10. B = 1000 resamples, 95 % percentile interval, widened for small samples.

inline constexpr std::size_t kResamples = 1000;

// The mean of each resample of a sample, and its own.
struct MeanDraws {
  double mean = 0;
  std::vector<double> draws;  // kResamples; empty for an empty sample
  // Squared: of the draws, sum of squares / n^2; of the mean as estimated from n, which is n / (n - 1) times that; and
  // the square of that / (n - 1), of Welch's degrees of freedom. Sums of independent means add them up.
  double spread = 0, error = 0, per_freedom = 0;
  void add(const MeanDraws& other, double weight);
};

double student_quantile(double probability, double dof);

// `zeros`: further values that are 0. The means of resamples of more than 50 values are drawn from their normal
// approximation.
MeanDraws draw_means(std::span<const std::int64_t> values, std::size_t zeros = 0);

struct Interval {
  double low = 0, high = 0;
};

// Of candidate - baseline. Empty samples count as 0. Resamples of few values scatter less than samples do, and by a
// normal distribution: the quantiles' distances from the difference are widened to Student's t by Welch's degrees of
// freedom.
Interval difference_interval(const MeanDraws& baseline, const MeanDraws& candidate);

// By rank and the profiler's number of the device: a metric of its steps in the mean, more than 0.
using DeviceMeans = std::map<std::pair<std::uint32_t, std::int64_t>, double>;
// The least and the largest relative change of a device, of the same ones, where these differ by `least` or more.
std::optional<Interval> changes_apart(const DeviceMeans& baseline, const DeviceMeans& candidate, double least);

enum class Verdict { kBetter, kWorse, kSame, kInconclusive };
std::string_view to_string(Verdict verdict);

// Of every verdict on one trace a side: its interval is of the steps within them.
inline constexpr std::string_view kOneRun = "one run a side: run-to-run variance is unknown";

// What --gate says of a measure. kNotJudged: another measure of the same steps is judged instead.
enum class GateOutcome { kPass, kFail, kInconclusive, kNotJudged };

inline constexpr double kLeastChange = 0.02;  // below, a change is never more than noise

// What a verdict takes, unless a gate says another change.
inline constexpr double kUsualChange = 0.05;   // of the lesser mean: smaller changes are "same"
inline constexpr std::size_t kLeastSteps = 5;  // in either trace
inline constexpr double kLeastCoverage = 0.8;  // of the time, on either side

// Metrics of a step.
enum class StepMetric { kSpan, kBusy, kPeriod, kKernelTime };
inline constexpr std::size_t kStepMetrics = 4;
std::optional<StepMetric> step_metric_from(std::string_view text);
std::string_view to_string(StepMetric metric);  // span, busy, period, kernel_time

// Why there is no verdict on the spans of steps that overlap on the device: the period is the time of such a step.
inline constexpr std::string_view kOverlap = "steps overlap on the device";

// And on kind `unit` (passes/steps/inferred_steps.h).
inline constexpr std::string_view kRepeatingUnit = "what repeats is no step";

// Of transitions (device_steps.h): "period to decode".
std::string period_measure(std::string_view to);
bool is_transition(std::string_view measure);
// As a kind of steps, "decode to prefill", and the kind of the steps themselves.
std::string transition_kind(std::string_view from, std::string_view to);
std::string_view own_kind(std::string_view kind);

// Of each step of a group of device steps the mean of value(device step) over its devices; kUnknownValue is left out.
template <class Value>
std::vector<std::int64_t> sample_of_steps(const StepWork& work, std::span<const std::uint32_t> group, Value value) {
  std::vector<std::int64_t> values, out;
  std::vector<std::uint32_t> steps;
  for (const std::uint32_t i : group) {
    steps.push_back(work.steps[i].step);
    values.push_back(value(i));
  }
  for (const StepMean& one : means_of_steps(steps, values)) out.push_back(one.mean);
  return out;
}

// The mean of value(device step) over some device steps; 0 for none.
template <class Value>
double mean_over(std::span<const std::uint32_t> device_steps, Value value) {
  double sum = 0;
  for (const std::uint32_t i : device_steps) sum += static_cast<double>(value(i));
  return device_steps.empty() ? 0 : sum / static_cast<double>(device_steps.size());
}

double sum_of_times(std::span<const std::int64_t> values);

// Of the steps of a group of device steps, in ns, each the mean over its devices; those without a period are left out.
// `periods`: by device step (device_steps.h).
std::vector<std::int64_t> step_sample(const StepWork& work, std::span<const std::uint32_t> group, StepMetric metric,
                                      std::span<const std::int64_t> periods);

// The loads of the steps of two samples (requests of decode steps, tokens of others), in the mean; 0: not known.
struct LoadDifference {
  double baseline = 0, candidate = 0;
  bool by_chance = false;  // loads vary from step to step by as much, and so the times do by what that makes
  double power = 1;  // of the load that times grow by at the most: more than 1 with attention, which may be its square
  // By which the candidate has more; 0: not known.
  [[nodiscard]] double share() const { return baseline > 0 && candidate > 0 ? candidate / baseline - 1 : 0; }
  // By more than a tenth: times are not compared.
  [[nodiscard]] bool is_apart() const;
  [[nodiscard]] std::string words() const;  // "the load differs by 7.4 %"
  // For the time of a class of kernels.
  [[nodiscard]] LoadDifference of(std::string_view op) const;
};
bool is_attention(std::string_view op);
// Of the time of classes of kernels.
struct AttentionShare {
  double own = 0, all = 0;
  void add(std::string_view op, double time) {
    all += time;
    if (is_attention(op)) own += time;
  }
  [[nodiscard]] double share() const { return all > 0 ? own / all : 0; }
};
// Whether what a load differs by is a considerable part of a change: 1 % and a quarter of it. Both as shares.
bool is_considerable(double load, double change);
// `attention`: its share of the time.
LoadDifference load_difference(std::span<const std::int64_t> baseline, std::span<const std::int64_t> candidate,
                               double attention);
// Whether means differ by no more than a tenth, as far as both are known.
bool same_load(double a, double b);
// How much more a difference of means of times may be at equal load: holds 0.
Interval by_load(const LoadDifference& load, double baseline, double candidate);

// A sample of steps of each trace, in ns per step.
struct Change {
  MeanDraws baseline, candidate;
  std::size_t baseline_steps = 0, candidate_steps = 0;
  Interval interval;  // of the difference of means at equal load, 95 %: with all that the load may have made of it
  LoadDifference load;
  Interval by_load;  // that: how much more the difference at equal load may be; holds 0
  Verdict verdict = Verdict::kInconclusive;
  std::string reason;           // why inconclusive; else ""
  bool barred = false;          // there can be no verdict, whatever the number of steps
  bool wide = false;            // inconclusive only because the interval holds both 0, or little, and a large change
  bool either_by_load = false;  // inconclusive since one verdict holds with what the load made, and another without
  // Of a period (recording.h): a host slowed by recording, and whether both traces record the same.
  std::string caveat;
  bool recorded_alike = true;
  [[nodiscard]] double difference() const { return candidate.mean - baseline.mean; }
  // Its interval says what is known.
  [[nodiscard]] bool judged() const { return !barred && (wide || either_by_load || verdict != Verdict::kInconclusive); }
  // Without what the load may have made.
  [[nodiscard]] Interval measured() const { return {interval.low - by_load.low, interval.high - by_load.high}; }
  [[nodiscard]] bool is_by_load() const {
    return !load.by_chance && is_considerable(load.share(), difference() / baseline.mean);
  }
};

// Values per step, and how many further steps have none of it, that is 0.
struct StepValues {
  std::span<const std::int64_t> values;
  std::size_t zeros = 0;
};
// `coverage`: the lesser share of the work that has a counterpart; `barred`: why there can be no verdict, else "";
// `least_change`: kUsualChange or another, of which no less than kLeastChange counts.
Change make_change(StepValues baseline, StepValues candidate, double coverage, const std::string& barred,
                   double least_change, const LoadDifference& load = {});

// Sets verdict and reason from the rest of a change. Worse or better if the interval excludes 0 and the change is large
// enough; same if the whole interval is smaller than that; else inconclusive, as without enough steps or a comparable
// load, for the reason: "3/4 steps", and where it depends on how much of the change is by the load.
void judge(Change& change, double coverage, const std::string& barred, double least_change);

// Makes the change of a period inconclusive where the traces record differently (recording_difference()), and gives it
// a caveat where the host bounds it while recording.
void judge_period(Change& period, const std::string& difference, const HostWaits& baseline, const HostWaits& candidate);

}  // namespace tracedb
