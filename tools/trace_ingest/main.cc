// trace-ingest: converts traces into SQLite indexes, once each.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/files/sandbox.h"
#include "base/files/small_file.h"
#include "base/parallel.h"
#include "base/text/amounts.h"
#include "base/version.h"
#include "fleet/catalogue.h"
#include "ingest/batch.h"
#include "ingest/ingest.h"
#include "ingest/trace_list.h"
#include "report/escape.h"
#include "shared/help_text.h"
#include "shared/option_parsing.h"
#include "shared/terminal.h"
#include "shared/usage_error.h"
#include "trace_ingest/housekeeping.h"

namespace tracedb {
namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;

struct IngestCommand {
  std::vector<std::filesystem::path> traces;  // and folders
  std::filesystem::path files_from;           // a list of more of them; "-": standard input
  std::vector<std::string> globs;             // of files in folders; empty: the default ones
  std::filesystem::path summary;              // empty: none
  ProgressMode progress = ProgressMode::kAuto;
  std::chrono::nanoseconds heartbeat = ProgressOptions().heartbeat;
  bool strict = false;
  bool quiet = false;
  bool verbose = false;
  IngestOptions ingest;
};

// Nobody may be listening any more: that is no reason to fail.
template <class... Values>
void print_note(fmt::format_string<Values...> format, Values&&... values) {
  std::cerr << fmt::format(format, std::forward<Values>(values)...) << std::flush;
}

void print_issues(const IssueLog& issues) {
  for (const Issue& issue : issues.issues()) {
    const IssueDescription& description = describe(issue.kind);
    if (description.severity == Severity::kInfo || says_what_to_record(issue.kind)) continue;
    const std::string place = issue.offset < 0 ? "" : fmt::format(", first at byte {}", issue.offset);
    print_note("  {}: {}{}\n", to_string(description.severity), issue_sentence(issue.kind, issue.count).text, place);
  }
}

void print_result(const TraceRecord& record) {
  const IngestResult& result = *record.result;
  print_note("{}: {} = {} + {} used in others + {} skipped\n", escape_path(record.trace),
             counted(result.events_read, "event"), counted(result.events_stored, "row"), result.events_used,
             result.events_skipped - result.events_used);
  print_note("{}: {} in {:.2f} s ({:.0f} MB/s){}\n", escape_path(record.index), human_bytes(result.index_bytes),
             record.seconds, static_cast<double>(result.trace_bytes) / 1e6 / record.seconds,
             result.complete ? "" : "; the end of the trace is missing");
  print_issues(result.issues);
}

class Reporter : public BatchObserver {
 public:
  Reporter(const IngestCommand& command, const ProgressOptions& progress)
      : quiet_(command.quiet),
        verbose_(command.verbose),
        alone_(progress.traces == 1),
        line_(progress),
        strictness_(command.strict ? Strictness::kStrict : Strictness::kLenient),
        summary_(command.summary) {
    if (line_.is_shown()) ticker_.emplace(line_.interval(), [this] { locked([&] { line_.show(); }); });
  }

  void started(const fs::path& trace) override {
    locked([&] { line_.started(trace); });
  }

  void progress(const fs::path& trace, const IngestProgress& progress) override {
    locked([&] { line_.update(trace, progress); });
  }

  void waiting(const fs::path& index) override {
    locked([&] {
      line_.clear();
      if (!quiet_) print_note("{}: another process is building it; waiting\n", escape_path(index));
    });
  }

  void finished(const TraceRecord& record) override {
    locked([&] {
      line_.clear();
      if (!record.same_run) line_.finished(record.trace, record.bytes);
      same_run_ += record.same_run ? 1 : 0;
      summary_.add(summary_line(record, strictness_));
      print(record);
    });
  }

  void end(const BatchResult& result) {
    ticker_.reset();
    line_.clear();
    summary_.close();
    if (result.interrupted) print_note("trace-ingest: interrupted; run it again to continue\n");
    if (alone_ || quiet_) return;
    print_note("{} built, {} valid, {} salvaged, {} failed, {} skipped{} in {:.1f} s\n",
               result.count(TraceStatus::kBuilt), result.count(TraceStatus::kValid),
               result.count(TraceStatus::kSalvaged), result.count(TraceStatus::kFailed),
               result.count(TraceStatus::kSkipped),
               same_run_ > 0 ? fmt::format(" ({} of the same run)", same_run_) : "", result.seconds);
  }

