// Cells of an index as arguments of exported events; unknown ones are left out.
#pragma once

#include <string_view>

#include "export/trace_events.h"
#include "sql/database.h"

namespace tracedb {

// A number of the profiler's own (type ANY): an integer, also one that is stored as text because it takes more than 63
// bits; other text as text.
void add_number(JsonMembers& args, std::string_view key, const Statement& row, int column);
void add_real(JsonMembers& args, std::string_view key, const Statement& row, int column);
void add_text(JsonMembers& args, std::string_view key, const Statement& row, int column);
// Valid JSON.
void add_json(JsonMembers& args, std::string_view key, const Statement& row, int column);
// "grid": [x, y, z] of three columns; unknown ones at the end are left out.
void add_triple(JsonMembers& args, std::string_view key, const Statement& row, int first_column);

}  // namespace tracedb
