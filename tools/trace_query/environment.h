// Environment variables, as help and the manual explain them.
#pragma once

#include <string_view>

namespace tracedb {

struct EnvironmentVariable {
  std::string_view name, meaning;
};
inline constexpr EnvironmentVariable kEnvironmentVariables[] = {
    {"TRACEDB_CACHE_DIR", "where indexes go that cannot lie beside their traces (~/.cache/tracedb)"},
    {"TRACEDB_RULES", "what --rules says where it is not given"},
    {"TRACEDB_COLUMNS",
     "the width of tables, where it is a number (else COLUMNS, else the terminal's); else\n"
     "columns, separated by commas: tables show those of them that they have"},
};

}  // namespace tracedb
