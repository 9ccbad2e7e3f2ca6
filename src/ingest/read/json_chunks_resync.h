// Finds the intact members of the top level of a trace after damage, up to the list of events or the end.
//
// A pure function, linear in the text; the number of attempts is bounded.
#pragma once

#include <cstddef>
#include <string_view>

#include "ingest/read/trace_header.h"

namespace tracedb {

struct HeaderRest {
  TraceHeader members;                          // their texts as they are, their offsets in the text
  std::size_t events = std::string_view::npos;  // behind the bracket of "traceEvents"
};

// `text` begins in a damaged place, and ends where the first event begins, or with the trace.
HeaderRest rest_of_header(std::string_view text);

}  // namespace tracedb
