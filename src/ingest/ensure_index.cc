#include "ingest/ensure_index.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/failure.h"
#include "base/file_lock.h"
#include "base/input_file.h"
#include "base/temp_file.h"
#include "index/index.h"
#include "index/validity.h"
#include "index/verify.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartialSuffix = ".partial";
constexpr std::size_t kRandomLetters = 6;

fs::path directory_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

bool is_ours(FileKind kind) {
  return kind == FileKind::kIndex || kind == FileKind::kOtherVersion || kind == FileKind::kTruncated;
}

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
  if (overwrite_foreign || is_ours(file_kind(index))) return;
  throw Error(ErrorCode::kResource, fmt::format("{}: is there already and is no index of ours; move it away, or "
                                                "replace it with trace-ingest --force",
                                                printable_path(index)));
}

bool is_sound(const Index& index, const fs::path& trace) {
  const std::vector<VerifyFinding> findings = verify(index, trace);
  return std::all_of(findings.begin(), findings.end(),
                     [](const VerifyFinding& finding) { return finding.outcome == VerifyFinding::Outcome::kPassed; });
}

// "<name of the index>.XXXXXX.partial", a file, and nothing but the beginning of a database.
bool is_leftover(const fs::directory_entry& entry, const std::string& index_name) {
  const std::string name = entry.path().filename().string();
  std::error_code error;
  if (name.size() != index_name.size() + 1 + kRandomLetters + kPartialSuffix.size()) return false;
  if (!name.starts_with(index_name + ".") || !name.ends_with(kPartialSuffix)) return false;
  if (!fs::is_regular_file(entry.symlink_status(error)) || error) return false;
  const std::uintmax_t size = entry.file_size(error);
  return !error && (size == 0 || is_ours(file_kind(entry.path())));
}

// A temporary file (base/temp_file.h) whose process was killed before it could take the name away. One that is alive is
// about to do the same.
bool is_empty_spool(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.path().filename().native().starts_with(kSpoolPrefix) &&
         fs::is_regular_file(entry.symlink_status(error)) && entry.file_size(error) == 0 && !error;
}

// A killed build may have published its index and still left its lock behind. A lock that is held is at work: leave it.
void clear_stale_lock(const fs::path& index) {
  const fs::path lock_file = lock_path(index);
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(lock_file, error))) return;
  if (::access(directory_of(index).c_str(), W_OK) != 0 || ::access(lock_file.c_str(), R_OK) != 0) return;
  if (const std::optional<FileLock> lock = FileLock::try_acquire(lock_file); lock && lock->locks()) {
    remove_leftovers(index);
    // The index was read without it, so there is nothing in it to be rolled back.
    ::unlink((index.string() + "-journal").c_str());
  }
}

bool passes_checks(const fs::path& trace, const fs::path& index, const EnsureOptions& options) {
  if (options.rebuild || trace == "-" || file_kind(index) != FileKind::kIndex) return false;
  const Index existing = Index::open(index);
  if (!options.any_options && existing.meta("ingest_options") != options_text(options.ingest)) return false;
  if (options.full_check) return is_sound(existing, trace);
  return check_validity(existing, trace, Effort::kQuick).validity == Validity::kValid;
}

// Damage that shows only while the index is read (not finished, broken pages, no such table) makes it invalid too.
bool is_valid(const fs::path& trace, const fs::path& index, const EnsureOptions& options) {
  bool valid = false;
  const std::optional<Error> failure = failure_of([&] { valid = passes_checks(trace, index, options); });
  if (failure && failure->code() != ErrorCode::kInput && failure->code() != ErrorCode::kUsage) throw Error(*failure);
  return valid && !failure;
}

}  // namespace

fs::path lock_path(const fs::path& index) {
  fs::path path = index;
  path += ".lock";
  return path;
}

std::size_t remove_leftovers(const fs::path& index) {
  const std::string name = index.filename().string();
  std::vector<fs::path> leftovers;
  std::error_code error;
  for (fs::directory_iterator entry(directory_of(index), error), end; !error && entry != end; entry.increment(error)) {
    if (is_leftover(*entry, name) || is_empty_spool(*entry)) leftovers.push_back(entry->path());
  }
  for (const fs::path& leftover : leftovers) ::unlink(leftover.c_str());
  return leftovers.size();
}

bool is_valid_index(const fs::path& trace, const fs::path& index, const EnsureOptions& options) {
  if (!is_valid(trace, index, options)) return false;
  clear_stale_lock(index);
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
