// Any number of texts in a fixed amount of memory: written one after the other, then read once in the same order. Text
// that exceeds the buffer goes to a nameless temporary file. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/files/temp_file.h"

namespace tracedb {

class TextSpool {
 public:
  explicit TextSpool(std::filesystem::path directory) : directory_(std::move(directory)) {}

  void push(std::string_view text);
  [[nodiscard]] std::uint32_t size() const { return size_; }

  void start();                            // ends writing
  std::optional<std::string_view> next();  // valid until the next call; nullopt at the end
  void release();                          // gives memory and file back

 private:
  static constexpr std::size_t kBuffer = std::size_t{256} << 10U;

  void spill();
  std::string_view take(std::size_t bytes);

  std::filesystem::path directory_;
  std::unique_ptr<TempFile> file_;
  std::string buffer_;        // of what was written last, or is read next
  std::size_t position_ = 0;  // in the buffer
  std::uint64_t file_position_ = 0;
  std::uint32_t size_ = 0, read_ = 0;
};

}  // namespace tracedb
