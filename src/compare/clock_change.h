// Whether one side runs its kernels slower by one factor, which speaks of clocks or power and not of code. Pure.
//
// Source: metrics F.10. Asked of one group of comparable steps, of the kernels that both sides launch alike (name and
// launch configuration), that compute, and that take 2 us or more on both sides: how long a collective waits is no
// matter of clocks, and short kernels are all overhead. One of them may be an outlier. Of the others, with the ratios
// of mean durations: at least 5 kernels, with half of the time of computation on both sides; the median over kernels
// and that weighted by time within 2 % of each other and both more than 3 % off 1; the distance of the quartiles below
// 5 % of the median, over kernels and over time. Swapped sides are judged alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tracedb {

// Runs of one kernel on both sides; times in ns.
struct SameTimes {
  std::int64_t baseline_n = 0, candidate_n = 0;
  std::int64_t baseline_time = 0, candidate_time = 0;
  bool computes = true;                // no collective, no copy
  [[nodiscard]] double ratio() const;  // of the mean durations, candidate / baseline; 0: not known
};

struct ClockChange {
  std::string group;                           // its label
  double ratio = 1;                            // median over kernels, candidate / baseline
  double low_quartile = 1, high_quartile = 1;  // over kernels
  std::size_t kernels = 0;                     // that were asked, the outlier among them
  std::size_t holding = 0;                     // of those: within 5 % of `ratio`
  double time_share = 0;                       // of the holding ones in the time of computation, on the lesser side
};

// `baseline_time`, `candidate_time`: ns of all kernels of the group that compute.
std::optional<ClockChange> find_clock_change(std::span<const SameTimes> kernels, double baseline_time,
                                             double candidate_time);

}  // namespace tracedb
