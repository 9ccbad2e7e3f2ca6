// What lies in some folders: indexes with their summaries, and traces that have none.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fleet/summary_cache.h"
#include "fleet/trace_summary.h"

namespace tracedb {

enum class CatalogueState {
  kIndexed,     // the index describes its trace
  kNoTrace,     // the trace is not there; the index answers
  kOutOfDate,   // the trace has changed since
  kNotIndexed,  // a trace without an index
  kUnusable,    // the index cannot be read
};
std::string_view to_string(CatalogueState state);  // indexed, no trace, out of date, not indexed, unusable

struct CatalogueEntry {
  std::filesystem::path index, trace;  // empty: there is none, or it is not known
  CatalogueState state = CatalogueState::kNotIndexed;
  TraceSummary summary;     // of an index that can be read
  std::string reason;       // why it cannot be, in one line
  std::uint64_t bytes = 0;  // of the index, else of the trace
};

// Of an index; its summary is taken from the cache, or made by the built-in rules and added to it.
CatalogueEntry catalogue_index(const std::filesystem::path& index, SummaryCache& cache, const ActiveRules& rules);
CatalogueEntry catalogue_trace(const std::filesystem::path& trace);  // that has no index

}  // namespace tracedb
