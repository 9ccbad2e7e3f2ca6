// Kernels with the same name and launch configuration in both traces, and the clock changes that they show
// (clock_change.h). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compare/clock_change.h"
#include "compare/steps/step_groups.h"
#include "compare/trace/compared_trace.h"

namespace tracedb {

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

SameKernels same_kernels(const ComparedTrace& baseline, const ComparedTrace& candidate,
                         std::span<const StepGroup> groups, const KernelNameTable& kernel_names);

}  // namespace tracedb
