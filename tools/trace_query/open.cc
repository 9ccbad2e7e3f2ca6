#include "trace_query/open.h"

#include <fmt/format.h>

#include <iostream>
#include <optional>

#include "base/error.h"
#include "index/locate.h"
#include "index/validity.h"
#include "ingest/ensure_index.h"
#include "ingest/formats.h"
#include "report/escape.h"
#include "shared/process_signals.h"
#include "trace_query/limits.h"

namespace tracedb {
namespace {

OpenedTrace with_notes(Index index) {
  OpenedTrace opened{std::move(index), {}};
  RunLimits::of_process().watch(opened.index.database());
  if (!opened.index.complete())
    opened.notes.emplace_back("the trace is truncated: this is what came before the damage");
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

OpenedTrace build(const std::filesystem::path& trace, const CommandLine& line) {
  if (line.has("no-ingest")) {
    throw Error(ErrorCode::kInput, fmt::format("{}: no valid index, and --no-ingest was given; run trace-ingest {}",
                                               trace.string(), trace.string()));
  }
  const RunLimits::Pause pause;
  refuse_unreadable(trace);  // before a note that an index is built
  const std::filesystem::path path = new_index_path(trace, {});
  if (!line.quiet()) std::cerr << "building index " << escape_text(path.string()) << '\n';
  catch_ending_signals();
  auto found = ensure_index(trace, path, any_events(&end_requested()));
  release_ending_signals();
  auto* valid = std::get_if<Index>(&found);
  return with_notes(valid != nullptr ? std::move(*valid) : Index::open(path));
}

}  // namespace

OpenedTrace open_trace(const std::filesystem::path& given, const CommandLine& line) {
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
