// The rank of a distributed job as the name of a trace tells it, where it does so beyond doubt.
//
//   rank3  rank-3  rank_3  rank=3  global_rank3      anywhere in the name, as words of their own
//   dp0_pp0_tp3, tp3-pp0                             positions, if all others but the tensor-parallel one are 0
//   TP-3, 1754398294.1-TP-3-DP-0                     as SGLang writes them
//   ascend_pytorch_profiler_3, profiler_info_3       as the Ascend profiler of PyTorch writes them
//
// Not: ranks within a group (local_rank3, tp_rank3), sizes (tp4, 8rank, rank0of8 is rank 0), LoRA ranks, dates,
// process ids, names of devices; nor a name that tells two different ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracedb {

struct NamedRank {
  std::int64_t rank = 0;
  std::string from;  // the part of the name that says so: "rank-3"
};

// `name` without its folders.
std::optional<NamedRank> rank_in_name(std::string_view name);

}  // namespace tracedb
