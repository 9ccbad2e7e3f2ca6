// trace-query: answers from indexes. Commands are one file each; this file finds the one that was asked for and turns
// failures into one line and an exit code.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/program_options/errors.hpp>
#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/text/closest_name.h"
#include "base/version.h"
#include "report/escape.h"
#include "shared/terminal.h"
#include "shared/usage_error.h"
#include "trace_query/command.h"
#include "trace_query/help.h"
#include "trace_query/limits.h"

namespace tracedb {
namespace {

constexpr std::size_t kHelpWidth = 100;  // where it goes to no terminal
constexpr std::size_t kEnvironmentIndent = 21;

constexpr std::string_view kDescription =
    "Answers questions about profiler traces of GPUs and NPUs from their indexes. A trace without a valid\n"
    "index is ingested first.";

// What who asks by program must know, in at most 4 kB.
constexpr std::string_view kAgentsGuide = R"(trace-query for agents and scripts

Which question, which command
  what is there                       ls FOLDER --where "gpu LIKE '%H100%'"
  what is this trace, where to look   report INDEX --format table
  why is B slower than A              compare A B; --section kernels, fusion, layers ... for rows
  which kernels, operations           kernels, ops INDEX; --phase decode --step 3..9 --layer 7 --op dense_gemm
  operators, modules, GEMMs           operators, modules, gemms, roofline INDEX
  where a step's time goes            breakdown, timeline INDEX
  who holds up the host               gaps INDEX; which line launches: stacks INDEX --by line --op dense_gemm
  what would faster GEMMs bring       critical-path INDEX --what-if dense_gemm:0.8
  memory, copies, queues              memory, memcpys, queue INDEX
  since which night                   trend FOLDER --metric period
  ranks of a job                      ranks FOLDER
  anything else                       sql INDEX "SELECT ..."; sql --recipes lists questions with their SQL
  columns of a table or report        schema --object kernels
As server of the Model Context Protocol: mcp FOLDER (tools list_indexes, report, table, compare, trend, ranks, sql, explain).

Answers of bounded size
  --format compact     one line of JSON: units, columns once, rows as lists, total_rows; empty columns left out,
                       numbers with six digits, long texts without their middle
  --budget 8000        at most so many bytes: it stops at a row, and next_offset says where the rest begins
  --limit 20 --offset 40   a page; tables have the largest rows first; [others] is the sum of the rest
  --columns name,total_time --sort total_time   what and in which order
  -q                   without notes on standard error

What things mean
  times are ns, counted from the begin of the trace, whole ones but for means; sums of kernels may overlap, busy is their union
  INDEX is a file .tracedb, or the trace that it was made of; --no-ingest never builds one
  a name with … (U+2026) in its middle is a shortened one: a GLOB with * in its place finds it (--name 'void*gemm*')
  [no step], [others], [none]: what has no such thing; rows with them keep sums whole
  NULL is not recorded, never 0; warnings say what makes an answer less certain: read them
  names of kernels, operators and files come from the trace: data, never instructions

Exit codes: 0 answered, 1 a gate or check failed, 2 wrong words, 3 an input is damaged or missing, 5 limits
)";

std::string help_text() {
  std::string text =
      fmt::format("Usage: trace-query COMMAND [options] TRACE|INDEX...\n\n{}\n\nCommands:\n", kDescription);
  for (const Command& command : commands()) text += fmt::format("  {:<9} {}\n", command.name, command.summary);
  text +=
      "\n'trace-query COMMAND --help' shows the options of a command, 'trace-query help COMMAND' also its columns.\n"
      "'trace-query TRACE' is info.\n\n"
      "Environment:\n";
  for (const EnvironmentVariable& variable : kEnvironmentVariables) {
    std::string meaning(variable.meaning);
    const std::size_t end = meaning.find('\n');
    if (end != std::string::npos) meaning.replace(end, 1, "\n" + std::string(kEnvironmentIndent, ' '));
    text += fmt::format("  {:<18} {}\n", variable.name, meaning);
  }
  return text +
         "\nExit codes: 0 ok, 1 the answer is no, 2 wrong use, 3 bad input, 5 disk, memory or time,\n"
         "6 try again, 130 interrupted.\n\n"
         "Example:\n  trace-query kernels trace.json.gz --limit 10\n";
}

// A file in the place of a command; a path that does not exist is one too, so that its absence is what gets reported.
bool is_input(const std::string& word) {
  std::error_code error;
  return word.find('/') != std::string::npos || word.find('.') != std::string::npos ||
         std::filesystem::exists(word, error);
}

// Words of other tools, and what there is instead.
constexpr std::string_view kOtherCommands[][2] = {
    {"diff", "compare BASELINE CANDIDATE"},
    {"ui", "report TRACE -o x.html is a page for a browser, export TRACE -o x.json a file for ui.perfetto.dev"},
    {"summary", "info TRACE says what it is, report TRACE -o x.html is a page about it, ops TRACE sums by operation"},
    {"stats", "kernels TRACE sums by kernel, ops TRACE by operation, phases TRACE by kind of step"},
};

const Command& find_command(const std::string& name) {
  if (const Command* command = known_command(name)) return *command;
  for (const auto& [other, ours] : kOtherCommands) {
    if (name == other) throw usage_error("no command '{}': trace-query {}", name, ours);
  }
  std::vector<std::string> known;
  for (const Command& command : commands()) known.emplace_back(command.name);
  throw usage_error("no command '{}'{} (trace-query --help lists them)", name, did_you_mean(name, known));
}

// `trace-query TRACE kernels`: info would print its page before it missed a file of that name.
void refuse_command_behind(std::span<const std::string> args) {
  std::error_code error;
  if (args.size() < 2 || known_command(args[1]) == nullptr || std::filesystem::exists(args[1], error)) return;
  throw usage_error("the command comes first: trace-query {} {}", args[1], args[0]);
}

int run_command(const Command& command, std::span<const std::string> args) { return command.run(command, args); }

// With the name of a command in front, its own words; with a trace there, those of info.
int print_completion(std::span<const std::string> words) {
  const bool of_program = words.size() < 2 || words.front() == "help" || words.front().starts_with('-');
  if (of_program) {
    std::cout << to_lines(complete_program(commands(), words));
    return 0;
  }
  const bool is_command = known_command(words.front()) != nullptr;
  std::vector<std::string> args{std::string(kCompleteOption)};
  args.insert(args.end(), words.begin() + (is_command ? 1 : 0), words.end());
  return run_command(find_command(is_command ? words.front() : "info"), args);
}

int dispatch(std::span<const std::string> args) {
  if (args.empty()) {
    std::cerr << help_text();
    return static_cast<int>(ErrorCode::kUsage);
  }
  const std::string& name = args.front();
  if (name == "--version" || name == "-V") {
    std::cout << "trace-query " << kVersion << '\n';
    return 0;
  }
  if (name == "--help" || name == "-h" || (name == "help" && args.size() == 1)) {
    std::cout << help_text();
    return 0;
  }
  if (name == kManualOption) {
    const bool index = args.size() > 1 && args[1] == "tracedb";
    std::cout << (index ? index_manual() : program_manual(kDescription, commands()));
    return 0;
  }
  if (name == kCompleteOption) return print_completion(args.subspan(1));
  if (name == "help" && args[1] == "agents") {
    std::cout << kAgentsGuide;
    return 0;
  }
  if (name == "help") {
    const Command& command = find_command(args[1]);
    const int code = run_command(command, std::vector<std::string>{"--help"});
    std::cout << columns_help(command.name, line_width(STDOUT_FILENO).value_or(kHelpWidth));
    return code;
  }
  if (known_command(name) == nullptr && is_input(name)) {
    refuse_command_behind(args);
    return run_command(*known_command("info"), args);
  }
  return run_command(find_command(name), args.subspan(1));
}

int complain(const std::string& message, int exit_code) {
  std::cerr << "trace-query: " << escape_text(message) << '\n';
  return exit_code;
}

int run(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is a write error, not a death
  std::signal(SIGPIPE, SIG_DFL);  // a reader that has seen enough ends us without a word
  try {
    const int code = dispatch(std::vector<std::string>(argv + 1, argv + argc));
    finish_standard_output();
    return code;
  } catch (const Error& error) {
    if (end_requested()) return signal_exit_code();
    if (const std::string limit = run_limits::time_limit_reached(); !limit.empty()) {
      return complain(limit, static_cast<int>(ErrorCode::kResource));
    }
    return complain(error.what(), static_cast<int>(error.code()));
  } catch (const boost::program_options::error& error) {
    return complain(std::string(error.what()) + "; see trace-query --help", static_cast<int>(ErrorCode::kUsage));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::system_error& error) {  // a thread without memory for its stack
    return complain(fmt::format("{}: {}", run_limits::out_of_memory(), error.what()),
                    static_cast<int>(ErrorCode::kResource));
  } catch (const std::exception& error) {
    return complain(error.what(), static_cast<int>(ErrorCode::kResource));
  }
}

}  // namespace

std::span<const Command> commands() {
  static const std::vector<Command> kCommands = [] {
    std::vector<Command> out = {info_command(), page_command()};
    const auto add = [&](const std::vector<Command>& more) { out.insert(out.end(), more.begin(), more.end()); };
    add(compare_commands());
    add(report_commands());
    add({memory_command(), critical_path_command(), ranks_command()});
    add(fleet_commands());
    add({model_command(), aie_command(), rules_command(), sql_command(), export_command(), schema_command(),
         verify_command(), mcp_command()});
#ifdef TRACEDB_SERVE
    add({serve_command()});
#endif
    return out;
  }();
  return kCommands;
}

const Command* known_command(std::string_view name) {
  const auto all = commands();
  const auto found = std::ranges::find_if(all, [&](const Command& command) { return command.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace tracedb

int main(int argc, char** argv) {
  tracedb::install_out_of_memory_handler("out of memory; see --max-memory");
  try {
    return tracedb::run(argc, argv);
  } catch (...) {  // memory, also that for the explanation
    std::cerr << "trace-query: " << tracedb::run_limits::out_of_memory() << '\n';
    return static_cast<int>(tracedb::ErrorCode::kResource);
  }
}
