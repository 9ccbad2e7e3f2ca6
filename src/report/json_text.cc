#include "report/json_text.h"

#include <fmt/format.h>

#include <cmath>

#include "report/escape.h"

namespace tracedb {

std::string json_string(std::string_view text) { return '"' + escape_json(text) + '"'; }

std::string json_value(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string>(&cell)) return json_string(*text);
  const auto* real = std::get_if<double>(&cell);
  return real != nullptr && std::isfinite(*real) ? fmt::format("{}", *real) : "null";
}

std::string json_list(std::span<const std::string> texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ", ";
    out += json_string(text);
  }
  return out + ']';
}

std::string json_object(std::span<const Column> columns, std::span<const Cell> cells) {
  std::string out = "{";
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) out += ", ";
    out += json_string(columns[c].key) + ": " + json_value(cells[c]);
  }
  return out + '}';
}

}  // namespace tracedb
