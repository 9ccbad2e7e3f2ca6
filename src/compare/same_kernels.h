// Kernels with the same name and launch configuration in both traces, and kernels that became slower by one common
// factor, which points to clocks or power, or to other devices, and not to code. Pure.
//
// Source: schema/METRICS.md 10. A clock change considers, within one group of comparable steps, the kernels that both
// traces launch with the same name and configuration, that compute, and that take 2 us or more in both: the wait of a
// collective says nothing about clocks, and short kernels are mostly overhead. One of them may be an outlier. The
// others must be at least 5 kernels with half of the computation time of both traces. Of the ratios of their mean
// durations, the median over kernels and the time-weighted one must be within 2 % of each other and both more than 3 %
// from 1, and the interquartile range below 5 % of the median, over kernels and over time. Each device that both traces
// have must show it, and from step to step it must be more than noise. Where another load explains half of it or more,
// it is no change of clocks. Swapping the traces gives the mirrored result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/steps/step_groups.h"
#include "compare/steps/step_metrics.h"

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
  std::size_t kernels = 0;                     // that are considered, the outlier among them
  std::size_t holding = 0;                     // of those: within 5 % of `ratio`
  double time_share = 0;                       // of the holding ones in the time of computation, on the lesser side
  std::optional<Interval> interval = {};       // 95 % over the steps, as parts of the change; nullopt: too few steps
};

// `baseline_time`, `candidate_time`: ns of all kernels of the group that compute.
std::optional<ClockChange> find_clock_change(std::span<const SameTimes> kernels, double baseline_time,
                                             double candidate_time);

struct SameKernel {
  NameId name = 0;
  std::uint32_t config = 0;
  SameTimes times;  // sums over the groups
};

struct SameKernels {
  std::vector<SameKernel> kernels;                 // by time of both sides, longest first
  double baseline_share = 0, candidate_share = 0;  // of the kernel time of the groups
  std::vector<ClockChange> clocks;                 // of the groups that can be compared and have one
  std::string cause = "clocks or power";           // of these, as far as the devices tell
  std::vector<std::string> steady;                 // groups whose kernels take as long as before
  std::vector<std::string> by_load;                // groups whose kernels changed so, which their load explains
};

SameKernels same_kernels(const ComparedTrace& baseline, const ComparedTrace& candidate,
                         std::span<const StepGroup> groups, const KernelNameTable& kernel_names);

}  // namespace tracedb
