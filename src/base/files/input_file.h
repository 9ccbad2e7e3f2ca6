// A file opened for reading, with messages for everything that can go wrong. Reads are complete (short only at the end
// of the file) and are resumed after signals.
//
// Throws Error{kInput} in one line, "PATH: why: what to do". One thread at a time.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "base/files/file_descriptor.h"

namespace tracedb {

// The path as it may be printed in one line: control characters are written as \xNN, all other bytes stay.
std::string printable_path(const std::filesystem::path& path);

class InputFile {
 public:
  // A regular file or a FIFO, nothing else. Waiting for bytes ends with Error{kInterrupted} once `cancel`
  // (may be null; must outlive the file) is true.
  explicit InputFile(const std::filesystem::path& path, const std::atomic<bool>* cancel = nullptr);
  static InputFile standard_input(const std::atomic<bool>* cancel = nullptr);

  // From the current position; fewer than `capacity` bytes only at the end.
  std::size_t read(char* destination, std::size_t capacity);
  // The same from `offset`, leaving the position alone; for regular files.
  std::size_t read_at(std::uint64_t offset, char* destination, std::size_t capacity) const;

  [[nodiscard]] bool is_regular() const;
  [[nodiscard]] std::uint64_t size() const;
  // Tells the kernel to read ahead; a hint, so failure does not matter.
  void expect_sequential_reads() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  InputFile(FileDescriptor descriptor, std::string name, const std::atomic<bool>* cancel)
      : descriptor_(std::move(descriptor)), cancel_(cancel), name_(std::move(name)) {}
  void wait_for_bytes() const;
  [[nodiscard]] ssize_t or_pause(ssize_t got) const;

  FileDescriptor descriptor_;
  const std::atomic<bool>* cancel_;
  bool may_block_ = true;
  std::string name_;  // printable
};

}  // namespace tracedb
