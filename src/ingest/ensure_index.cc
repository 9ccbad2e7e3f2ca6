#include "ingest/ensure_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/failure.h"
#include "base/file_lock.h"
#include "base/input_file.h"
#include "index/index.h"
#include "index/leftovers.h"
#include "index/validity.h"
#include "index/verify.h"
#include "ingest/output_guard.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

void require_replaceable(const fs::path& trace, const fs::path& index, bool overwrite_foreign) {
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
  if (overwrite_foreign) return;
  throw Error(ErrorCode::kResource, fmt::format("{}: is there already and is no index of ours; move it away, or "
                                                "replace it with trace-ingest --force",
                                                printable_path(index)));
}

bool is_sound(const Index& index, const fs::path& trace, const std::atomic<bool>* cancel) {
  const std::vector<VerifyFinding> findings = verify(index, trace, cancel);
  return std::all_of(findings.begin(), findings.end(),
                     [](const VerifyFinding& finding) { return finding.outcome == VerifyFinding::Outcome::kPassed; });
}

bool passes_checks(const fs::path& trace, const fs::path& index, const EnsureOptions& options) {
  if (options.rebuild || trace == "-" || file_kind(index) != FileKind::kIndex) return false;
  const Index existing = Index::open(index);
  if (!options.any_options && existing.meta("ingest_options") != options_text(options.ingest)) return false;
  if (options.full_check) return is_sound(existing, trace, options.ingest.cancel);
  return check_validity(existing, trace, Effort::kQuick, options.ingest.cancel).validity == Validity::kValid;
}

// Damage that shows only while the index is read (not finished, broken pages, no such table) makes it invalid too.
bool is_valid(const fs::path& trace, const fs::path& index, const EnsureOptions& options) {
  bool valid = false;
  const std::optional<Error> failure = failure_of([&] { valid = passes_checks(trace, index, options); });
  if (failure && failure->code() != ErrorCode::kInput && failure->code() != ErrorCode::kUsage) throw Error(*failure);
  return valid && !failure;
}

}  // namespace

bool is_valid_index(const fs::path& trace, const fs::path& index, const EnsureOptions& options) {
  if (!is_valid(trace, index, options)) return false;
  clear_leftovers(index);
  return true;
}

std::optional<IngestResult> ensure_index(const fs::path& trace, const fs::path& index, const EnsureOptions& options) {
  require_replaceable(trace, index, options.overwrite_foreign);
  const FileLock lock = FileLock::acquire(lock_path(index), options.ingest.cancel, options.on_wait);
  if (lock.locks()) remove_leftovers(index);
  if (is_valid(trace, index, options)) return std::nullopt;  // another process has built it meanwhile
  require_replaceable(trace, index, options.overwrite_foreign);
  return ingest_trace(trace, index, options.ingest);
}

}  // namespace tracedb
