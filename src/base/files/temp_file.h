// A file without a name, for data that should not live in memory: it disappears when the process ends, however it ends.
// Append, then read anywhere. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/files/file_descriptor.h"

namespace tracedb {

// Of the names that such files bear for a moment on file systems that cannot make them without one.
inline constexpr std::string_view kSpoolPrefix = ".tracedb-spool-";

class TempFile {
 public:
  // Throws Error{kResource} when `directory` does not let us create a file.
  explicit TempFile(const std::filesystem::path& directory);

  void append(std::span<const std::byte> bytes);
  void read(std::uint64_t offset, std::span<std::byte> into) const;  // the whole span must lie in the file
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] timespec changed() const;  // by the clock of the file system, which may be another machine's

 private:
  std::filesystem::path directory_;
  FileDescriptor descriptor_;
  std::uint64_t size_ = 0;
};

}  // namespace tracedb
