// Parses the name of a range of PyTorch's emit_nvtx: "aten::mul, seq = 7, op_id = 9, sizes = [[2, 3], []]" is operator
// aten::mul.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tracedb {

struct NvtxOperator {
  std::string_view name;  // "aten::mul"
  std::optional<std::int64_t> sequence_number;
  std::string_view sizes;  // JSON list; empty: not recorded
};

// nullopt: a range of somebody else.
std::optional<NvtxOperator> parse_nvtx_operator(std::string_view text);

// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel"
std::string_view without_api_version(std::string_view name);

}  // namespace tracedb
