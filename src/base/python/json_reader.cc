#include "base/python/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

#include "base/python/failure.h"
#include "base/python/text.h"
#include "base/text/ascii.h"

namespace tracedb::python {
namespace {

constexpr int kMostLevels = 992;           // of Python's 1000, less the calls that lead to the reader
constexpr std::size_t kMostDigits = 4300;  // of an integer, as sys.int_info says
constexpr std::string_view kSpace = " \t\n\r";

struct Constant {
  std::string_view word;
  Kind kind;
  bool flag;
  double number;
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::array kConstants = {Constant{"null", Kind::kNone, false, 0},
                                   Constant{"true", Kind::kBool, true, 0},
                                   Constant{"false", Kind::kBool, false, 0},
                                   Constant{"NaN", Kind::kFloat, false, std::numeric_limits<double>::quiet_NaN()},
                                   Constant{"Infinity", Kind::kFloat, false, kInfinity},
                                   Constant{"-Infinity", Kind::kFloat, false, -kInfinity}};

bool is_high_surrogate(char32_t c) { return c >= 0xD800 && c < 0xDC00; }
bool is_low_surrogate(char32_t c) { return c >= 0xDC00 && c < 0xE000; }

std::optional<char32_t> hex_value(std::string_view digits) {
  char32_t value = 0;
  for (const char c : digits) {
    const bool letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (!is_ascii_digit(c) && !letter) return std::nullopt;
    value = value * 16 + static_cast<char32_t>(is_ascii_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return value;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Value document(const ElementSink& element) {
    if (text_.starts_with("\xEF\xBB\xBF")) fail("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0);
    skip_space();
    Value value;
    if (element && at_ < text_.size() && text_[at_] == '[') {
      value.kind = Kind::kList;
      ++at_;
      list([&] {
        Value item = read_value(1);
        element(item);
      });
    } else {
      value = read_value(0);
    }
    skip_space();
    if (at_ < text_.size()) fail("Extra data", at_);
    return value;
  }

 private:
  [[noreturn]] void fail(std::string_view message, std::size_t position) const {
    const std::string_view before = text_.substr(0, position);
    const auto points = [](std::string_view part) {
      return std::count_if(part.begin(), part.end(),
                           [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; });
    };
    const std::size_t line = before.rfind('\n');  // npos + 1: 0
    throw failure("json.decoder.JSONDecodeError", fmt::format("{}: line {} column {} (char {})", message,
                                                              std::count(before.begin(), before.end(), '\n') + 1,
                                                              points(before.substr(line + 1)) + 1, points(before)));
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }
  [[nodiscard]] bool is(char c) const { return at_ < text_.size() && text_[at_] == c; }

  static void check_depth(int depth, std::string_view what) {
    if (depth > kMostLevels) {
      throw failure(
          "RecursionError",
          fmt::format("maximum recursion depth exceeded while decoding a JSON {} from a unicode string", what));
    }
  }

  Value read_value(int depth) {
    if (at_ >= text_.size()) fail("Expecting value", at_);
    Value value;
    switch (text_[at_]) {
      case '"':
        value.kind = Kind::kText;
        value.text = string();
        return value;
      case '{':
        check_depth(depth + 1, "object");
        value.kind = Kind::kDict;
        dict(depth + 1, value);
        return value;
      case '[':
        check_depth(depth + 1, "array");
        value.kind = Kind::kList;
        ++at_;
        list([&] { value.items.push_back(read_value(depth + 1)); });
        return value;
      default:
        return constant_or_number();
    }
  }

  Value constant_or_number() {
    Value value;
    for (const Constant& constant : kConstants) {
      if (!text_.substr(at_).starts_with(constant.word)) continue;
      at_ += constant.word.size();
      value.kind = constant.kind;
      value.flag = constant.flag;
      value.number = constant.number;
      return value;
    }
    number(value);
    return value;
  }

  // Behind '['.
  template <class Item>
  void list(Item item) {
    skip_space();
    if (is(']')) {
      ++at_;
      return;
    }
    while (true) {
      item();
      skip_space();
      if (is(']')) break;
      if (!is(',')) fail("Expecting ',' delimiter", at_);
      ++at_;
      skip_space();
    }
    ++at_;
  }

  void dict(int depth, Value& value) {
    ++at_;
    skip_space();
    if (is('}')) {
      ++at_;
      return;
    }
    while (true) {
      if (!is('"')) fail("Expecting property name enclosed in double quotes", at_);
      std::string key = string();
      skip_space();
      if (!is(':')) fail("Expecting ':' delimiter", at_);
      ++at_;
      skip_space();
      value.members.push_back({std::move(key), read_value(depth)});
      skip_space();
      if (is('}')) break;
      if (!is(',')) fail("Expecting ',' delimiter", at_);
      ++at_;
      skip_space();
    }
    ++at_;
  }

  void number(Value& value) {
    const std::size_t begin = at_;
    if (is('-')) ++at_;
    if (at_ >= text_.size() || !is_ascii_digit(text_[at_])) fail("Expecting value", begin);
    const auto skip_digits = [&] {
      while (at_ < text_.size() && is_ascii_digit(text_[at_])) ++at_;
    };
    if (is('0')) {
      ++at_;
    } else {
      skip_digits();
    }
    bool is_float = false;
    if (is('.') && at_ + 1 < text_.size() && is_ascii_digit(text_[at_ + 1])) {
      is_float = true;
      ++at_;
      skip_digits();
    }
    const std::size_t before_exponent = at_;
    if (is('e') || is('E')) {
      ++at_;
      if (is('-') || is('+')) ++at_;
      const std::size_t first = at_;
      skip_digits();
      is_float = is_float || at_ > first;
      if (at_ == first) at_ = before_exponent;
    }
    set_number(value, text_.substr(begin, at_ - begin), is_float);
  }

  static void set_number(Value& value, std::string_view token, bool is_float) {
    value.kind = is_float ? Kind::kFloat : Kind::kInt;
    if (is_float) {
      value.number = std::strtod(std::string(token).c_str(), nullptr);
      return;
    }
    const std::size_t digits = token.size() - (token.front() == '-' ? 1 : 0);
    if (digits > kMostDigits) {
      throw failure("ValueError",
                    fmt::format("Exceeds the limit ({} digits) for integer string conversion: value has {} "
                                "digits; use sys.set_int_max_str_digits() to increase the limit",
                                kMostDigits, digits));
    }
    value.text = token == "-0" ? "0" : token;
  }

  std::string string() {
    const std::size_t begin = at_++;
    std::string out;
    while (true) {
      const std::size_t plain = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\') {
        if (static_cast<unsigned char>(text_[at_]) < 0x20) fail("Invalid control character at", at_);
        ++at_;
      }
      out += text_.substr(plain, at_ - plain);
      if (at_ >= text_.size()) fail("Unterminated string starting at", begin);
      if (text_[at_++] == '"') return out;
      if (at_ >= text_.size()) fail("Unterminated string starting at", begin);
      escape(out);
    }
  }

  // Behind the backslash.
  void escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = text_[at_++];
    if (letter == 'u') return append_code_point(out, unicode_escape());
    const std::size_t position = kLetters.find(letter);
    if (position == std::string_view::npos) fail("Invalid \\escape", at_ - 2);
    out += kMeanings[position];
  }

  // Behind "\u".
  char32_t unicode_escape() {
    constexpr std::size_t kDigits = 4;
    // A character more must follow, the closing quote at least.
    if (at_ + kDigits >= text_.size()) fail("Invalid \\uXXXX escape", at_ - 1);
    const std::optional<char32_t> first = hex_value(text_.substr(at_, kDigits));
    if (!first) fail("Invalid \\uXXXX escape", at_ - 1);
    at_ += kDigits;
    if (!is_high_surrogate(*first) || at_ + 2 + kDigits >= text_.size() || text_.substr(at_, 2) != "\\u") return *first;
    const std::optional<char32_t> second = hex_value(text_.substr(at_ + 2, kDigits));
    if (!second) fail("Invalid \\uXXXX escape", at_ + 1);
    if (!is_low_surrogate(*second)) return *first;
    at_ += 2 + kDigits;
    return 0x10000 + ((*first & 0x3FFU) << 10U) + (*second & 0x3FFU);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Value read_json(std::string_view text, const ElementSink& element) { return Reader(text).document(element); }

}  // namespace tracedb::python