 private:
  // The ticker has a thread of its own.
  template <class Work>
  void locked(Work work) {
    const std::lock_guard lock(mutex_);
    work();
  }

  void print(const TraceRecord& record) {
    if (record.status == TraceStatus::kFailed) {
      const bool named = record.error.find(printable_path(record.trace)) != std::string::npos;
      print_note("trace-ingest: {}{}\n", named ? "" : escape_path(record.trace) + ": ", escape_text(record.error));
    }
    if (quiet_) return;
    if (!record.without_device.empty())
      print_note("{}: {}\n", escape_path(record.trace), escape_text(record.without_device));
    if (record.result && !record.result->unconfined.empty() && !std::exchange(unconfined_, true))
      print_note("warning: read with more rights than it takes: {}\n", record.result->unconfined);
    const bool all = alone_ || verbose_;
    if (record.same_run && !verbose_) return;  // the line of the choice has told it
    if (record.status == TraceStatus::kSkipped && record.error != "interrupted") {
      print_note("{}: skipped: {}\n", escape_path(record.trace), escape_text(record.error));
    } else if (record.status == TraceStatus::kValid && all) {
      print_note("{}: valid, nothing to do\n", escape_path(record.index));
    } else if (record.result && all) {
      print_result(record);
    } else if (record.status == TraceStatus::kSalvaged) {
      print_note("{}: salvaged, {}; see trace-query issues\n", escape_path(record.trace),
                 counted(record.issues, "issue"));
    }
  }

  bool quiet_, verbose_, alone_;
  ProgressLine line_;
  Strictness strictness_;
  SummaryFile summary_;
  std::size_t same_run_ = 0;  // files
  bool unconfined_ = false;   // was told
  std::mutex mutex_;
  std::optional<Ticker> ticker_;
};

TraceList find_traces(const IngestCommand& command) {
  std::vector<fs::path> given = command.traces;
  if (!command.files_from.empty()) {
    const std::vector<fs::path> listed = parse_path_list(read_small_file_or_input(command.files_from));
    given.insert(given.end(), listed.begin(), listed.end());
  }
  const std::vector<std::string>& globs = command.globs.empty() ? default_globs() : command.globs;
  TraceList list = list_traces(given, globs, command.summary);
  if (command.globs.empty()) keep_one_source_a_run(list, given);
  if (list.traces.empty() && list.unreadable.empty() && list.skipped.empty()) {
    throw Error(ErrorCode::kInput, fmt::format("{}: no traces there (looked for {})",
                                               list.empty.empty() ? printable_path(command.files_from)
                                                                  : printable_path(list.empty.front()),
                                               fmt::join(globs, " ")));
  }
  if (!command.ingest.output.empty() && list.traces.size() != 1) throw usage_error("--output takes exactly one trace");
  if (!command.quiet) {
    for (const fs::path& folder : list.empty) print_note("{}: no traces there\n", escape_path(folder));
    for (const std::string& choice : list.choices) print_note("{}\n", choice);
  }
  return list;
}

// 0 if that of any is not known: how long it will take is then not known either.
std::uint64_t total_bytes(const TraceList& list) {
  std::uint64_t bytes = 0;
  for (const fs::path& trace : list.traces) {
    std::error_code error;
    if (!fs::is_regular_file(trace, error)) return 0;
    const std::uintmax_t size = fs::file_size(trace, error);
    if (!error) bytes += size;
  }
  return bytes;
}

// Exit code: 0; of a single trace that failed, its own; 3 if some of several failed; 4 if --strict and data was lost;
// 128 + the signal if one ended the run.
int run_ingest(const IngestCommand& command) {
  if (command.ingest.sandbox) restrict_calls();
  const TraceList list = find_traces(command);
  const std::size_t all = list.traces.size() + list.unreadable.size() + list.skipped.size();
  ProgressOptions progress{command.quiet ? ProgressMode::kNever : command.progress, command.heartbeat, all};
  progress.total_bytes = total_bytes(list);
  Reporter reporter(command, progress);
  const BatchResult result = run_batch(list, command.ingest, reporter);
  reporter.end(result);
  if (result.interrupted) return signal_exit_code();
  if (result.first_failure) return static_cast<int>(all == 1 ? *result.first_failure : ErrorCode::kInput);
  return command.strict && result.lossy ? static_cast<int>(ErrorCode::kSalvaged) : 0;
}

constexpr const char* kUsage =
    "Usage: trace-ingest [options] TRACE|FOLDER...\n"
    "       trace-ingest --stats|--gc [options] [FOLDER...]\n"
    "       trace-ingest --upgrade INDEX|FOLDER...\n";
constexpr const char* kDescription =
    "Converts profiler traces into SQLite indexes: JSON of PyTorch (Kineto), rocprofv3, Ascend's profilers and AI "
    "Engine\n"
    "tiles, plain or gzip or zstd; databases of Nsight Systems (nsys export --type sqlite), rocprofv3 and "
    "rocmProfileData\n"
    "(rocpd, rpd) and Ascend's profilers; Ascend's CSV tables of kernels; profiles of JAX and XLA (*.xplane.pb or the\n"
    "JSON beside it); of other programs' Chrome JSON the events alone.\n"
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
      fmt::format("which files to ingest from folders, may be repeated (default {})", fmt::join(default_globs(), " "))
          .c_str());
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
  add("upgrade",
      "bring indexes of schema versions 5 and 6 to this one, without their traces; what they lack stays unknown");
  return options;
}

