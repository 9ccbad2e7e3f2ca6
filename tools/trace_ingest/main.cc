// trace-ingest: converts traces into SQLite indexes, once each.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/version.h"
#include "report/escape.h"
#include "shared/manual_page.h"
#include "shared/option_parsing.h"
#include "shared/process_signals.h"
#include "shared/word_completion.h"
#include "trace_ingest/housekeeping.h"
#include "trace_ingest/run.h"

namespace po = boost::program_options;

namespace {

constexpr const char* kUsage =
    "Usage: trace-ingest [options] TRACE|FOLDER...\n"
    "       trace-ingest --stats|--gc [options] [FOLDER...]\n";
constexpr const char* kDescription =
    "Converts profiler traces into SQLite indexes: JSON of PyTorch (Kineto), rocprofv3, Ascend's profilers and AI "
    "Engine\n"
    "tiles, plain or gzip or zstd; databases of Nsight Systems (nsys export --type sqlite), rocprofv3 and "
    "rocmProfileData\n"
    "(rocpd, rpd) and Ascend's profilers; Ascend's CSV tables of kernels.\n"
    "The index of x.json is x.json.tracedb next to it, or in the cache directory if that folder is not writable.\n"
    "A trace whose index is still valid is skipped. Folders are searched with their subfolders; '-' is standard "
    "input.\n"
    "Run it again to continue after an interruption.\n";
constexpr const char* kExamples =
    "Examples: trace-ingest run1/rank0.pt.trace.json.gz\n"
    "          trace-ingest --jobs 4 --summary dumps.jsonl /dumps\n"
    "          trace-ingest --gc --max-size 20G --older-than 30d --dry-run\n";

po::options_description visible_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("output,o", po::value<std::string>()->value_name("FILE"), "write the index to FILE (one trace only)");
  add("index-dir", po::value<std::string>()->value_name("DIR"), "write indexes into DIR");
  add("files-from", po::value<std::string>()->value_name("LIST"),
      "read more trace names from LIST, one per line, or separated by NUL ('-': standard input)");
  add("include", po::value<std::vector<std::string>>()->value_name("GLOB"),
      "which files to ingest from folders, may be repeated (default *.json *.json.gz *.json.zst kernel_details*.csv "
      "op_summary*.csv *profiler*.db msprof_*.db *_results.db *.sqlite *.rpd)");
  add("jobs,j", po::value<std::string>()->value_name("N"), "number of traces to ingest at once (default: cores)");
  add("keep-going", "continue with the other traces after a failure (default)");
  add("fail-fast", "start no other trace after a failure");
  add("timeout", po::value<std::string>()->value_name("SECONDS"), "give up on a trace after this time");
  add("summary", po::value<std::string>()->value_name("FILE"), "write one JSON line for each trace");
  add("force", "rebuild even if a valid index exists; replace files that are neither indexes nor traces");
  add("verify", "check valid indexes against the full hash of the trace, their structure and their sums");
  add("threads", po::value<std::string>()->value_name("N"), "parser threads per trace (default: cores, at most 3)");
  add("max-memory", po::value<std::string>()->value_name("SIZE"),
      "memory for sorting, of the whole run, e.g. 200M\n(default 64M); names and links come on top");
  add("no-stacks", "leave out Python calls");
  add("keep-args", "keep the arguments of every event that has a row, as JSON");
  add("no-sandbox", "read traces with all rights of this user, not only to their folders and those of the indexes");
  add("strict", "exit 4 if the trace had issues that lost data");
  add("progress", po::value<std::string>()->value_name("WHEN"), "auto, always or never (default auto)");
  add("quiet,q", "print errors only");
  add("verbose,v", "print the account of every trace");
  add("help,h", "this text");
  add("version,V", "print the version");
  return options;
}

po::options_description housekeeping_options() {
  po::options_description options("Housekeeping, in the given folders and their subfolders, or in the cache directory");
  auto add = options.add_options();
  add("stats", "count the indexes there: valid, stale, orphaned, foreign; leftovers of killed builds");
  add("gc",
      "remove leftovers, stale indexes next to their traces and, in a cache directory, indexes whose trace is gone; "
      "never anything that is not certainly an index");
  add("max-size", po::value<std::string>()->value_name("SIZE"),
      "also the oldest ones, until the rest takes at most SIZE");
  add("older-than", po::value<std::string>()->value_name("AGE"),
      "also indexes neither built nor confirmed by full hash within AGE, e.g. 30d or 12h");
  add("orphans", "also indexes that cannot be rebuilt because their trace is missing or replaced");
  add("dry-run", "print what --gc would remove, and remove nothing");
  return options;
}

