#include "report/delimited.h"

#include "report/cell_text.h"
#include "report/escape.h"

namespace tracedb {

std::string Delimited::field(const std::string& text, bool is_text) const {
  std::string escaped = escape_text(text);
  // A spreadsheet runs a cell that begins like this; numbers of ours are meant as numbers.
  const bool formula =
      is_text && !escaped.empty() && std::string_view("=+-@").find(escaped[0]) != std::string_view::npos;
  if (formula && options_.guard_formulas) escaped.insert(0, 1, '\'');
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