ProgressMode progress_mode(const std::string& text) {
  if (text == "always") return ProgressMode::kAlways;
  if (text == "never") return ProgressMode::kNever;
  if (text.empty() || text == "auto") return ProgressMode::kAuto;
  throw usage_error("--progress is auto, always or never, not '{}'", text);
}

bool has(const po::variables_map& values, const char* name) { return values.count(name) > 0; }

// Empty: the option is not given.
std::string text(const po::variables_map& values, const char* name) {
  return has(values, name) ? values[name].as<std::string>() : std::string();
}
std::vector<std::string> texts(const po::variables_map& values, const char* name) {
  return has(values, name) ? values[name].as<std::vector<std::string>>() : std::vector<std::string>();
}

unsigned count_option(const po::variables_map& values, const char* name) {
  constexpr std::int64_t kMost = 1024;
  return static_cast<unsigned>(parse_whole(std::string("--") + name, text(values, name), 1, kMost));
}

IngestCommand parse(const po::variables_map& values) {
  IngestCommand command;
  command.ingest.output = text(values, "output");
  command.ingest.index_directory = text(values, "index-dir");
  command.ingest.cancel = &end_requested();
  command.ingest.summary = stored_summary;
  for (const std::string& trace : texts(values, "trace")) command.traces.emplace_back(trace);
  command.files_from = text(values, "files-from");
  command.globs = texts(values, "include");
  command.summary = text(values, "summary");
  command.progress = progress_mode(text(values, "progress"));
  if (has(values, "timeout")) command.ingest.timeout = parse_seconds(text(values, "timeout"));
  if (has(values, "heartbeat")) command.heartbeat = parse_seconds(text(values, "heartbeat"));
  if (has(values, "jobs")) command.ingest.jobs = count_option(values, "jobs");
  command.ingest.fail_fast = has(values, "fail-fast");
  if (command.ingest.fail_fast && has(values, "keep-going")) {
    throw usage_error("--keep-going and --fail-fast exclude each other");
  }
  command.verbose = has(values, "verbose");
  command.ingest.force = has(values, "force");
  command.ingest.full_check = has(values, "verify");
  command.ingest.sandbox = !has(values, "no-sandbox");
  command.strict = has(values, "strict");
  command.quiet = has(values, "quiet");
  if (has(values, "no-stacks")) command.ingest.events.python_calls = PythonCalls::kOmit;
  if (has(values, "keep-args")) command.ingest.events.arguments = EventArguments::kKeep;
  if (has(values, "threads")) command.ingest.threads = count_option(values, "threads");
  if (has(values, "max-memory")) command.ingest.memory_bytes = parse_size(text(values, "max-memory"));
  if (has(values, "chunk-size")) command.ingest.chunk_size = parse_size(text(values, "chunk-size"));
  return command;
}

HousekeepingCommand parse_housekeeping(const po::variables_map& values) {
  HousekeepingCommand command;
  command.collect = has(values, "gc");
  for (const std::string& folder : texts(values, "trace")) command.folders.emplace_back(folder);
  command.summary = text(values, "summary");
  if (has(values, "max-size")) command.options.most_bytes = parse_size(text(values, "max-size"));
  if (has(values, "older-than")) command.options.older_than_ns = parse_age(text(values, "older-than"));
  command.options.now_ns = now_ns();
  command.options.orphans = has(values, "orphans");
  command.dry_run = has(values, "dry-run");
  command.quiet = has(values, "quiet");
  command.verbose = has(values, "verbose");
  return command;
}

