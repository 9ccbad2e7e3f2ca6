// All that is known of one job: its ranks, their collectives and clocks, and who waits for whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ranks/jobs.h"
#include "ranks/waits.h"

namespace tracedb {

struct JobAnalysis {
  std::string name;
  std::optional<std::int64_t> world_size;
  std::vector<std::int64_t> missing;  // ranks
  bool by_device = false;             // the ranks are devices of one process, which have one clock
  JobTexts texts;
  std::vector<RankTrace> ranks;  // by rank
  Matching matching;
  std::vector<RankClock> clocks;
  JobWaits waits;

  // Steps with a collective that is selected; 0: none is in a step, or what repeats is none.
  [[nodiscard]] std::size_t steps() const;
};

// Of ranks that have been read.
void analyse(JobAnalysis& job);

}  // namespace tracedb
