// What generate_op_comparison.py of msmodeling (at 56a17ec) does, byte for byte, its faults included: for checking our
// own figures (ascend/model_comparison.h) against it.
//
// Numbers keep the type they have in Python: an int 0 is printed 0, a float 0.0. Sums are plain left-to-right
// additions, as those of Python before 3.12.
#pragma once

#include <ostream>
#include <string>

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

}  // namespace tracedb::msmodeling
