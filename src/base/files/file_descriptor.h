// Owns a file descriptor. Reads and writes are whole, and are resumed after signals; what fails is told by the result
// and by errno. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace tracedb {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}  // of open(2) or the like; negative: none
  ~FileDescriptor() { close(); }
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  bool close();  // false: something that was written did not arrive

  [[nodiscard]] bool write(std::span<const std::byte> bytes) const;  // at the file's position
  [[nodiscard]] bool write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  // How much was read, less than asked for only where the file ends; nullopt: it failed.
  [[nodiscard]] std::optional<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  int number_ = -1;
};

// A file without a name, for data that should not live in memory: it disappears when the process ends, however it ends.
// Append, then read anywhere. One thread.

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
