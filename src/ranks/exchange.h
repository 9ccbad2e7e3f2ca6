// With whom a rank communicates by a kernel, as far as the trace says. PyTorch gives sends and receives the names
// "send" and "recv" and the rank of the job at the other end ("Src Rank", "Dst Rank"); older versions have it only in
// the name of the annotation around the launch ("nccl:send 0->1"), by places in the group. What it launches together
// (batch_isend_irecv) is one kernel of NCCL's name SendRecv without any of this, as is an all-to-all. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/unknown.h"
#include "ranks/rank_trace.h"

namespace tracedb {

// What the trace says about a communication kernel; empty and kUnknownValue: nothing.
struct ExchangeFacts {
  std::string_view name;        // "allreduce", "send"
  std::string_view kernel;      // "ncclDevKernel_SendRecv"
  std::string_view ranks;       // of the group: "[0, 1, 2, 3]"
  std::string_view annotation;  // around the launch
  std::int64_t source_rank = kUnknownValue, destination_rank = kUnknownValue;
};

struct ExchangeEnd {
  Exchange exchange = Exchange::kCollective;
  std::int64_t peer = kUnknownValue;  // rank of the job, where this is kSend or kReceive
};

ExchangeEnd exchange_of(const ExchangeFacts& facts);

}  // namespace tracedb
