// Writes the text of a trace to a file, to a gzip file, or only counts its bytes. Text is collected in a large buffer
// and written when that is full. Single thread. Errors: Error{kResource} when writing fails.
//
// And the JSON of ground truths, whose texts have no characters that need escaping.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

struct gzFile_s;  // of zlib

namespace tracedb {

struct Thousandths {  // 1234567 -> "1234.567": ns as us; or "1234"
  std::int64_t value;
  bool is_cut = false;
};
struct Millionths {
  std::int64_t value;
};

class TextOutput {
 public:
  // Writes to `path`, compressed when it ends in ".gz". An empty path only counts.
  explicit TextOutput(const std::string& path);

  // Texts as they are, and numbers in decimal digits.
  template <class... Pieces>
  void put(const Pieces&... pieces) {
    (piece(pieces), ...);
  }

  // Bytes of text so far, before compression.
  [[nodiscard]] std::uint64_t size() const { return flushed_ + buffer_.size(); }
  // Everything on its way to the disk; errors of the last write surface here.
  void close();

 private:
  static constexpr std::size_t kCapacity = std::size_t{4} << 20;

  void piece(std::string_view text) {
    if (buffer_.size() + text.size() > kCapacity) flush();
    buffer_.append(text);
  }
  template <std::integral Integer>
  void piece(Integer value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    piece(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }
  void piece(Thousandths number) {
    if (number.is_cut) return piece(number.value / 1000);
    fixed(number.value, 1000, 3);
  }
  void piece(Millionths number) { fixed(number.value, 1'000'000, 6); }
  void fixed(std::int64_t value, std::int64_t unit, int places);
  void flush();
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;  // null: none
  std::string buffer_;
  std::uint64_t flushed_ = 0;
};

// A file of this text alone.
void write_file(const std::string& path, std::string_view text);

// JSON that is finished; any other text is one to quote.
struct Json {
  std::string text;
};

inline void append_json(std::string& out, const Json& value) { out += value.text; }
inline void append_json(std::string& out, std::string_view value) { out.append(1, '"').append(value).append(1, '"'); }
void append_json(std::string& out, std::integral auto value) {
  if constexpr (std::is_same_v<decltype(value), bool>) {
    out += value ? "true" : "false";
  } else {
    out += std::to_string(value);
  }
}

// "key": value, "key": value
template <class Value, class... Rest>
void append_members(std::string& out, std::string_view key, const Value& value, const Rest&... rest) {
  append_json(out, key);
  out += ": ";
  append_json(out, value);
  if constexpr (sizeof...(rest) > 0) append_members(out += ", ", rest...);
}
template <class... Members>
std::string json_members(const Members&... members) {
  std::string out;
  append_members(out, members...);
  return out;
}
template <class... Members>
Json json_object(const Members&... members) {
  return {"{" + json_members(members...) + "}"};
}

// What `value` makes of each item, separated by commas; `line` goes before each, or a space between two.
template <class Range, class Value = std::identity>
std::string json_items(const Range& range, const Value& value = {}, std::string_view line = {}) {
  std::string text;
  for (const auto& item : range) {
    if (!text.empty()) text += line.empty() ? ", " : ",";
    append_json(text += line, value(item));
  }
  return text;
}
template <class Range, class Value = std::identity>
Json json_list(const Range& range, const Value& value = {}, std::string_view line = {}) {
  return {"[" + json_items(range, value, line) + "]"};
}
// Of a map, a line for each key.
template <class Map, class Value = std::identity>
Json json_map(const Map& map, const Value& value = {}) {
  const auto member = [&](const auto& entry) {
    return Json{json_members(std::string_view(entry.first), value(entry.second))};
  };
  return {"{" + json_items(map, member, "\n    ") + "}"};
}

}  // namespace tracedb
