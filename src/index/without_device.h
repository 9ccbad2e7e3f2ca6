// What a trace without a kernel, copy or fill is instead, and what to record: one sentence, said before anything else.
#pragma once

#include <string>

#include "index/index.h"

namespace tracedb {

// "no kernel, copy or fill is in it: it looks like ...", as ingest found; empty: there are device events, or the index
// is too old to say.
std::string without_device(const Index& index);

}  // namespace tracedb
