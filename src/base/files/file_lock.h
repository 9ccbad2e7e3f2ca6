// One writer at a time: an exclusive lock on a lock file, held by this process for the lifetime of the object. The
// kernel releases the lock when the process ends, however it ends, so a lock file that nobody holds is only a leftover.
//
// The file is removed while the lock is still held. A process that obtains the lock of a file that no longer has this
// name starts over, so two processes never hold the lock at once. A file with content is not ours and is not removed.
//
// Where the file system has no locks (some network mounts), every attempt succeeds and locks() is false: there the lock
// may save work, but correctness must not depend on it. Different objects exclude each other within one process too.
// Throws Error{kResource} if the file cannot be created, Error{kInterrupted} while waiting.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

#include "base/files/file_descriptor.h"

namespace tracedb {

class FileLock {
 public:
  // nullopt: somebody else has it.
  static std::optional<FileLock> try_acquire(const std::filesystem::path& path);
  // The same without throwing: also nullopt, with `error` set, where the file cannot be made.
  static std::optional<FileLock> try_acquire(const std::filesystem::path& path, std::error_code& error);
  // Waits. `on_wait` is called once if that takes any time; `cancel` (may be null) ends the waiting.
  static FileLock acquire(const std::filesystem::path& path, const std::atomic<bool>* cancel,
                          const std::function<void()>& on_wait);
  // Without making, removing or keeping anything: does some process hold the lock of this file now?
  static bool is_held(const std::filesystem::path& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept = default;
  FileLock& operator=(FileLock&&) = delete;

  [[nodiscard]] bool locks() const { return locks_; }

 private:
  FileLock(std::filesystem::path path, FileDescriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  std::filesystem::path path_;
  FileDescriptor descriptor_;
  bool held_ = false;
  bool locks_ = true;
};

}  // namespace tracedb
