#include "base/files/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/files/input_file.h"

namespace tracedb {
namespace {

// Polled, because a signal may be delivered to any thread and would not end a wait inside the kernel here.
constexpr auto kPause = std::chrono::milliseconds(20);

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  const std::string text = fmt::format("{}: cannot make the lock file: {}", printable_path(path), std::strerror(error));
  if (is_no_space(error)) throw NoSpaceError(text);
  throw Error(ErrorCode::kResource, text + "; choose another place with --output or --index-dir");
}

// EBADF: NFS wants the descriptor to be writable, which a lock shared by several users cannot be.
bool has_no_locks(int error) {
  return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL || error == EBADF;
}

bool is_still_named(int descriptor, const std::filesystem::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

}  // namespace

std::optional<FileLock> FileLock::try_acquire(const std::filesystem::path& path) {
  std::error_code error;
  std::optional<FileLock> lock = try_acquire(path, error);
  if (error) fail(path, error.value());
  return lock;
}

std::optional<FileLock> FileLock::try_acquire(const std::filesystem::path& path, std::error_code& failure) {
  failure.clear();
  const auto failed = [&](int error) {
    failure.assign(error, std::generic_category());
    return std::nullopt;
  };
  while (true) {
    // Not blocking, so that a planted FIFO or device cannot hold us up; not following links for the like reason.
    FileLock lock(path,
                  FileDescriptor(::open(path.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666)));
    const int descriptor = lock.descriptor_.get();
    if (descriptor < 0 && errno == EINTR) continue;
    if (descriptor < 0) return failed(errno);
    int result = 0;
    do {
      result = ::flock(descriptor, LOCK_EX | LOCK_NB);
    } while (result != 0 && errno == EINTR);
    const int error = result == 0 ? 0 : errno;
    if (error == EWOULDBLOCK) return std::nullopt;
    if (error != 0 && !has_no_locks(error)) return failed(error);
    lock.locks_ = error == 0;
    lock.held_ = is_still_named(descriptor, path);  // else it was removed meanwhile: the name is another's now
    if (lock.held_) return lock;
  }
}

FileLock FileLock::acquire(const std::filesystem::path& path, const std::atomic<bool>* cancel,
                           const std::function<void()>& on_wait) {
  for (bool waited = false;; waited = true) {
    if (std::optional<FileLock> lock = try_acquire(path)) return std::move(*lock);
    if (!waited && on_wait) on_wait();
    if (cancel != nullptr && cancel->load()) throw Error(ErrorCode::kInterrupted, "interrupted");
    std::this_thread::sleep_for(kPause);
  }
}

bool FileLock::is_held(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  // Shared: whoever asks at the same time is not taken for a holder.
  return file.is_open() && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

FileLock::~FileLock() {
  if (!descriptor_.is_open()) return;
  struct stat status {};
  const bool ours = held_ && ::fstat(descriptor_.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
  if (ours) ::unlink(path_.c_str());
}

}  // namespace tracedb
