// The certainty of a difference between two samples of steps: a bootstrap interval of the difference of their means,
// and a verdict. Pure and reproducible: random numbers derive from the values and a fixed seed, so that a sample
// compared with itself has no difference and swapping two samples negates the interval.
//
// Source: schema/METRICS.md 10. B = 1000 resamples, 95 % percentile interval.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

inline constexpr std::size_t kResamples = 1000;

// The mean of each resample of a sample, and its own.
struct MeanDraws {
  double mean = 0;
  std::vector<double> draws;  // kResamples; empty for an empty sample
};

// `zeros`: further values that are 0. The means of resamples of more than 50 values are drawn from their normal
// approximation.
MeanDraws draw_means(std::span<const std::int64_t> values, std::size_t zeros = 0);

struct Interval {
  double low = 0, high = 0;
};

// Of candidate - baseline. Empty samples count as 0.
Interval difference_interval(const MeanDraws& baseline, const MeanDraws& candidate);

enum class Verdict { kBetter, kWorse, kSame, kInconclusive };
std::string_view to_string(Verdict verdict);

inline constexpr double kLeastChange = 0.02;  // below, a change is never more than noise

struct VerdictRule {
  double least_change = 0.05;   // of the lesser mean: smaller changes are "same"; never below kLeastChange
  std::size_t least_steps = 5;  // in either trace
  double least_coverage = 0.8;  // of the time, on either side
};

struct Evidence {
  double baseline = 0, candidate = 0;  // means, less is better
  Interval interval;                   // of their difference
  std::size_t baseline_steps = 0, candidate_steps = 0;
  double coverage = 1;           // the lesser of both sides
  std::string_view barred = {};  // why there can be no verdict; "": the same load, both sides have it
};

// Worse or better if the interval excludes 0 and the change is large enough; same if the change is smaller than that
// or the interval includes 0; inconclusive without enough steps or a comparable load.
Verdict verdict_of(const Evidence& evidence, const VerdictRule& rule = {});

// Why there is no verdict: "3/4 steps"; "" where there is one.
std::string reason_of(const Evidence& evidence, const VerdictRule& rule = {});

}  // namespace tracedb
