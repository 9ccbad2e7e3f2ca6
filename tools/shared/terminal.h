// The terminal that a program writes to.
#pragma once

#include <cstddef>
#include <optional>

namespace tracedb {

// Characters in a line of a table or of progress: $TRACEDB_COLUMNS or $COLUMNS, where they are numbers, else what the
// terminal behind the file descriptor says; nullopt: it is none.
std::optional<std::size_t> line_width(int descriptor);

}  // namespace tracedb
