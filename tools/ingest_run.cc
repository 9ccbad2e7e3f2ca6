#include "ingest_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <system_error>

#include "base/content_hash.h"
#include "base/decimal.h"
#include "base/error.h"
#include "index/index.h"
#include "index/locate.h"
#include "index/validity.h"
#include "report/escape.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

std::string human_bytes(std::uint64_t bytes) {
  constexpr double kMega = 1e6;
  return bytes < 10'000 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} MB", static_cast<double>(bytes) / kMega);
}

// Where the index of `trace` goes. A directory that cannot be written sends it to the cache.
fs::path index_path(const IngestCommand& command, const fs::path& trace) {
  if (!command.output.empty()) return command.output;
  fs::path directory = command.index_directory;
  if (directory.empty()) {
    const fs::path beside = trace.has_parent_path() ? trace.parent_path() : fs::path(".");
    if (trace != "-" && ::access(beside.c_str(), W_OK) == 0) return sidecar_path(trace);
    directory = cache_directory();
  }
  if (trace == "-") throw Error(ErrorCode::kUsage, "standard input has no name: give the index one with --output");
  std::error_code failed;
  if (!directory.empty()) fs::create_directories(directory, failed);
  if (directory.empty() || failed) {
    throw Error(ErrorCode::kResource,
                fmt::format("{}: no place for its index: the directory cannot be written and there is no cache "
                            "directory; use --output or --index-dir",
                            trace.string()));
  }
  return cache_path(directory, hash_file(trace), trace);
}

bool has_valid_index(const IngestCommand& command, const fs::path& trace, const fs::path& index) {
  if (command.force || trace == "-" || file_kind(index) != FileKind::kIndex) return false;
  const Index existing = Index::open(index);
  const Effort effort = command.verify ? Effort::kFullHash : Effort::kQuick;
  return check_validity(existing, trace, effort).validity == Validity::kValid;
}

// One line a second on a terminal; nothing elsewhere for the short time a single trace takes.
class Progress {
 public:
  explicit Progress(bool quiet) : shown_(!quiet && ::isatty(STDERR_FILENO) != 0) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void operator()(const IngestProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    std::string line = fmt::format("{}  {:.0f} MB/s  {} events", human_bytes(progress.file_bytes),
                                   static_cast<double>(progress.file_bytes) / 1e6 / seconds, progress.events);
    if (progress.linking) line = "linking kernels, calls and stacks";
    if (!progress.linking && progress.total_bytes > progress.file_bytes && progress.file_bytes > 0) {
      const double left = static_cast<double>(progress.total_bytes - progress.file_bytes);
      line += fmt::format("  {} %  {:.0f} s left", 100 * progress.file_bytes / progress.total_bytes,
                          left / static_cast<double>(progress.file_bytes) * seconds);
    }
    std::cerr << "\r\x1b[K" << line << std::flush;
    drawn_ = true;
  }

  void clear() {
    if (drawn_) std::cerr << "\r\x1b[K" << std::flush;
    drawn_ = false;
  }

 private:
  bool shown_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_ = start_;
};

void report(const fs::path& trace, const IngestResult& result, double seconds) {
  const std::uint64_t accounted = result.matched_flows + result.metadata_events;
  fmt::print(stderr, "{}: {} events = {} rows + {} flow ends matched + {} metadata + {} skipped\n",
             escape_text(trace.string()), result.events_read, result.events_stored, result.matched_flows,
             result.metadata_events, result.events_skipped - accounted);
  fmt::print(stderr, "{}: {} in {:.2f} s ({:.0f} MB/s){}\n", escape_text(result.index.string()),
             human_bytes(result.index_bytes), seconds, static_cast<double>(result.trace_bytes) / 1e6 / seconds,
             result.complete ? "" : "; the end of the trace is missing");
  for (const Issue& issue : result.issues.issues()) {
    const IssueDescription& description = describe(issue.kind);
    if (description.severity == Severity::kInfo) continue;
    const std::string place = issue.offset < 0 ? "" : fmt::format(", first at byte {}", issue.offset);
    fmt::print(stderr, "  {}: {} x {}{}\n", to_string(description.severity), issue.count, description.meaning, place);
  }
}

bool lost_data(const IngestResult& result) {
  const auto& issues = result.issues.issues();
  return std::any_of(issues.begin(), issues.end(),
                     [](const Issue& issue) { return describe(issue.kind).severity == Severity::kDataLoss; });
}

int ingest_one(const IngestCommand& command, const fs::path& trace) {
  const fs::path index = index_path(command, trace);
  if (has_valid_index(command, trace, index)) {
    if (!command.quiet) std::cerr << escape_text(index.string()) << ": valid, nothing to do\n";
    return 0;
  }
  IngestOptions options = command.options;
  Progress progress(command.quiet);
  options.progress = [&progress](const IngestProgress& now) { progress(now); };
  const auto start = std::chrono::steady_clock::now();
  const IngestResult result = ingest_trace(trace, index, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  progress.clear();
  if (!command.quiet) report(trace, result, seconds);
  return command.strict && lost_data(result) ? static_cast<int>(ErrorCode::kSalvaged) : 0;
}

}  // namespace

int run_ingest(const IngestCommand& command) {
  int first_failure = 0;
  for (const fs::path& trace : command.traces) {
    const int code = ingest_one(command, trace);
    if (first_failure == 0) first_failure = code;
  }
  return first_failure;
}

std::size_t parse_size(const std::string& text) {
  constexpr std::string_view kUnits = "KMGT";
  std::string_view digits = text;
  double factor = 1;
  const std::size_t unit = digits.empty() ? std::string_view::npos : kUnits.find(digits.back());
  if (unit != std::string_view::npos) {
    factor = std::pow(1024.0, static_cast<double>(unit + 1));
    digits.remove_suffix(1);
  }
  const auto value = parse_double(digits);
  if (!value || *value <= 0 || *value * factor > 1e15) {
    throw Error(ErrorCode::kUsage, fmt::format("'{}' is no size; write e.g. 64K, 200M or 2G", text));
  }
  return static_cast<std::size_t>(*value * factor);
}

}  // namespace tracedb
