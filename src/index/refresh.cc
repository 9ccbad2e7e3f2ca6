#include "index/refresh.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "base/failure.h"
#include "base/files/file_descriptor.h"
#include "base/files/file_identity.h"
#include "base/files/file_lock.h"
#include "base/files/partial_file.h"
#include "index/leftovers.h"
#include "sql/meta_update.h"

namespace tracedb {
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

bool replace(const Index& index, const FileIdentity& known, const RefreshedStat& stat) {
  PartialFile copy(index.path());
  if (!copy_index(index.path(), known, copy.path())) return false;
  // The name may have come to another index since `index` was opened.
  if (Index::open(copy.path()).meta("source_hash") != index.meta("source_hash")) return false;
  if (!update_meta(copy.path(), {{"source_mtime_ns", std::to_string(stat.mtime_ns)},
                                 {"source_inode", std::to_string(stat.inode)}})) {
    return false;
  }
  if (FileIdentity::of(index.path()) != known) return false;
  copy.publish(stat.looked_at);
  return true;
}

}  // namespace

bool refresh_stat(const Index& index, const RefreshedStat& stat) {
  const std::optional<FileIdentity> known = FileIdentity::of(index.path());
  if (!known) return false;
  std::error_code error;
  const std::optional<FileLock> lock = FileLock::try_acquire(lock_path(index.path()), error);
  if (!lock) return false;
  if (lock->locks()) remove_leftovers(index.path());  // the lock, by which the next run would find them, goes with us
  bool replaced = false;
  const std::optional<Error> failure = catch_error([&] { replaced = replace(index, *known, stat); });
  return replaced && !failure;  // failing costs time only
}

}  // namespace tracedb
