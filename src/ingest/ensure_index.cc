#include "ingest/ensure_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/file_lock.h"
#include "base/files/input_file.h"
#include "base/files/sandbox.h"
#include "base/files/small_file.h"
#include "base/parallel.h"
#include "index/leftovers.h"
#include "index/validity.h"
#include "index/verify.h"
#include "ingest/output_guard.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

void require_replaceable(const fs::path& trace, const fs::path& index, bool force) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(index, error);
  if (!fs::exists(status)) return;
  if (fs::is_directory(index, error)) {
    throw Error(ErrorCode::kResource,
                fmt::format("{}: is a directory; give the index another name with --output", printable_path(index)));
  }
  if (fs::equivalent(trace, index, error)) {
    throw Error(ErrorCode::kUsage, fmt::format("{}: is the trace itself; give the index another name with --output",
                                               printable_path(index)));
  }
  if (is_ours(replaced_kind(index))) return;
  const std::string recording = recording_in(index);
  if (!recording.empty()) {
    throw Error(ErrorCode::kUsage, fmt::format("{}: holds {}, which would be lost; give the index another name with "
                                               "--output",
                                               printable_path(index), recording));
  }
  if (force) return;
  throw Error(ErrorCode::kResource, fmt::format("{}: exists already and is not a tracedb index; move it away, or "
                                                "replace it with trace-ingest --force",
                                                printable_path(index)));
}

bool is_sound(const Index& index, const fs::path& trace, const std::atomic<bool>* cancel) {
  const std::vector<VerifyFinding> findings = verify(index, trace, cancel);
  return std::ranges::all_of(
      findings, [](const VerifyFinding& finding) { return finding.outcome == VerifyFinding::Outcome::kPassed; });
}

bool is_valid(const Index& index, const fs::path& trace, const IngestOptions& options) {
  if (!options.accept_any_events && index.meta("ingest_options") != options_text(options)) return false;
  if (options.full_check) return is_sound(index, trace, options.cancel);
  return check_validity(index, trace, Effort::kQuick, options.cancel).validity == Validity::kValid;
}

std::optional<Index> open_if_valid(const fs::path& trace, const fs::path& index, const IngestOptions& options) {
  if (options.force || trace == "-") return std::nullopt;
  std::optional<Index> existing;
  bool valid = false;
  // Damage may show only while the index is read: not finished, broken pages, no such table.
  const std::optional<Error> failure = catch_error([&] {
    existing.emplace(Index::open(index));
    valid = is_valid(*existing, trace, options);
    existing->database().query_int64("SELECT sum(count) FROM issue");
  });
  if (failure && failure->code() == ErrorCode::kInterrupted) throw Error(*failure);
  if (failure || !valid) return std::nullopt;
  return existing;
}

// On a thread that may read the folder of the trace and write that of the index, and nothing else.
IngestResult ingest_restricted(const fs::path& trace, const fs::path& index, const IngestOptions& options,
                               const IngestObserver& observer) {
  if (!options.sandbox) return ingest_trace(trace, index, options, observer);
  std::error_code error;
  const fs::path behind_links = fs::canonical(trace, error);
  const fs::path folder = trace == "-" ? fs::path() : directory_of(trace);
  const bool in_ascend_run = folder.parent_path().filename().native().ends_with("_ascend_pt");  // which names the rank
  const fs::path readable[] = {in_ascend_run ? folder.parent_path() : folder,
                               error ? fs::path() : directory_of(behind_links)};
  const fs::path writable[] = {directory_of(index)};
  std::optional<IngestResult> result;
  Task task(
      [&] {
        const std::string unconfined = restrict_thread(readable, writable);
        result = ingest_trace(trace, index, options, observer);
        result->unconfined = unconfined;
      },
      [] {});
  task.join();
  return std::move(*result);
}

}  // namespace

std::optional<Index> open_valid_index(const fs::path& trace, const fs::path& index, const IngestOptions& options) {
  std::optional<Index> valid = open_if_valid(trace, index, options);
  if (valid) clear_leftovers(index);
  return valid;
}

std::variant<Index, IngestResult> ensure_index(const fs::path& trace, const fs::path& index,
                                               const IngestOptions& options, const IngestObserver& observer) {
  require_replaceable(trace, index, options.force);
  const FileLock lock = FileLock::acquire(lock_path(index), options.cancel, [&] { observer.waiting(); });
  if (lock.locks()) remove_leftovers(index);
  if (std::optional<Index> valid = open_if_valid(trace, index, options)) return std::move(*valid);
  require_replaceable(trace, index, options.force);
  return ingest_restricted(trace, index, options, observer);
}

}  // namespace tracedb
