#include "trace_query/open.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/scope_exit.h"
#include "index/locate.h"
#include "index/validity.h"
#include "index/without_device.h"
#include "ingest/ensure_index.h"
#include "ingest/formats.h"
#include "ingest/trace_list.h"
#include "report/escape.h"
#include "shared/process_signals.h"
#include "shared/progress.h"
#include "trace_query/limits.h"

namespace tracedb {
namespace {

OpenedTrace with_notes(Index index) {
  OpenedTrace opened{std::move(index), {}};
  RunLimits::of_process().watch(opened.index.database());
  if (!opened.index.complete())
    opened.notes.emplace_back("the trace is truncated: this is what came before the damage");
  if (std::string without = without_device(opened.index); !without.empty())
    opened.notes.insert(opened.notes.begin(), std::move(without));
  return opened;
}

OpenedTrace open_index(const std::filesystem::path& path) {
  OpenedTrace opened = with_notes(Index::open(path));
  const std::filesystem::path source = source_of(opened.index);
  const ValidityResult result =
      check_validity(opened.index, source, Effort::kQuick, RunLimits::of_process().time_is_up());
  if (result.validity == Validity::kStale) {
    throw Error(ErrorCode::kInput,
                fmt::format("{}: out of date: {}; run trace-ingest {}", path.string(), result.reason, source.string()));
  }
  if (result.validity != Validity::kValid) opened.notes.push_back("not checked against its trace: " + result.reason);
  return opened;
}

IngestOptions any_events(const std::atomic<bool>* cancel) {
  IngestOptions options;
  options.cancel = cancel;
  options.accept_any_events = true;
  return options;
}

std::optional<OpenedTrace> find_valid(const std::filesystem::path& trace) {
  const IngestOptions options = any_events(RunLimits::of_process().time_is_up());
  for (const std::filesystem::path& candidate : index_candidates(trace, cache_directory())) {
    if (auto index = open_valid_index(trace, candidate, options)) return with_notes(std::move(*index));
  }
  return std::nullopt;
}

// How far the building of an index is, where that takes a while.
class BuildProgress : public IngestObserver {
 public:
  BuildProgress(const std::filesystem::path& trace, bool quiet) : trace_(trace), line_(options(trace, quiet)) {}

  void progress(const IngestProgress& progress) const override { line_.update(trace_, progress); }
  void waiting() const override { line_.clear(); }

 private:
  static ProgressOptions options(const std::filesystem::path& trace, bool quiet) {
    ProgressOptions out;
    out.mode = quiet ? ProgressMode::kNever : ProgressMode::kAuto;
    out.traces = 1;
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(trace, error);
    if (!error) out.total_bytes = bytes;
    return out;
  }

  std::filesystem::path trace_;
  mutable ProgressLine line_;
};

std::optional<Index> build_into(const std::filesystem::path& path, const std::filesystem::path& trace,
                                const CommandLine& line) {
  if (!line.quiet()) std::cerr << "building index " << escape_text(path.string()) << '\n';
  catch_ending_signals();
  auto found = ensure_index(trace, path, any_events(&end_requested()), BuildProgress(trace, line.quiet()));
  release_ending_signals();
  auto* valid = std::get_if<Index>(&found);
  return valid == nullptr ? std::nullopt : std::optional(std::move(*valid));
}

// What can be read once only has an index without a name, for as long as it is asked.
OpenedTrace build_of_stream(const std::filesystem::path& stream, const CommandLine& line) {
  const RunLimits::Pause pause;
  std::string folder = (std::filesystem::temp_directory_path() / "tracedb-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    throw Error(ErrorCode::kResource, folder + ": cannot be made, for the index of standard input; set TMPDIR");
  }
  const ScopeExit remove([&] {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  });
  const std::filesystem::path path = std::filesystem::path(folder) / "standard-input.tracedb";
  build_into(path, stream, line);
  return with_notes(Index::open(path));
}

OpenedTrace build(const std::filesystem::path& trace, const CommandLine& line) {
  if (line.has("no-ingest")) {
    throw Error(ErrorCode::kInput, fmt::format("{}: no valid index, and --no-ingest was given; run trace-ingest {}",
                                               trace.string(), trace.string()));
  }
  const RunLimits::Pause pause;
  refuse_unreadable(trace);  // before a note that an index is built
  const std::filesystem::path path = new_index_path(trace, {});
  auto valid = build_into(path, trace, line);
  return with_notes(valid ? std::move(*valid) : Index::open(path));
}

}  // namespace

OpenedTrace open_trace(const std::filesystem::path& given, const CommandLine& line) {
  std::error_code error;
  if (given == "-" || std::filesystem::is_fifo(given, error)) return build_of_stream(given, line);
  if (std::filesystem::is_directory(given, error)) {
    throw Error(ErrorCode::kInput, fmt::format("{}: no traces there (looked for {})", printable_path(given),
                                               fmt::join(default_globs(), " ")));
  }
  const FileKind kind = file_kind(given);
  const bool is_database = kind == FileKind::kOtherSqlite && is_readable_trace(given);
  if ((kind == FileKind::kNotSqlite || is_database) && given.extension() != kIndexSuffix) {
    if (auto found = find_valid(given)) return std::move(*found);
    return build(given, line);
  }
  if (kind == FileKind::kOtherSqlite) refuse_unreadable(given);
  return open_index(given);  // says what is wrong with anything that is no index
}

}  // namespace tracedb
