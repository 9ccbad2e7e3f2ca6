// What trace-query says of itself: completion in shells, and manual pages of the program, of its commands and of the
// index format.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "shared/help_text.h"
#include "trace_query/command.h"

namespace tracedb {

// For the words behind the name of a command.
Candidates complete_command(const Command& command, std::span<const std::string> words,
                            const boost::program_options::options_description& options);

// For the words behind trace-query.
Candidates complete_program(std::span<const Command> commands, std::span<const std::string> words);

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

// The formats of `export`: its help, its errors and the completion of words follow from this list.
enum class ExportKind { kPerfetto, kSpeedscope, kCollapsed, kParquet, kTable };

struct ExportFormat {
  ExportKind kind;
  std::string_view name;    // --format
  std::string_view ending;  // of a file whose format is not given
  std::string_view what;    // "" as for the format before
};

// The first is the default.
inline constexpr ExportFormat kExportFormats[] = {
    {ExportKind::kPerfetto, "perfetto", "", "Chrome JSON for ui.perfetto.dev (default)"},
    {ExportKind::kSpeedscope, "speedscope", ".speedscope.json", ""},
    {ExportKind::kCollapsed, "collapsed", ".folded", "kernel time by call path for flame graphs"},
    {ExportKind::kParquet, "parquet", ".parquet", "the kernels, for warehouses"},
    {ExportKind::kTable, "csv", ".csv", ""},
    {ExportKind::kTable, "tsv", ".tsv", ""},
    {ExportKind::kTable, "jsonl", ".jsonl", ""},
    {ExportKind::kTable, "json", "", "a table"},
};

}  // namespace tracedb
