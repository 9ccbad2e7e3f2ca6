#include "report/buffered_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tracedb {

// Two sides in two units could not be compared at a glance.
void BufferedTable::begin(const ReportHead& head, std::span<const Column> columns) {
  columns_.assign(columns.begin(), columns.end());
  one_unit_ = head.name == "compare";
}

void BufferedTable::row(std::span<const Cell> cells) { rows_.emplace_back(cells.begin(), cells.end()); }

// Totals have a unit of their own, except of a comparison. All other times share one, so that Avg, Min and Max can be
// compared at a glance.
TimeUnit BufferedTable::column_unit(std::size_t column) const {
  if (options_.time_unit != TimeUnit::kAuto) return options_.time_unit;
  if (one_unit_ || columns_[column].others != OthersAggregate::kSum) return shared_unit();
  double largest = 0;
  for (const Row& row : rows_) largest = std::max(largest, std::fabs(number(row[column]).value_or(0)));
  return fitting_unit(largest);
}

// Fits the largest value, but not so coarse that the smallest keeps fewer than three digits. Microseconds with their
// three decimals are exact.
TimeUnit BufferedTable::shared_unit() const {
  double largest = 0;
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].unit != Unit::kTime || (!one_unit_ && columns_[c].others == OthersAggregate::kSum)) continue;
    for (const Row& row : rows_) {
      const double value = std::fabs(number(row[c]).value_or(0));
      largest = std::max(largest, value);
      if (value > 0) smallest = std::min(smallest, value);
    }
  }
  const TimeUnit fitting = fitting_unit(largest);
  const bool coarse = fitting == TimeUnit::kS || fitting == TimeUnit::kMs;
  return coarse && smallest < nanoseconds_per(fitting) / 10 ? TimeUnit::kUs : fitting;
}

bool BufferedTable::is_numeric(std::size_t column) const {
  const Unit unit = columns_[column].unit;
  if (unit == Unit::kText) return false;
  if (unit != Unit::kAny) return true;
  return !rows_.empty() && std::none_of(rows_.begin(), rows_.end(), [column](const Row& row) {
    return std::holds_alternative<std::string>(row[column]);
  });
}

bool BufferedTable::is_empty(std::size_t column) const {
  return std::all_of(rows_.begin(), rows_.end(),
                     [column](const Row& row) { return std::holds_alternative<std::monostate>(row[column]); });
}

void BufferedTable::end(std::span<const std::string>) {
  Text text;
  text.rows.resize(rows_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const TimeUnit unit = column_unit(c);
    text.heads.push_back(escape(head_text(columns_[c], unit)));
    text.right_aligned.push_back(is_numeric(c));
    text.optional.push_back(is_numeric(c) && columns_[c].unit != Unit::kAny);
    text.fit.push_back(columns_[c].fit);
    text.empty.push_back(is_empty(c));
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      text.rows[r].push_back(escape(human_text(rows_[r][c], columns_[c].unit, unit)));
    }
  }
  print(text);
  rows_.clear();
}

}  // namespace tracedb
