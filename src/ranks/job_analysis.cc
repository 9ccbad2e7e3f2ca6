#include "ranks/job_analysis.h"

#include <set>

namespace tracedb {

std::size_t JobAnalysis::steps() const {
  std::set<std::uint32_t> seen;
  for (const CollectiveWait& one : waits.collectives) {
    const std::vector<StepFacts>& steps = ranks.front().steps;
    const bool is_unit = !steps.empty() && steps.front().info.kind == StepKind::kUnit;
    if (one.step != 0 && !is_unit) seen.insert(one.step);
  }
  return seen.size();
}

void analyse(JobAnalysis& job) {
  job.matching = match_collectives(job.ranks);
  RankClock one;
  one.known = true;
  job.clocks =
      job.by_device ? std::vector<RankClock>(job.ranks.size(), one) : align_clocks(job.ranks, job.matching, job.texts);
  job.waits = split_waits(job.ranks, job.matching, job.clocks);
}

}  // namespace tracedb
