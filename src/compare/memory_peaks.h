// The most memory that a trace has allocated at once, and what that was.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sql/database.h"

namespace tracedb {

struct MemoryPeak {
  std::string device;      // "cuda 0", "hip 0", "cpu"
  std::int64_t bytes = 0;  // allocated, with what was there before the trace where that is recorded
  std::map<std::string, std::int64_t, std::less<>>
      of_operators;  // all of them: of the trace's allocations alive then, "[none]" outside of all; and the rest
  std::optional<std::int64_t> step = {};  // number of the step marked on the host then
};

// Largest peak first; empty: the trace has no events of memory. The database has the pass table memory_events.
std::vector<MemoryPeak> memory_peaks(Database& database);

// Of one device, on both sides: the peak, and what of it the operators allocated; largest change first.
struct MemoryChange {
  std::string device, operator_name;  // operator_name "": the peak
  std::int64_t baseline = 0, candidate = 0;
  std::optional<std::int64_t> step = {};  // of the higher of two peaks
};
// Devices of a number that both sides have, or the only one of each side.
std::vector<MemoryChange> memory_changes(const std::vector<MemoryPeak>& baseline,
                                         const std::vector<MemoryPeak>& candidate);

}  // namespace tracedb
