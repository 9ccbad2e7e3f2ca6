// Where the host of a rank was while its device had nothing to do and the other ranks came to wait for it.
#pragma once

#include <optional>

#include "passes/select/workload.h"
#include "ranks/rank_trace.h"
#include "ranks/waits.h"

namespace tracedb {

// Of what `waits` says of the rank that `workload` is the trace of. nullopt: its host made it late nowhere, or the
// trace does not record what the host did.
std::optional<HostCause> find_host_cause(Workload& workload, const RankTrace& rank, const RankWaits& waits);

}  // namespace tracedb
