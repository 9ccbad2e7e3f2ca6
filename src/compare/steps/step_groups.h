// Decides which device steps of two traces are compared: those of steps of the same kind and of comparable batch. Pure.
//
// A kind of steps makes one group if both traces have the same mix of batches, else one group for each batch size
// (powers of two) that both have. If no batch size is common, all steps of the kind make one group that is marked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compare/trace/compared_trace.h"

namespace tracedb {

struct GroupSide {
  std::vector<std::uint32_t> device_steps;  // indices into StepWork::steps, ascending
  StepKind kind = StepKind::kUnknown;
  std::int64_t requests = 0, tokens = 0;  // sums over those whose annotation says
  bool tokens_known = false;              // of every one
};

struct StepGroup {
  std::string label;  // "decode", "prefill 4096..8191 tokens", "trace"
  GroupSide baseline, candidate;
  bool whole_trace = false;         // without steps
  std::string incomparable_reason;  // "": both have the same batch, as far as annotations say
  [[nodiscard]] bool comparable() const { return incomparable_reason.empty(); }
};

struct StepMatch {
  std::vector<StepGroup> groups;                   // by baseline time, longest first
  std::vector<std::string> notes;                  // steps that only one trace has, and what else a reader must know
  double baseline_share = 0, candidate_share = 0;  // of the kernel time that is in a group
};

StepMatch match_steps(const ComparedTrace& baseline, const ComparedTrace& candidate);

}  // namespace tracedb
