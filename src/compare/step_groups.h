// Decides which runs of two traces are compared: those of steps of the same kind and of comparable batch. Pure.
//
// A kind of steps makes one group if both traces have the same mix of batches, else one group for each batch size
// (powers of two) that both have. If no batch size is common, all steps of the kind make one group that is marked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compare/side.h"

namespace tracedb {

struct GroupSide {
  std::vector<std::uint32_t> runs;  // places in Side::runs, in order
  StepKind kind = StepKind::kUnknown;
  std::int64_t requests = 0, tokens = 0;  // sums over the runs whose annotation says
  bool tokens_known = false;              // of every run
};

struct StepGroup {
  std::string label;  // "decode", "prefill 4096..8191 tokens", "trace"
  GroupSide baseline, candidate;
  bool whole_trace = false;  // without steps
  bool comparable = true;    // the same batch, as far as annotations say
  std::string doubt;         // why not comparable; "" where it is
};

struct StepMatch {
  std::vector<StepGroup> groups;                   // by baseline time, longest first
  std::vector<std::string> notes;                  // steps that only one side has, and what else a reader must know
  double baseline_share = 0, candidate_share = 0;  // of the kernel time that is in a group
};

StepMatch match_steps(const Side& baseline, const Side& candidate);

}  // namespace tracedb
