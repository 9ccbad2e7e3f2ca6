// What trace-query says of itself: the columns of every report as they are declared (schema/reports, src/present), from
// which `help`, `schema` and the JSON Schema of a report follow; completion in shells; and manual pages of the program,
// of its commands and of the index format.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/sql_report.h"
#include "shared/help_text.h"
#include "trace_query/command.h"

namespace tracedb {

class Database;

// One table that a command prints.
struct ReportShape {
  std::string_view command;  // "layers"
  std::string_view report;   // of "tracedb.REPORT/1" in JSON
  std::string variant;  // which of several tables: an option ("--per-op") or a section ("ledger"); "": the usual one
  bool is_section = false;  // `variant` is one; JSON has all sections in one document
  std::vector<Column> columns;
  std::string_view summary = {};  // of a section
  bool is_member = false;         // of a section: in JSON a member of the document, and not in `sections`
};

// In the order of the commands in the help.
std::vector<ReportShape> report_shapes();
std::vector<ReportShape> shapes_of_command(std::string_view command);  // empty: it prints no report

// What `trace-query schema` lists: tables, views, passes, functions and reports, each followed by its columns. Columns:
// type, object, column, data_type, unit, comment and, with an index, rows. `only`: one object; "": all.
Report schema_objects(const std::string& only, Database* index);

// What `trace-query help COMMAND` says of its columns; "" where there are none. `width`: of a line.
std::string columns_help(std::string_view command, std::size_t width);

// A JSON Schema (draft 2020-12) of what a report prints with --json. Error{kUsage}, naming the reports, for another
// name.
std::string json_schema(const std::string& report);

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
