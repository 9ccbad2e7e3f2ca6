// The bytes of a file, hashed and counted as they are read: the layer below plain and compressed sources. One thread at
// a time; throws Error{kInput} on read errors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/files/input_file.h"
#include "base/stream/content_hash.h"

namespace tracedb {

class RawInput {
 public:
  virtual ~RawInput() = default;

  // Fewer than `capacity` bytes only at the end.
  std::size_t read(char* destination, std::size_t capacity);
  // The first bytes (4, or all of a shorter file), still to be read; before the first read() only.
  std::string_view peek();
  void drain();

  [[nodiscard]] std::uint64_t consumed() const { return consumed_; }
  [[nodiscard]] ContentHash hash() const { return hasher_.digest(); }
  [[nodiscard]] virtual const std::string& name() const = 0;  // printable

 private:
  virtual std::size_t fetch(char* destination, std::size_t capacity) = 0;

  std::array<char, 4> head_{};  // peeked at: a pipe cannot be rewound
  std::size_t head_size_ = 0;
  std::size_t head_taken_ = 0;
  std::uint64_t consumed_ = 0;
  ContentHasher hasher_;
};

std::unique_ptr<RawInput> file_raw_input(InputFile file);
// `data` must outlive the input.
std::unique_ptr<RawInput> memory_raw_input(std::string_view data);

}  // namespace tracedb
