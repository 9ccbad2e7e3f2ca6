// Writes the text of a trace to a file, to a gzip file, or only counts its bytes. Text is collected in a large buffer
// and written when that is full. Single thread. Errors: Error{kResource} when writing fails.
#pragma once

#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace tracedb {

class TextOutput {
 public:
  // Writes to `path`, compressed when it ends in ".gz". An empty path only counts.
  explicit TextOutput(const std::string& path);
  ~TextOutput();
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  void text(std::string_view piece) {
    if (buffer_.size() + piece.size() > kCapacity) flush();
    buffer_.append(piece);
  }
  void number(std::int64_t value) { integer(value); }
  void number(std::uint64_t value) { integer(value); }
  // 1234567 -> "1234.567": ns as us, or any other count of thousandths.
  void thousandths(std::int64_t value) { fixed(value, 1000, 3); }
  void millionths(std::int64_t value) { fixed(value, 1'000'000, 6); }

  // Bytes of text so far, before compression.
  [[nodiscard]] std::uint64_t size() const { return flushed_ + buffer_.size(); }
  // Everything on its way to the disk; errors of the last write surface here.
  void close();

 private:
  static constexpr std::size_t kCapacity = std::size_t{4} << 20;
  struct Sink;

  template <class Integer>
  void integer(Integer value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text({digits, static_cast<std::size_t>(end - digits)});
  }
  void fixed(std::int64_t value, std::int64_t unit, int places);
  void flush();

  std::string buffer_;
  std::uint64_t flushed_ = 0;
  std::unique_ptr<Sink> sink_;
};

}  // namespace tracedb
