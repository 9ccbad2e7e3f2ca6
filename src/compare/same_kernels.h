// Kernels with the same name and launch configuration in both traces, and the clock changes that they show
// (clock_change.h). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compare/clock_change.h"
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
  SameTimes times;  // sums over the groups
};

struct SameKernels {
  std::vector<SameKernel> kernels;                 // by time of both sides, longest first
  double baseline_share = 0, candidate_share = 0;  // of the kernel time of the groups
  std::vector<ClockChange> clocks;                 // of the groups that can be compared and have one
};

SameKernels same_kernels(const Side& baseline, const Side& candidate, std::span<const StepGroup> groups,
                         const Vocabulary& vocabulary);

}  // namespace tracedb
