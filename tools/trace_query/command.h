// One command of trace-query: its help, its tables and its function. All that lists commands or their tables (help,
// manual, completion, `schema`, JSON Schema) reads commands().
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

class CommandLine;
class Workload;
struct PassReport;
struct ReportShape;
struct TraceReport;

enum class OptionGroup {
  kOutput,     // --format --csv ... -o --timeunit --wide
  kPage,       // HTML is a format, too: page(); before kOutput
  kRows,       // --limit --sort --columns
  kSelection,  // --device --stream --step --phase --op --name --from --to
  kPlaces,     // of these, what needs no kernel names: all but --op --name
  kRules,      // --rules
  kLayers,     // --layer
  kSteps,      // --step-regex
  kCapture,    // --capture
  kExplain,    // --explain
  kInput,      // --no-ingest, and kFiles
  kFiles,      // --files-from: all arguments are traces, indexes and folders of them
  kNoIngest,   // --no-ingest
  kTimeline,   // --per-stream --kernel-wait; these and what follows are among the command's own options
  kMicroIdle,  // --micro-idle
  kSteady,     // --steady
  kSequences,  // --length --least
  kByFrames,   // --by module, function
  kFrames,     // --own --modules --each-module
  kCallTree,   // these and --all-frames
  kServer,     // in place of kLimits: each question to it is a process with its own
  kLimits,     // --timeout --max-memory --read-only, which every other command has
  kEvery,      // --quiet --help, which every command has
};

// One of the tables of a command: a report (passes/tables/pass_tables.h) and the option that chooses it.
struct CommandTable {
  std::string_view option;     // "--per-op", "--by role", "--short 10us"; "": the usual one
  std::string_view report;     // "layer_ops"
  std::string_view help = {};  // of that option; "": the command adds it itself
};

struct Command {
  using Run = int(const Command& command, std::span<const std::string> args);  // the exit code; throws Error

  std::string_view name;
  std::string_view summary;
  std::string usage;    // one line, after "trace-query "
  std::string example;  // one or more lines, shown by --help
  Run* run;

  std::vector<CommandTable> tables = {};
  // Where they are not all: tables that are made otherwise.
  std::vector<ReportShape> (*shapes)(std::string_view command) = nullptr;
  std::string_view json = {};  // name of the report in JSON; "": the command's
  [[nodiscard]] std::string_view json_name() const { return json.empty() ? name : json; }

  // Of a table_command().
  std::vector<OptionGroup> groups = {};
  void (*add_options)(CommandLine& line) = nullptr;
  // Error{kUsage}; may change the options and parameters of the passes, and choose the table.
  void (*prepare)(const CommandLine& line, PassReport& report) = nullptr;
  // Says what the reader must know; may change the table.
  void (*finish)(const CommandLine& line, Workload& workload, TraceReport& report) = nullptr;
};

// In the order of the help.
std::span<const Command> commands();
const Command* known_command(std::string_view name);  // null: there is none

// One that prints the table that the options choose of each input, and no more.
Command table_command(std::string_view name, std::string_view summary, std::string example,
                      std::vector<CommandTable> tables, std::vector<OptionGroup> groups,
                      decltype(Command::finish) finish, decltype(Command::add_options) add_options = nullptr,
                      decltype(Command::prepare) prepare = nullptr);

// By the file that defines them; report_commands(): those that are little more than tables.
std::vector<Command> report_commands(), operator_commands(), compare_commands(), fleet_commands();
Command info_command(), page_command(), ranks_command(), model_command(), aie_command(), rules_command(), sql_command(),
    export_command(), schema_command(), verify_command(), memory_command(), critical_path_command(), mcp_command();
Command serve_command();  // where it was built: TRACEDB_SERVE

// `ranks` of the inputs of a command line, as a page.
int run_ranks_page(const CommandLine& line);

}  // namespace tracedb
