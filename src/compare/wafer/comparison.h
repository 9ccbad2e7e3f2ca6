// The whole comparison of wafer 0.1.28, in one call. The caller decides which trace is the first one (the AMD one, if
// any): is_swapped().
#pragma once

#include <string_view>
#include <vector>

#include "compare/wafer/alignment.h"
#include "compare/wafer/fusion.h"
#include "compare/wafer/operations.h"

namespace tracedb::wafer {

struct Warning {
  std::string_view code;
  std::string_view severity;  // warning, info
  std::string_view message;   // in our words
};

std::vector<Warning> warnings_of(const Trace& trace, const LayerMap& layers);

// Both lists, without repeated codes: the first of each code is kept, so the side is lost.
std::vector<Warning> join(std::vector<Warning> first, const std::vector<Warning>& second);

// Sums of one side, after the filter by phase.
struct TraceSums {
  std::int64_t kernels = 0, total = 0;
  std::size_t layers = 0;  // LayerMap::size(), whatever the filter
};

struct Comparison {
  TraceSums first, second;
  Architecture architecture = Architecture::kUnknown;
  std::vector<OperationRecord> operations;
  std::vector<LayerRecord> layers;
  Alignment alignment;  // this and what follows: of all phases
  std::vector<Fusion> fusions;
  SameKernels same_kernels;
  std::vector<Warning> warnings;
};

Comparison compare(const Trace& first, const Trace& second, PhaseFilter filter);

// Traces are swapped if only the second is AMD's.
constexpr bool is_swapped(Platform first, Platform second) {
  return first != Platform::kAmd && second == Platform::kAmd;
}

}  // namespace tracedb::wafer
