#include "report/delimited.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "report/cell_text.h"
#include "report/escape.h"

namespace tracedb {

namespace {

// "-5", "+1.25", "-5.000 us": a sign, digits, and no more than a word behind a blank.
bool is_measure(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789.", 1);
  if (digits == 1) return false;
  if (digits == std::string_view::npos) return text.size() > 1;
  return text[digits] == ' ' && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(digits) + 1, text.end(),
                                            [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

// A spreadsheet runs a cell that begins like this; numbers are meant as numbers, with their unit too.
bool is_formula(std::string_view text) {
  if (text.empty() || std::string_view("=+-@").find(text[0]) == std::string_view::npos) return false;
  return text[0] == '=' || text[0] == '@' || !is_measure(text);
}

}  // namespace

std::string Delimited::field(const std::string& text, bool is_text) const {
  std::string escaped = escape_cell(text);
  if (is_text && options_.guard_formulas && is_formula(escaped)) escaped.insert(0, 1, '\'');
  return quote(escaped);
}

void Delimited::begin(const ReportHead&, std::span<const Column> columns) {
  columns_.assign(columns.begin(), columns.end());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (c > 0) out_ << delimiter();
    out_ << field(head_text(columns_[c], options_.time_unit), true);
  }
  out_ << line_end();
}

void Delimited::row(std::span<const Cell> cells) {
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) out_ << delimiter();
    const bool is_text = std::holds_alternative<std::string>(cells[c]);
    out_ << field(plain_text(cells[c], columns_[c].unit, options_.time_unit), is_text);
  }
  out_ << line_end();
}

}  // namespace tracedb
