// Owns a file descriptor. Reads and writes are whole, and are resumed after signals; what fails is told by the result
// and by errno. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

}  // namespace tracedb
