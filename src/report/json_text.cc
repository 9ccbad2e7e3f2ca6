#include "report/json_text.h"

#include <fmt/format.h>

#include <cmath>

#include "report/escape.h"

namespace tracedb {

namespace {

void append_json_value(std::string& out, const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    const fmt::format_int digits(*integer);
    out.append(digits.data(), digits.size());
  } else if (const auto* text = std::get_if<std::string>(&cell)) {
    out += '"';
    append_escaped_json(out, *text);
    out += '"';
  } else {
    const auto* real = std::get_if<double>(&cell);
    out += real != nullptr && std::isfinite(*real) ? fmt::format("{}", *real) : "null";
  }
}

}  // namespace

std::string json_string(std::string_view text) { return '"' + escape_json(text) + '"'; }

std::string json_list(std::span<const std::string> texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ", ";
    out += json_string(text);
  }
  return out + ']';
}

std::string json_object(const Figures& figures) {
  std::string out;
  for (const auto& [name, value] : figures) {
    out += (out.empty() ? "{" : ", ") + json_string(name) + ": ";
    append_json_value(out, value);
  }
  return out.empty() ? "{}" : out + '}';
}

void JsonWriter::separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  out_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  value(name);
  out_ += ':';
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) { return json(quote_(text)); }

JsonWriter& JsonWriter::value(double real) { return json(std::isfinite(real) ? fmt::format("{}", real) : "null"); }

JsonWriter& JsonWriter::json(std::string_view value) {
  separate();
  out_ += value;
  return *this;
}

JsonObjects::JsonObjects(std::span<const Column> columns) {
  for (const Column& column : columns) {
    keys_.push_back((keys_.empty() ? "{" : ", ") + json_string(column.key) + ": ");
    is_json_.push_back(column.is_json);
  }
}

void JsonObjects::append(std::string& out, std::span<const Cell> cells) const {
  for (std::size_t c = 0; c < cells.size(); ++c) {
    out += keys_[c];
    const auto* text = std::get_if<std::string>(&cells[c]);
    if (is_json_[c] && text != nullptr) {
      out += *text;
    } else {
      append_json_value(out, cells[c]);
    }
  }
  out += cells.empty() ? "{}" : "}";
}

}  // namespace tracedb
