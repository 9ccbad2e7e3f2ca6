// Identifies a regular file and its content: a replacement or an edit changes at least one of these values.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>

namespace tracedb {

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  // of the inode: the one time that nobody can set back

  // nullopt: not there, or not a regular file. Links are not followed but by behind_links().
  static std::optional<FileIdentity> of(const std::filesystem::path& path);
  static std::optional<FileIdentity> of(int descriptor);
  static std::optional<FileIdentity> of(const struct stat& status);
  static std::optional<FileIdentity> behind_links(const std::filesystem::path& path);
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// The current time, for comparison with file times. By our own clock, since the epoch:
std::int64_t now_ns();

// By the clock of a file system, which may be remote, with a clock that differs from ours.

// Our time or that of the file system `directory` is on, whichever is behind. Throws Error{kResource} when the
// directory does not let us create a file.
timespec file_clock(const std::filesystem::path& directory);

}  // namespace tracedb
