// The model's trace as generate_op_comparison.py of msmodeling sums it up, its faults included.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "ascend/op_mapping.h"

namespace tracedb::msmodeling {

struct ModelTotal {
  double us = 0;
  std::int64_t hits = 0;
  std::int64_t misses = 0;
  std::vector<std::string> functions;  // each once, in the order of the trace

  [[nodiscard]] const char* status() const { return misses == 0 ? "HIT" : hits == 0 ? "MISS" : "PARTIAL"; }
};
using ModelTotals = std::map<std::string, ModelTotal, std::less<>>;  // by kernel type

// `warnings`: what the original prints to standard error. Throws Error{kInput}.
ModelTotals read_model(const std::string& path, const OpMapping& mapping, std::ostream& warnings);

}  // namespace tracedb::msmodeling
