// Manual pages of trace-query, of its commands and of the index format.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "shared/manual_page.h"
#include "trace_query/command.h"

namespace tracedb {

// trace-query(1). `description`: what its help says before the commands.
std::string program_manual(std::string_view description, std::span<const Command> commands);

// trace-query-COMMAND(1): name, usage and summary so far; add_command_end() adds columns and examples.
ManualPage command_manual(const Command& command);
void add_command_end(ManualPage& page, const Command& command);

// tracedb(5), from the objects that `trace-query schema` lists.
std::string index_manual();

// Environment variables, as help and the manual explain them.
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
