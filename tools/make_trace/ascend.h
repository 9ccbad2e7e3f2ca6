// A performance model of an NPU program and the profile of a run of it, with everything `trace-query model` must tell
// apart: hits, misses, operators that cost nothing, composites, collectives that the profile has twice, kernels of the
// AI CPU.
#pragma once

#include <cstdint>
#include <string>

namespace tracedb {

struct AscendOptions {
  std::uint64_t seed = 1;
  std::int64_t operators = 100;  // of the model
  int passes = 1;                // of it in the profile
};

// Writes model.json, kernel_details.csv, op_mapping.yaml, m6.json and truth.json into `folder`, which is made.
void write_ascend(const AscendOptions& options, const std::string& folder);

}  // namespace tracedb
