// What generate_op_comparison.py of msmodeling (at 56a17ec) does, byte for byte, its faults included: for checking our
// own figures (ascend/model_comparison.h) against it.
//
// Numbers keep the type they have in Python: an int 0 is printed 0, a float 0.0. Sums are plain left-to-right
// additions, as those of Python before 3.12.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "ascend/op_mapping.h"

namespace tracedb::msmodeling {

// Defaults of the original, relative to the working directory.
struct Options {
  std::string trace_dir = "docs/perf_database/forward_pass_traces";
  std::string data_dir =
      "tensor_cast/performance_model/profiling_database/data/ATLAS_800_A3_752T_128G_DIE/vllm_ascend/"
      "vllm0.18.0_torch2.9.0_cann8.5";
  std::string output = "results/op_comparison.json";
};

// Prints the tables to `out` and warnings to `warnings`; returns the text of the JSON file. Throws Error{kInput}; what
// was printed until then stays printed.
std::string run(const Options& options, std::ostream& out, std::ostream& warnings);

// The model's trace as generate_op_comparison.py of msmodeling sums it up, its faults included.
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

// The profile as generate_op_comparison.py of msmodeling sums it up, its faults included.
struct ProfileTotal {
  double us = 0;
  std::int64_t count = 0;
};
using ProfileTotals = std::map<std::string, ProfileTotal, std::less<>>;  // by kernel type

// Rows of collectives ("hcom_...") of one type that start in the same microsecond, as a binary64 has it, are one: the
// longest. Throws Error{kInput}.
ProfileTotals read_profile(const std::string& path);

// One row of the comparison: a kernel type of the model, the profile or both.

// A Python number: a zero that was never computed is an int.
struct Number {
  double value = 0;
  bool is_float = false;
};

struct ComparisonRow {
  std::string kernel_type;
  std::string functions;
  Number model_us;
  std::int64_t model_count = 0;
  Number profile_us;
  double profile_count = 0;  // a whole number
  Number error_percent;
  Number count_error_percent;
  std::string status;
};

// `passes`: n_forward_passes of the m6 file. Longest first.
std::vector<ComparisonRow> compare(const ModelTotals& model, const ProfileTotals& profile, double passes);

}  // namespace tracedb::msmodeling
