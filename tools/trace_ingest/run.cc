#include "trace_ingest/run.h"

#include <fmt/format.h>

#include <iostream>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/files/sandbox.h"
#include "base/files/small_file.h"
#include "base/text/amounts.h"
#include "ingest/batch.h"
#include "ingest/trace_list.h"
#include "report/escape.h"
#include "shared/option_parsing.h"
#include "shared/process_signals.h"
#include "trace_ingest/summary.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

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
  const std::uint64_t accounted = result.matched_flows + result.metadata_events;
  print_note("{}: {} = {} + {} matched + {} metadata + {} skipped\n", escape_path(record.trace),
             counted(result.events_read, "event"), counted(result.events_stored, "row"),
             counted(result.matched_flows, "flow end"), result.metadata_events, result.events_skipped - accounted);
  print_note("{}: {} in {:.2f} s ({:.0f} MB/s){}\n", escape_path(record.index), human_bytes(result.index_bytes),
             record.seconds, static_cast<double>(result.trace_bytes) / 1e6 / record.seconds,
             result.complete ? "" : "; the end of the trace is missing");
  print_issues(result.issues);
}

enum class Verbosity { kErrors, kNormal, kAll };

class Reporter : public BatchObserver {
 public:
  Reporter(const IngestCommand& command, const ProgressOptions& progress)
      : verbosity_(command.quiet     ? Verbosity::kErrors
                   : command.verbose ? Verbosity::kAll
                                     : Verbosity::kNormal),
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
      if (verbosity_ != Verbosity::kErrors)
        print_note("{}: another process is building it; waiting\n", escape_path(index));
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
    if (alone_ || verbosity_ == Verbosity::kErrors) return;
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
    if (verbosity_ == Verbosity::kErrors) return;
    if (!record.without_device.empty())
      print_note("{}: {}\n", escape_path(record.trace), escape_text(record.without_device));
    if (record.result && !record.result->unconfined.empty() && !std::exchange(unconfined_, true))
      print_note("warning: read with more rights than it takes: {}\n", record.result->unconfined);
    const bool all = alone_ || verbosity_ == Verbosity::kAll;
    if (record.same_run && verbosity_ != Verbosity::kAll) return;  // the line of the choice has told it
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

  Verbosity verbosity_;
  bool alone_;
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
  if (!command.ingest.output.empty() && list.traces.size() != 1) {
    throw Error(ErrorCode::kUsage, "--output takes exactly one trace");
  }
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

}  // namespace

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

}  // namespace tracedb
