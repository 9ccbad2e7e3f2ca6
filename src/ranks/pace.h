// Which rank sets the pace of a job whose ranks send to each other, as the stages of a pipeline do. There a rank that
// is late makes others late who wait for it, and all wait while the pipeline fills and drains, so who is late at a
// transfer says little. The stage that works longest holds the others up: computes, copies or has nothing to do because
// its host launches nothing. What is left of its span is exposed communication, and there the others wait for it.
// Nor is it work to have nothing to do before a receive whose data were not sent yet. Pure.
#pragma once

#include <span>
#include <vector>

#include "base/time_cover.h"
#include "ranks/rank_trace.h"
#include "ranks/waits.h"

namespace tracedb {

// Sets `straggler` and `pace` where a rank works longer than the others on average, by three standard deviations over
// the steps that all ranks have (or parts of the recording) and 1 % of their span. `unsent`: of each rank, when it had
// nothing to do before a receive whose data were not sent yet.
void find_pace(std::span<const RankTrace> ranks, const std::vector<TimeCover>& unsent, JobWaits& waits);

}  // namespace tracedb
