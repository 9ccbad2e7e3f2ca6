// --device --stream --step --phase --layer --op --name --from --to as a Selection.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "passes/select/selection.h"
#include "trace_query/options.h"

namespace tracedb {

// Empty when nothing was selected. Error{kUsage} for values that mean nothing.
Selection selection_of(const CommandLine& line);

// "step = 3, phase = decode", for people; "everything" when nothing was selected.
std::string selection_text(const CommandLine& line);

// "12345", "12345ns", "1.5us", "250ms", "2s" -> ns. Error{kUsage} for anything else.
std::int64_t parse_time(const std::string& text);

}  // namespace tracedb
