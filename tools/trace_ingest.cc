// trace-ingest: converts traces into SQLite indexes, once each.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/version.h"
#include "ingest_run.h"
#include "process_signals.h"
#include "report/escape.h"

namespace po = boost::program_options;

namespace {

constexpr const char* kUsage =
    "Usage: trace-ingest [options] TRACE|FOLDER...\n"
    "Converts profiler traces (PyTorch/Kineto JSON, plain or gzip or zstd) into SQLite indexes.\n"
    "The index of x.json is x.json.tracedb beside it, or in the cache directory where that cannot be written.\n"
    "A trace whose index is still valid is left alone. Folders are searched with all below them; '-' is standard "
    "input.\n"
    "A run that was cut short is continued by running it again.\n\n"
    "Examples: trace-ingest run1/rank0.pt.trace.json.gz\n"
    "          trace-ingest --jobs 4 --summary dumps.jsonl /dumps\n\n";

po::options_description visible_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("output,o", po::value<std::string>()->value_name("FILE"), "write the index to FILE (one trace only)");
  add("index-dir", po::value<std::string>()->value_name("DIR"), "write indexes into DIR");
  add("files-from", po::value<std::string>()->value_name("LIST"),
      "more traces from LIST, one a line, or ended by NUL if there is one ('-': standard input)");
  add("include", po::value<std::vector<std::string>>()->value_name("GLOB"),
      "files to take in folders, may be repeated (default *.json *.json.gz *.json.zst)");
  add("jobs,j", po::value<unsigned>()->value_name("N"), "traces at once (default: cores)");
  add("keep-going", "go on with the other traces after a failure (default)");
  add("fail-fast", "begin no other trace after a failure");
  add("summary", po::value<std::string>()->value_name("FILE"), "write one JSON line for each trace");
  add("force", "rebuild even if a valid index exists; replace files that are no indexes");
  add("verify", "check valid indexes against the full hash of the trace, their structure and their sums");
  add("threads", po::value<unsigned>()->value_name("N"), "parse workers a trace (default: cores, at most 3)");
  add("max-memory", po::value<std::string>()->value_name("SIZE"),
      "memory for sorting of the whole run, e.g. 200M (default 64M)");
  add("no-stacks", "leave python calls out");
  add("keep-args", "keep the arguments of every event that has a row, as JSON");
  add("strict", "exit 4 if the trace had issues that lost data");
  add("progress", po::value<std::string>()->value_name("WHEN"), "auto, always or never (default auto)");
  add("quiet,q", "print errors only");
  add("verbose,v", "print the account of every trace");
  add("help,h", "this text");
  add("version", "print the version");
  return options;
}

tracedb::ProgressMode progress_mode(const std::string& text) {
  if (text == "always") return tracedb::ProgressMode::kAlways;
  if (text == "never") return tracedb::ProgressMode::kNever;
  if (text.empty() || text == "auto") return tracedb::ProgressMode::kAuto;
  throw tracedb::Error(tracedb::ErrorCode::kUsage, fmt::format("--progress is auto, always or never, not '{}'", text));
}

// Which traces, and what is said about them.
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
  if (values.count("jobs") > 0) command.jobs = values["jobs"].as<unsigned>();
  command.fail_fast = values.count("fail-fast") > 0;
  if (command.fail_fast && values.count("keep-going") > 0) {
    throw tracedb::Error(tracedb::ErrorCode::kUsage, "--keep-going and --fail-fast exclude each other");
  }
}

tracedb::IngestCommand parse(const po::variables_map& values) {
  tracedb::IngestCommand command;
  const auto text = [&](const char* name) {
    return values.count(name) > 0 ? values[name].as<std::string>() : std::string();
  };
  command.output = text("output");
  command.index_directory = text("index-dir");
  parse_batch(values, command);
  command.verbose = values.count("verbose") > 0;
  command.force = values.count("force") > 0;
  command.verify = values.count("verify") > 0;
  command.strict = values.count("strict") > 0;
  command.quiet = values.count("quiet") > 0;
  if (values.count("no-stacks") > 0) command.options.events.stacks = tracedb::Keep::kNo;
  if (values.count("keep-args") > 0) command.options.events.args = tracedb::Keep::kYes;
  if (values.count("threads") > 0) command.options.threads = values["threads"].as<unsigned>();
  if (values.count("max-memory") > 0) command.options.memory_bytes = tracedb::parse_size(text("max-memory"));
  if (values.count("chunk-size") > 0) command.options.chunk_size = tracedb::parse_size(text("chunk-size"));
  return command;
}

int run(int argc, char** argv) {
  const po::options_description visible = visible_options();
  po::options_description all;
  all.add(visible);
  auto hidden = all.add_options();
  hidden("chunk-size", po::value<std::string>(), "");  // for tests: the index must not depend on it
  hidden("trace", po::value<std::vector<std::string>>(), "");
  po::positional_options_description positional;
  positional.add("trace", -1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(all).positional(positional).run(), values);
  if (values.count("help") > 0) {
    std::cout << kUsage << visible;
    return 0;
  }
  if (values.count("version") > 0) {
    std::cout << "trace-ingest " << tracedb::kVersion << '\n';
    return 0;
  }
  if (values.count("trace") == 0 && values.count("files-from") == 0) {
    std::cerr << "trace-ingest: no trace given; see trace-ingest --help\n";
    return static_cast<int>(tracedb::ErrorCode::kUsage);
  }
  return tracedb::run_ingest(parse(values));
}

}  // namespace

int main(int argc, char** argv) {
  tracedb::catch_ending_signals();
  std::signal(SIGPIPE, SIG_IGN);  // a closed standard error is no reason to stop
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
    std::cerr << "trace-ingest: out of memory\n";
    return static_cast<int>(tracedb::ErrorCode::kResource);
  } catch (const std::exception& error) {
    std::cerr << "trace-ingest: " << tracedb::escape_text(error.what()) << '\n';
    return static_cast<int>(tracedb::ErrorCode::kResource);
  }
}