tracedb::ProgressMode progress_mode(const std::string& text) {
  if (text == "always") return tracedb::ProgressMode::kAlways;
  if (text == "never") return tracedb::ProgressMode::kNever;
  if (text.empty() || text == "auto") return tracedb::ProgressMode::kAuto;
  throw tracedb::Error(tracedb::ErrorCode::kUsage, fmt::format("--progress is auto, always or never, not '{}'", text));
}

unsigned count_option(const po::variables_map& values, const char* name) {
  constexpr std::int64_t kMost = 1024;
  const auto count = tracedb::parse_whole(std::string("--") + name, values[name].as<std::string>(), 1, kMost);
  return static_cast<unsigned>(count);
}

// Which traces, and what is printed about them.
void parse_batch(const po::variables_map& values, tracedb::IngestCommand& command) {
  const auto strings = [&](const char* name) {
    return values.count(name) > 0 ? values[name].as<std::vector<std::string>>() : std::vector<std::string>();
  };
  const auto text = [&](const char* name) {
    return values.count(name) > 0 ? values[name].as<std::string>() : std::string();
  };
  for (const std::string& trace : strings("trace")) command.traces.emplace_back(trace);
  command.files_from = text("files-from");
  command.globs = strings("include");
  command.summary = text("summary");
  command.progress = progress_mode(text("progress"));
  if (values.count("timeout") > 0) command.ingest.timeout = tracedb::parse_seconds(text("timeout"));
  if (values.count("heartbeat") > 0) command.heartbeat = tracedb::parse_seconds(text("heartbeat"));
  if (values.count("jobs") > 0) command.ingest.jobs = count_option(values, "jobs");
  command.ingest.fail_fast = values.count("fail-fast") > 0;
  if (command.ingest.fail_fast && values.count("keep-going") > 0) {
    throw tracedb::Error(tracedb::ErrorCode::kUsage, "--keep-going and --fail-fast exclude each other");
  }
}

tracedb::IngestCommand parse(const po::variables_map& values) {
  tracedb::IngestCommand command;
  const auto text = [&](const char* name) {
    return values.count(name) > 0 ? values[name].as<std::string>() : std::string();
  };
  command.ingest.output = text("output");
  command.ingest.index_directory = text("index-dir");
  command.ingest.cancel = &tracedb::end_requested();
  parse_batch(values, command);
  command.verbose = values.count("verbose") > 0;
  command.ingest.force = values.count("force") > 0;
  command.ingest.full_check = values.count("verify") > 0;
  command.ingest.sandbox = values.count("no-sandbox") == 0;
  command.strict = values.count("strict") > 0;
  command.quiet = values.count("quiet") > 0;
  if (values.count("no-stacks") > 0) command.ingest.events.python_calls = tracedb::PythonCalls::kOmit;
  if (values.count("keep-args") > 0) command.ingest.events.arguments = tracedb::EventArguments::kKeep;
  if (values.count("threads") > 0) command.ingest.threads = count_option(values, "threads");
  if (values.count("max-memory") > 0) command.ingest.memory_bytes = tracedb::parse_size(text("max-memory"));
  if (values.count("chunk-size") > 0) command.ingest.chunk_size = tracedb::parse_size(text("chunk-size"));
  return command;
}

tracedb::HousekeepingCommand parse_housekeeping(const po::variables_map& values) {
  const auto has = [&](const char* name) { return values.count(name) > 0; };
  tracedb::HousekeepingCommand command;
  command.collect = has("gc");
  if (has("trace")) {
    for (const std::string& folder : values["trace"].as<std::vector<std::string>>())
      command.folders.emplace_back(folder);
  }
  if (has("summary")) command.summary = values["summary"].as<std::string>();
  if (has("max-size")) command.options.most_bytes = tracedb::parse_size(values["max-size"].as<std::string>());
  if (has("older-than")) command.options.older_than_ns = tracedb::parse_age(values["older-than"].as<std::string>());
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  command.options.now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  command.options.orphans = has("orphans");
  command.dry_run = has("dry-run");
  command.quiet = has("quiet");
  command.verbose = has("verbose");
  return command;
}

