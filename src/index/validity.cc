#include "index/validity.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <system_error>

#include "base/content_hash.h"
#include "base/file_lock.h"
#include "sql/meta_update.h"

namespace tracedb {
namespace {

constexpr std::int64_t kRestNs = 2'000'000'000;

struct SourceStat {
  std::int64_t size;
  std::int64_t mtime_ns;
  std::int64_t inode;
  std::int64_t touched_ns;  // the later of its two times: whoever sets the first one back moves the second
};

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

SourceStat source_stat(const struct stat& status) {
  return {static_cast<std::int64_t>(status.st_size), nanoseconds(status.st_mtim),
          static_cast<std::int64_t>(status.st_ino), std::max(nanoseconds(status.st_mtim), nanoseconds(status.st_ctim))};
}

std::int64_t clock_ns() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

// The index carries the time its trace was looked at as its own modification time. One that is still to come was taken
// from a wrong clock and tells nothing.
bool at_rest_when_stored(const Index& index, const SourceStat& now) {
  struct stat status {};
  if (stat(index.path().c_str(), &status) != 0) return false;
  const std::int64_t looked_at = nanoseconds(status.st_mtim);
  return looked_at - now.touched_ns > kRestNs && looked_at <= clock_ns();
}

bool stat_matches(const Index& index, const SourceStat& now) {
  return index.meta_int64("source_mtime_ns") == now.mtime_ns && index.meta_int64("source_inode") == now.inode &&
         at_rest_when_stored(index, now);
}

void refresh_stat(const Index& index, const SourceStat& now) {
  if (clock_ns() - now.touched_ns <= kRestNs) return;  // could not be trusted anyway
  // The lock of a build: what a kill leaves of this write too is cleared by whoever finds the lock without its holder.
  std::filesystem::path lock_file = index.path();
  lock_file += ".lock";
  std::error_code error;
  // One that is there is at work, or tells of a kill whose traces are to be cleared before it goes.
  if (std::filesystem::exists(std::filesystem::symlink_status(lock_file, error))) return;
  const std::optional<FileLock> lock = FileLock::try_acquire(lock_file, error);
  if (!lock) return;  // a build is at work, or nothing can be written here
  update_meta(index.path(),
              {{"source_mtime_ns", std::to_string(now.mtime_ns)}, {"source_inode", std::to_string(now.inode)}});
}

ValidityResult check_content(const Index& index, const std::filesystem::path& source, const SourceStat& before) {
  const auto sample = index.meta("source_sample_hash");
  if (sample && to_hex(sample_hash_file(source)) != *sample) {
    return {Validity::kStale, 2, "the trace has changed (sampled hash)"};
  }
  const auto full = index.meta("source_hash");
  if (!full) return {Validity::kUnknown, 0, "the index does not hold the hash of its trace"};
  if (to_hex(hash_file(source)) != *full) return {Validity::kStale, 3, "the trace has changed (full hash)"};
  refresh_stat(index, before);
  return {Validity::kValid, 3, "same content (full hash)"};
}

}  // namespace

ValidityResult check_validity(const Index& index, const std::filesystem::path& source, Effort effort) {
  struct stat status {};
  if (source.empty() || stat(source.c_str(), &status) != 0) {
    return {Validity::kSourceMissing, 0, "the trace it was made from is not there"};
  }
  if (!S_ISREG(status.st_mode) || access(source.c_str(), R_OK) != 0) {
    return {Validity::kUnknown, 0, "the trace it was made from cannot be read"};
  }
  const SourceStat now = source_stat(status);
  const auto size = index.meta_int64("source_size");
  if (!size) return {Validity::kUnknown, 0, "the index does not say what it was made from"};
  if (*size != now.size) return {Validity::kStale, 1, "the trace has another size now"};
  if (effort == Effort::kQuick && stat_matches(index, now)) {
    return {Validity::kValid, 1, "same size, time and inode"};
  }
  return check_content(index, source, now);
}

std::filesystem::path source_of(const Index& index) {
  std::error_code error;
  if (index.path().extension() == ".tracedb") {
    std::filesystem::path beside = index.path();
    beside.replace_extension();
    if (std::filesystem::exists(beside, error)) return beside;
  }
  const auto recorded = index.meta("source_path");
  if (!recorded || recorded->empty() || *recorded == "-") return {};
  const std::filesystem::path path(*recorded);
  return path.is_absolute() ? path : std::filesystem::absolute(index.path()).parent_path() / path.filename();
}

}  // namespace tracedb
