// Manual pages of trace-query, of its commands and of the index format.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "shared/manual_page.h"
#include "trace_query/command.h"

namespace tracedb {

// trace-query(1). `description`: what its help says before the commands.
std::string program_manual(std::string_view description, std::span<const Command> commands);

// trace-query-COMMAND(1). `more_help`: behind the summary; `options`: under the headings that its help has.
using HeadedOptions = std::pair<std::string_view, const boost::program_options::options_description*>;
std::string command_manual(const Command& command, std::string_view more_help,
                           std::initializer_list<HeadedOptions> options);

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
