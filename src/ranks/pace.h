// Which rank sets the pace of a job whose ranks send to each other, as the stages of a pipeline do. There a rank that
// is late makes others late who wait for it, and all wait while the pipeline fills and drains, so who is late at a
// transfer says little. The stage that works longest holds the others up: computes, copies or has nothing to do because
// its host launches nothing. What is left of its span is exposed communication, and there the others wait for it. Pure.
#pragma once

#include <span>

#include "ranks/waits.h"

namespace tracedb {

// Sets `straggler` and `pace` where a rank works longer than the others on average, by three standard deviations over
// the steps (or parts of the recording) and 1 % of their span.
void find_pace(std::span<const RankTrace> ranks, JobWaits& waits);

}  // namespace tracedb
