// The same collective on several ranks. Where the trace gives sequence numbers, those of one process group, sequence
// and name are one; where it does not, the n-th of a name (and group, and stream where all ranks use the same ones) is
// the n-th on the other ranks, counted from the place at which they end together best where ranks have different
// numbers of them. A send is matched with its receive by group, ends and order, as NCCL does; where the trace does not
// say with which rank, the n-th of two ranks that alone have some are one if they overlap when their ends are laid
// together. Pure.
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
  bool is_send = false;                   // and its receive; else of the whole group
  bool is_whole = true;                   // all of the group are members
  std::vector<CollectiveMember> members;  // two and more, by rank
};

struct Matching {
  std::vector<MatchedCollective> matched;  // in order of their first start
  std::size_t single = 0;                  // collectives that one rank alone has
  std::size_t unknown_peer = 0;            // sends and receives of which the trace does not say with whom, not paired
  std::vector<std::size_t> other_end;      // by rank: sends and receives whose other end is not there
};

// Of sends and receives, all without their other end.
std::size_t without_other_end(const Matching& matching);

// `all_there`: no rank of the job is missing. Else a group of unknown size may have more ranks.
Matching match_collectives(std::span<const RankTrace> ranks, bool all_there);

// The clocks of the ranks of a job, set by their collectives: whatever moves data among all of its members ends on all
// of them at nearly the same time. The offset of a rank is the median difference of these ends, its drift the median
// slope between halves of the recording, taken where it is larger than the scatter; what is left of the differences is
// how uncertain the clock is. Ranks that share no such collective are set by others, sends and receives included, whose
// ends are further apart. A constant difference between the ends of two ranks cannot be told from an offset. Pure.

struct RankClock {
  bool known = false;      // it has collectives in common with the reference, or is it
  double offset = 0;       // ns that it is ahead of the reference at `at`
  double slope = 0;        // ns per ns that it gains; 0: not measurable
  std::int64_t at = 0;     // on its own clock
  double uncertainty = 0;  // ns: median distance of ends from the offset
  std::size_t pairs = 0;   // collectives that say so

  // A moment of its own clock on that of the reference.
  [[nodiscard]] std::int64_t aligned(std::int64_t own) const;
};

// By rank; the reference is the first rank of each set that collectives connect.
std::vector<RankClock> align_clocks(std::span<const RankTrace> ranks, const Matching& matching, const JobTexts& texts);

}  // namespace tracedb
