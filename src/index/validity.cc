#include "index/validity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include "base/failure.h"
#include "base/files/file_descriptor.h"
#include "base/files/file_lock.h"
#include "base/files/partial_file.h"
#include "base/stream/content_hash.h"
#include "index/leftovers.h"
#include "index/locate.h"
#include "sql/safety.h"

namespace tracedb {
namespace {

constexpr std::int64_t kRestNs = 2'000'000'000;

// The later of its two times: whoever sets the first one back moves the second.
std::int64_t touched_ns(const FileIdentity& file) { return std::max(file.modified_ns, file.changed_ns); }

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// To read holes takes as long as to read bytes, and whoever made the index may name a file with terabytes of them. File
// systems that compress take fewer blocks for a trace than it has bytes, but not that many fewer.
bool is_mostly_holes(const struct stat& status) {
  constexpr std::int64_t kAlwaysRead = std::int64_t{1} << 30;
  constexpr std::int64_t kCountedBlock = 512;
  constexpr std::int64_t kBestCompression = 64;
  return status.st_size > kAlwaysRead && status.st_blocks < status.st_size / (kCountedBlock * kBestCompression);
}

// The index carries the time its trace was looked at as its own modification time. One that is still to come was taken
// from a wrong clock and tells nothing.
bool at_rest_when_stored(const Index& index, const FileIdentity& now) {
  struct stat status {};
  if (stat(index.path().c_str(), &status) != 0) return false;
  const std::int64_t looked_at = nanoseconds(status.st_mtim);
  return looked_at - touched_ns(now) > kRestNs && looked_at <= now_ns();
}

bool stat_matches(const Index& index, const FileIdentity& now) {
  return index.meta_int64("source_mtime_ns") == now.modified_ns &&
         index.meta_int64("source_inode") == static_cast<std::int64_t>(now.inode) && at_rest_when_stored(index, now);
}

// When the trace is looked at, by the clock that stamps the index; nullopt: nothing could be noted beside it.
std::optional<timespec> look(const Index& index) {
  std::optional<timespec> time;
  const std::filesystem::path directory = index.path().parent_path();
  catch_error([&] { time = file_clock(directory.empty() ? "." : directory); });
  return time;
}

void note_stat(const Index& index, const FileIdentity& source, timespec looked_at) {
  if (nanoseconds(looked_at) - touched_ns(source) <= kRestNs) return;  // could not be trusted anyway
  refresh_stat(index, source, looked_at);
}

ValidityResult check_content(const Index& index, const std::filesystem::path& source, const std::atomic<bool>* cancel) {
  const auto sample = index.meta("source_sample_hash");
  if (sample && to_hex(sample_hash_file(source)) != *sample) {
    return {Validity::kStale, 2, "the trace has changed (sampled hash)"};
  }
  const auto full = index.meta("source_hash");
  if (!full) return {Validity::kUnknown, 0, "the index does not hold the hash of its trace"};
  if (to_hex(hash_file(source, cancel)) != *full) return {Validity::kStale, 3, "the trace has changed (full hash)"};
  return {Validity::kValid, 3, "same content (full hash)"};
}

}  // namespace

ValidityResult check_validity(const Index& index, const std::filesystem::path& source, Effort effort,
                              const std::atomic<bool>* cancel) {
  struct stat status {};
  if (source.empty() || (stat(source.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR))) {
    return {Validity::kSourceMissing, 0, "its trace is missing"};
  }
  const std::optional<FileIdentity> now = FileIdentity::of(status);
  constexpr const char* kUnreadable = "its trace cannot be read";
  if (!now) return {Validity::kUnknown, 0, kUnreadable};
  const auto size = index.meta_int64("source_size");
  if (!size) return {Validity::kUnknown, 0, "the index does not record its trace"};
  if (*size != status.st_size) return {Validity::kStale, 1, "the size of the trace has changed"};
  const bool matches = stat_matches(index, *now);
  if (effort != Effort::kFullHash && matches) return {Validity::kValid, 1, "same size, time and inode"};
  if (effort != Effort::kFullHash && is_mostly_holes(status)) {
    return {Validity::kUnknown, 0, "the trace it was made from is a file of holes"};
  }
  if (!FileDescriptor(::open(source.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)).is_open())
    return {Validity::kUnknown, 0, kUnreadable};
  const std::optional<timespec> looked_at = matches || effort == Effort::kReadOnly ? std::nullopt : look(index);
  ValidityResult result = check_content(index, source, cancel);
  if (result.validity == Validity::kValid && looked_at) note_stat(index, *now, *looked_at);
  return result;
}

std::filesystem::path source_of(const Index& index) {
  if (auto beside = trace_beside(index.path())) return *beside;
  const auto recorded = index.meta("source_path");
  if (!recorded || recorded->empty() || *recorded == "-") return {};
  const std::filesystem::path path = source_path(*recorded);
  return path.is_absolute() ? path : std::filesystem::absolute(index.path()).parent_path() / path.filename();
}

namespace {

namespace fs = std::filesystem;

FileDescriptor open_file(const fs::path& path, int flags) {
  return FileDescriptor(::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
}

bool copy_bytes(const FileDescriptor& from, const FileDescriptor& to) {
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  std::uint64_t offset = 0;
  while (const std::optional<std::size_t> got = from.read_at(offset, buffer)) {
    if (*got == 0) return true;
    if (!to.write(std::span(buffer).first(*got))) return false;
    offset += *got;
  }
  return false;
}

// The copy gets the rights of the index too. False: the index is not what it was, or there is no room.
bool copy_index(const fs::path& index, const FileIdentity& known, const fs::path& copy) {
  const FileDescriptor from = open_file(index, O_RDONLY | O_NONBLOCK);
  const FileDescriptor to = open_file(copy, O_WRONLY);
  struct stat status {};
  if (!from.is_open() || !to.is_open() || FileIdentity::of(from.get()) != known || ::fstat(from.get(), &status) != 0) {
    return false;
  }
  return status.st_uid == ::geteuid() && copy_bytes(from, to) && ::fchmod(to.get(), status.st_mode & 07777) == 0;
}

bool replace(const Index& index, const FileIdentity& known, const FileIdentity& source, timespec looked_at) {
  PartialFile copy(index.path());
  if (!copy_index(index.path(), known, copy.path())) return false;
  // The name may have come to another index since `index` was opened.
  if (Index::open(copy.path()).meta("source_hash") != index.meta("source_hash")) return false;
  if (!update_meta(copy.path(), {{"source_mtime_ns", std::to_string(source.modified_ns)},
                                 {"source_inode", std::to_string(static_cast<std::int64_t>(source.inode))}})) {
    return false;
  }
  if (FileIdentity::of(index.path()) != known) return false;
  copy.publish(looked_at);
  return true;
}

}  // namespace

bool refresh_stat(const Index& index, const FileIdentity& source, timespec looked_at) {
  const std::optional<FileIdentity> known = FileIdentity::of(index.path());
  if (!known) return false;
  std::error_code error;
  const std::optional<FileLock> lock = FileLock::try_acquire(lock_path(index.path()), error);
  if (!lock) return false;
  if (lock->locks()) remove_leftovers(index.path());  // the lock, by which the next run would find them, goes with us
  bool replaced = false;
  const std::optional<Error> failure = catch_error([&] { replaced = replace(index, *known, source, looked_at); });
  return replaced && !failure;  // failing costs time only
}

}  // namespace tracedb
