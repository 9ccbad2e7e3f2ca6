// The same collective on several ranks. Where the trace gives sequence numbers, those of one process group, sequence
// and name are one; where it does not, the n-th of a name (and group, and stream where all ranks use the same ones) is
// the n-th on the other ranks, counted from the place at which they end together best where ranks have different
// numbers of them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ranks/rank_trace.h"

namespace tracedb {

struct CollectiveMember {
  std::uint32_t rank = 0;   // place among the traces
  std::uint32_t event = 0;  // place in RankTrace::collectives
};

struct MatchedCollective {
  std::uint32_t name = 0, group = 0;      // of JobTexts
  bool by_sequence = false;               // else by order
  std::vector<CollectiveMember> members;  // two and more, by rank
};

struct Matching {
  std::vector<MatchedCollective> matched;  // in order of their first start
  std::size_t single = 0;                  // events without a partner on another rank
  std::size_t point_to_point = 0;          // events that are not looked at
};

Matching match_collectives(std::span<const RankTrace> ranks);

}  // namespace tracedb
