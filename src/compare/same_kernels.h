// Kernels that both sides run with the same name and launch configuration, and whether one side is slower by the same
// factor in all of them, which speaks of clocks or power and not of code: metrics F.10. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compare/side.h"
#include "compare/step_groups.h"

namespace tracedb {

// Launch configurations of several traces under one numbering; 0: not known.
class ConfigNumbers {
 public:
  std::vector<std::uint32_t> enter(const Index& index);  // by launch_config_id
  [[nodiscard]] const std::string& text(std::uint32_t number) const { return texts_[number]; }

 private:
  std::vector<std::string> texts_ = {""};
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

struct SameKernel {
  NameId name = 0;
  std::uint32_t config = 0;
  std::int64_t baseline_n = 0, candidate_n = 0;
  std::int64_t baseline_time = 0, candidate_time = 0;  // ns, sums over the groups
  [[nodiscard]] double ratio() const;                  // of the mean durations, candidate / baseline
};

struct SameKernels {
  std::vector<SameKernel> kernels;                 // by time of both sides, longest first
  double baseline_share = 0, candidate_share = 0;  // of the kernel time of the groups
  // Of the ratios, weighted by time; 0 without any.
  double median_ratio = 0, low_quartile = 0, high_quartile = 0;
  bool uniform = false;  // (high - low) / median below 5 %, and the median more than 3 % off 1
};

SameKernels same_kernels(const Side& baseline, const Side& candidate, std::span<const StepGroup> groups,
                         const Vocabulary& vocabulary);

}  // namespace tracedb