// An option that would be passed over silently may be a misunderstanding with a loss.
void require_consistent(const po::variables_map& values) {
  const bool collect = has(values, "gc");
  if (has(values, "gc") + has(values, "stats") + has(values, "upgrade") > 1) {
    throw usage_error("--stats, --gc and --upgrade exclude each other");
  }
  for (const char* name : {"max-size", "older-than", "orphans", "dry-run"}) {
    if (!collect && has(values, name)) throw usage_error("--{} goes with --gc only", name);
  }
  if (!collect && !has(values, "stats") && !has(values, "upgrade")) return;
  for (const char* name : {"output", "index-dir", "files-from", "include", "force", "verify"}) {
    if (has(values, name)) throw usage_error("--{} does not go with --stats, --gc and --upgrade", name);
  }
}

std::string manual() {
  ManualPage page("trace-ingest", "1", "converts profiler traces into SQLite indexes");
  page.heading("Synopsis");
  page.lines(
      "trace-ingest [options] TRACE|FOLDER...\n"
      "trace-ingest --stats|--gc [options] [FOLDER...]\n"
      "trace-ingest --upgrade INDEX|FOLDER...");
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

Candidates complete_words(std::span<const std::string> words, const po::options_description& options) {
  const auto values = [](const po::option_description& option) {
    const std::string value = option.format_parameter();
    if (value == "WHEN") return one_of("auto,always,never");
    return Candidates{{}, value == "FILE" || value == "DIR" || value == "LIST"};
  };
  return complete(words, options, values, {{}, true});
}

int run(int argc, char** argv) {
  po::options_description visible = visible_options();
  visible.add(housekeeping_options());
  po::options_description hidden;
  hidden.add_options()("chunk-size", po::value<std::string>(), "")  // for tests: the index must not depend on it
      ("heartbeat", po::value<std::string>(), "");                  // for tests: seconds between lines of progress
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words == std::vector<std::string>{std::string(kManualOption)}) {
    std::cout << manual();
    return 0;
  }
  if (!words.empty() && words.front() == kCompleteOption) {
    std::cout << to_lines(complete_words(std::span(words).subspan(1), visible));
    return 0;
  }
  const po::variables_map values = parse_options(words, visible, hidden, "trace");
  if (has(values, "help")) {
    std::cout << kUsage << kDescription << '\n' << kExamples << '\n' << visible;
    return 0;
  }
  if (has(values, "version")) {
    std::cout << "trace-ingest " << kVersion << '\n';
    return 0;
  }
  require_consistent(values);
  const OutputOption outputs[] = {{"output", OutputContent::kIndex}, {"summary"}};
  require_safe_outputs(values, outputs, "trace");
  if (has(values, "stats") || has(values, "gc")) return run_housekeeping(parse_housekeeping(values));
  if (has(values, "upgrade")) return run_upgrade(texts(values, "trace"), has(values, "quiet"));
  if (!has(values, "trace") && !has(values, "files-from")) {
    std::cerr << "trace-ingest: no trace given; see trace-ingest --help\n";
    return static_cast<int>(ErrorCode::kUsage);
  }
  return run_ingest(parse(values));
}

// What went wrong becomes one line and an exit code.
int run_and_explain(int argc, char** argv) {
  try {
    const int code = run(argc, argv);
    finish_standard_output();
    return code;
  } catch (const Error& error) {
    std::cerr << "trace-ingest: " << escape_text(error.what()) << '\n';
    if (error.code() == ErrorCode::kInterrupted) return signal_exit_code();
    return static_cast<int>(error.code());
  } catch (const po::error& error) {
    std::cerr << "trace-ingest: " << escape_text(error.what()) << "; see trace-ingest --help\n";
    return static_cast<int>(ErrorCode::kUsage);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    std::cerr << "trace-ingest: " << escape_text(error.what()) << '\n';
    return static_cast<int>(ErrorCode::kResource);
  }
}

}  // namespace
}  // namespace tracedb

int main(int argc, char** argv) {
  tracedb::install_out_of_memory_handler("out of memory; lower --max-memory or --jobs");
  tracedb::catch_ending_signals();
  std::signal(SIGPIPE, SIG_IGN);  // a closed standard error is no reason to stop
  try {
    return tracedb::run_and_explain(argc, argv);
  } catch (...) {  // memory, also that for the explanation
    std::cerr << "trace-ingest: out of memory; lower --max-memory or --jobs\n";
    return static_cast<int>(tracedb::ErrorCode::kResource);
  }
}