// An option that would be passed over silently may be a misunderstanding with a loss.
void require_consistent(const po::variables_map& values) {
  const bool collect = values.count("gc") > 0;
  if (collect && values.count("stats") > 0) {
    throw tracedb::Error(tracedb::ErrorCode::kUsage, "--stats and --gc exclude each other");
  }
  for (const char* name : {"max-size", "older-than", "orphans", "dry-run"}) {
    if (!collect && values.count(name) > 0) {
      throw tracedb::Error(tracedb::ErrorCode::kUsage, fmt::format("--{} goes with --gc only", name));
    }
  }
  if (!collect && values.count("stats") == 0) return;
  for (const char* name : {"output", "index-dir", "files-from", "include", "force", "verify"}) {
    if (values.count(name) > 0) {
      throw tracedb::Error(tracedb::ErrorCode::kUsage, fmt::format("--{} does not go with --stats and --gc", name));
    }
  }
}

std::string manual() {
  tracedb::ManualPage page("trace-ingest", "1", "converts profiler traces into SQLite indexes");
  page.heading("Synopsis");
  page.lines("trace-ingest [options] TRACE|FOLDER...\ntrace-ingest --stats|--gc [options] [FOLDER...]");
  page.heading("Description");
  page.paragraph(kDescription);
  page.options("Options", visible_options());
  page.options("Housekeeping", housekeeping_options());
  page.exit_status();
  page.heading("Examples");
  page.lines(kExamples);
  page.see_also({"trace-query(1)", "tracedb(5)"});
  return page.text();
}

tracedb::Candidates complete(std::span<const std::string> words, const po::options_description& options) {
  const auto values = [](const po::option_description& option) {
    const std::string value = option.format_parameter();
    if (value == "WHEN") return tracedb::one_of("auto,always,never");
    return tracedb::Candidates{{}, value == "FILE" || value == "DIR" || value == "LIST"};
  };
  return tracedb::complete(words, options, values, {{}, true});
}

int run(int argc, char** argv) {
  po::options_description visible = visible_options();
  visible.add(housekeeping_options());
  po::options_description hidden;
  hidden.add_options()("chunk-size", po::value<std::string>(), "")  // for tests: the index must not depend on it
      ("heartbeat", po::value<std::string>(), "");                  // for tests: seconds between lines of progress
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words == std::vector<std::string>{std::string(tracedb::kManualOption)}) {
    std::cout << manual();
    return 0;
  }
  if (!words.empty() && words.front() == tracedb::kCompleteOption) {
    std::cout << tracedb::to_lines(complete(std::span(words).subspan(1), visible));
    return 0;
  }
  const po::variables_map values = tracedb::parse_options(words, visible, hidden, "trace");
  if (values.count("help") > 0) {
    std::cout << kUsage << kDescription << '\n' << kExamples << '\n' << visible;
    return 0;
  }
  if (values.count("version") > 0) {
    std::cout << "trace-ingest " << tracedb::kVersion << '\n';
    return 0;
  }
  require_consistent(values);
  const tracedb::OutputOption outputs[] = {{"output", tracedb::OutputContent::kIndex}, {"summary"}};
  tracedb::require_safe_outputs(values, outputs, "trace");
  if (values.count("stats") > 0 || values.count("gc") > 0) return tracedb::run_housekeeping(parse_housekeeping(values));
  if (values.count("trace") == 0 && values.count("files-from") == 0) {
    std::cerr << "trace-ingest: no trace given; see trace-ingest --help\n";
    return static_cast<int>(tracedb::ErrorCode::kUsage);
  }
  return tracedb::run_ingest(parse(values));
}

// What went wrong becomes one line and an exit code.
int run_and_explain(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const tracedb::Error& error) {
    std::cerr << "trace-ingest: " << tracedb::escape_text(error.what()) << '\n';
    if (error.code() == tracedb::ErrorCode::kInterrupted) return tracedb::signal_exit_code();
    return static_cast<int>(error.code());
  } catch (const po::error& error) {
    std::cerr << "trace-ingest: " << tracedb::escape_text(error.what()) << "; see trace-ingest --help\n";
    return static_cast<int>(tracedb::ErrorCode::kUsage);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    std::cerr << "trace-ingest: " << tracedb::escape_text(error.what()) << '\n';
    return static_cast<int>(tracedb::ErrorCode::kResource);
  }
}

}  // namespace

int main(int argc, char** argv) {
  tracedb::install_out_of_memory_handler("out of memory; lower --max-memory or --jobs");
  tracedb::catch_ending_signals();
  std::signal(SIGPIPE, SIG_IGN);  // a closed standard error is no reason to stop
  try {
    return run_and_explain(argc, argv);
  } catch (...) {  // memory, also that for the explanation
    std::cerr << "trace-ingest: out of memory; lower --max-memory or --jobs\n";
    return static_cast<int>(tracedb::ErrorCode::kResource);
  }
}
