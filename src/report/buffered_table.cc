#include "report/buffered_table.h"

#include <algorithm>
#include <cmath>

namespace tracedb {

void BufferedTable::begin(const ReportHead&, std::span<const Column> columns) {
  columns_.assign(columns.begin(), columns.end());
}

void BufferedTable::row(std::span<const Cell> cells) { rows_.emplace_back(cells.begin(), cells.end()); }

TimeUnit BufferedTable::column_unit(std::size_t column) const {
  if (options_.time_unit != TimeUnit::kAuto) return options_.time_unit;
  double largest = 0;
  for (const Row& row : rows_) largest = std::max(largest, std::fabs(number(row[column]).value_or(0)));
  return fitting_unit(largest);
}

bool BufferedTable::is_numeric(std::size_t column) const {
  const Unit unit = columns_[column].unit;
  if (unit == Unit::kText) return false;
  if (unit != Unit::kAny) return true;
  return !rows_.empty() && std::none_of(rows_.begin(), rows_.end(), [column](const Row& row) {
    return std::holds_alternative<std::string>(row[column]);
  });
}

void BufferedTable::end(std::span<const std::string>) {
  Text text;
  text.rows.resize(rows_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const TimeUnit unit = column_unit(c);
    text.heads.push_back(escape(head_text(columns_[c], unit)));
    text.right_aligned.push_back(is_numeric(c));
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      text.rows[r].push_back(escape(human_text(rows_[r][c], columns_[c].unit, unit)));
    }
  }
  print(text);
  rows_.clear();
}

}  // namespace tracedb
