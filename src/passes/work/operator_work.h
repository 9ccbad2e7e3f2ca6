// What a call of a framework operator has to compute and to move at least, by the shapes and types of its arguments.
// The operators known are one table (operator_work.cc); what the figures mean: schema/METRICS.md 13.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "passes/work/operator_arguments.h"

namespace tracedb {

enum class WorkFamily : std::uint8_t {
  kNone,  // the operator is not known
  kGemm,
  kAttention,
  kConvolution,
  kMoe,
  kNorm,
  kElementwise,
  kCopy,
  kReduce,
  kGather,
  kGenerated,
};
std::string_view family_name(WorkFamily family);  // "gemm", "attention" ...

// Families whose multiplications run on matrix units; only these are in model FLOPs utilisation (MFU).
constexpr bool uses_matrix_units(WorkFamily family) {
  return family >= WorkFamily::kGemm && family <= WorkFamily::kMoe;
}

// Sums over the requests of a step, of query and key lengths, where a call's own are in a tensor: what vLLM and SGLang
// write into the annotation of the step.
struct RequestLengths {
  std::int64_t q = 0, k = 0, qq = 0, qk = 0;
};
struct StepLengths {
  RequestLengths context, generation;
};
std::optional<StepLengths> step_lengths(std::string_view annotation);

struct OperatorWork {
  WorkFamily family = WorkFamily::kNone;
  Amount flops, bytes;       // of one call
  Amount b, m, n, k;         // of products of matrices
  std::string type;          // of its matrices or of its first tensor
  std::string layout;        // of A and B as [M, K] and [K, N]: N row-major, T column-major; "" if not recorded
  std::string_view missing;  // why a figure is not known; "" if they are, or the family is unknown
};

WorkFamily family_of(std::string_view operator_name);

// `lengths`: of the step, null if its annotation does not say.
OperatorWork work_of(std::string_view operator_name, const std::vector<Argument>& arguments,
                     const StepLengths* lengths = nullptr);

// Whether the lengths of a step matter to it.
bool needs_step_lengths(std::string_view operator_name);

}  // namespace tracedb
