#include "index/refresh.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "base/failure.h"
#include "base/file_identity.h"
#include "base/file_lock.h"
#include "base/partial_file.h"
#include "index/leftovers.h"
#include "sql/meta_update.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : number_(::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

bool write_all(int to, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::write(to, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool copy_bytes(int from, int to) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  const auto buffer = std::make_unique_for_overwrite<char[]>(kPiece);
  while (true) {
    const ssize_t count = ::read(from, buffer.get(), kPiece);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0;
    if (!write_all(to, buffer.get(), static_cast<std::size_t>(count))) return false;
  }
}

// The copy gets the rights of the index too. False: the index is not what it was, or there is no room.
bool copy_index(const fs::path& index, const FileIdentity& known, const fs::path& copy) {
  const Descriptor from(index, O_RDONLY | O_NONBLOCK);
  const Descriptor to(copy, O_WRONLY);
  struct stat status {};
  if (from.get() < 0 || to.get() < 0 || FileIdentity::of(from.get()) != known || ::fstat(from.get(), &status) != 0) {
    return false;
  }
  return status.st_uid == ::geteuid() && copy_bytes(from.get(), to.get()) &&
         ::fchmod(to.get(), status.st_mode & 07777) == 0;
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
  const std::optional<Error> failure = failure_of([&] { replaced = replace(index, *known, stat); });
  return replaced && !failure;  // failing costs time only
}

}  // namespace tracedb
