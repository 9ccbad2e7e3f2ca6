#include "base/python/json_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "base/python/text.h"

namespace tracedb::python {
namespace {

std::string unicode_escape(char32_t c) {
  const auto number = static_cast<std::uint32_t>(c);
  if (number < 0x10000) return fmt::format("\\u{:04x}", number);
  const std::uint32_t above = number - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (above >> 10U), 0xDC00 + (above & 0x3FFU));
}

std::string escaped(char32_t c) {
  constexpr std::string_view kCharacters = "\"\\\n\r\t\b\f", kLetters = "\"\\nrtbf";
  const std::size_t position = c < 0x80 ? kCharacters.find(static_cast<char>(c)) : std::string_view::npos;
  return position == std::string_view::npos ? unicode_escape(c) : std::string("\\") + kLetters[position];
}

}  // namespace

void JsonWriter::key(std::string_view name) {
  text(name);
  out_ += ": ";
  behind_key_ = true;
}

void JsonWriter::text(std::string_view value) {
  begin_value();
  out_ += '"';
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(value, at);
    const bool plain = c >= 0x20 && c != '"' && c != '\\' && (c < 0x7F || non_ascii_ == NonAscii::kRaw);
    out_ += plain ? std::string(value.substr(begin, at - begin)) : escaped(c);
  }
  out_ += '"';
}

void JsonWriter::real(double value) {
  if (std::isnan(value)) return literal("NaN");
  if (std::isinf(value)) return literal(value > 0 ? "Infinity" : "-Infinity");
  literal(float_text(value));
}

void JsonWriter::literal(std::string_view token) {
  begin_value();
  out_ += token;
}

void JsonWriter::scalar(const Value& value) {
  if (value.kind == Kind::kBool) return literal(value.flag ? "true" : "false");
  if (value.kind == Kind::kInt) return literal(value.text);
  if (value.kind == Kind::kFloat) return real(value.number);
  if (value.kind == Kind::kText) return text(value.text);
  none();
}

void JsonWriter::open(char bracket) {
  begin_value();
  out_ += bracket;
  empty_.push_back(true);
}

void JsonWriter::close(char bracket) {
  const bool empty = empty_.back();
  empty_.pop_back();
  if (!empty) new_line();
  out_ += bracket;
}

void JsonWriter::begin_value() {
  if (behind_key_) {
    behind_key_ = false;
    return;
  }
  if (empty_.empty()) return;
  if (!empty_.back()) out_ += ',';
  empty_.back() = false;
  new_line();
}

void JsonWriter::new_line() {
  constexpr std::size_t kIndent = 2;
  out_ += '\n';
  out_.append(kIndent * empty_.size(), ' ');
}

}  // namespace tracedb::python
