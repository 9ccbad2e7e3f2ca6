// The clocks of the ranks of a job, set by their collectives: whatever moves data among all of its members ends on all
// of them at nearly the same time. The offset of a rank is the median difference of these ends, its drift the median
// slope between halves of the recording, taken where it is larger than the scatter; what is left of the differences is
// how uncertain the clock is. Ranks that share no such collective are set by others, sends and receives included, whose
// ends are further apart. A constant difference between the ends of two ranks cannot be told from an offset. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ranks/collectives.h"

namespace tracedb {

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
