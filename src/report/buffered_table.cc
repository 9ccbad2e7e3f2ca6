#include "report/buffered_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

namespace tracedb {

namespace {

// Of the times that are not 0.
struct TimeRange {
  double least = std::numeric_limits<double>::infinity(), most = 0;

  void add(const Cell& cell) {
    const double value = std::fabs(number(cell).value_or(0));
    most = std::max(most, value);
    if (value > 0) least = std::min(least, value);
  }
  void add(const TimeRange& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
  // Fits the largest value, but not so coarse that the smallest keeps fewer than three digits; microseconds with three
  // decimals are exact.
  [[nodiscard]] TimeUnit unit() const {
    const TimeUnit fitting = fitting_unit(most);
    const bool coarse = fitting == TimeUnit::kS || fitting == TimeUnit::kMs;
    return coarse && least < nanoseconds_per(fitting) / 10 ? TimeUnit::kUs : fitting;
  }
};

}  // namespace

// Two traces in two units could not be compared at a glance.
void BufferedTable::begin(const ReportHead& head, std::span<const Column> columns) {
  columns_.assign(columns.begin(), columns.end());
  one_unit_ = head.name == "compare";
  is_exact_ = head.name == "sql";
  is_report_ = head.section.empty() && !is_exact_;
}

void BufferedTable::row(std::span<const Cell> cells) { rows_.emplace_back(cells.begin(), cells.end()); }

bool BufferedTable::is_sum(std::size_t column) const { return columns_[column].others == OthersAggregate::kSum; }

// One for the table, so that all times can be compared at a glance; where the totals would have too many digits then,
// they have one of their own.
BufferedTable::TimeUnits BufferedTable::time_units() const {
  constexpr double kMostShown = 1e7;
  if (options_.time_unit != TimeUnit::kAuto) return {options_.time_unit, options_.time_unit};
  TimeRange sums, others, all;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].unit != Unit::kTime) continue;
    for (const Row& row : rows_) (is_sum(c) ? sums : others).add(row[c]);
  }
  // A total that is small is a small part, and 0.0 says so: only figures of single events ask for a finer unit.
  all.add(others.most > 0 ? others : sums);
  all.most = std::max(sums.most, others.most);
  const TimeUnit unit = all.unit();
  if (one_unit_ || all.most / nanoseconds_per(unit) < kMostShown) return {unit, unit};
  return {fitting_unit(sums.most), others.unit()};
}

// So many that the longest of each column keeps three significant digits and the usual one two, but no more than six in
// the longest of all.
std::optional<int> BufferedTable::decimals_of_sums(TimeUnit unit) const {
  constexpr int kOfLongest = 3, kOfUsual = 2, kMost = 6, kDecimals = 3;
  if (unit == TimeUnit::kNs) return 0;
  const auto digits = [unit](double ns) {
    return static_cast<int>(std::floor(std::log10(ns / nanoseconds_per(unit)))) + 1;
  };
  int wanted = 0, longest = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].unit != Unit::kTime || !is_sum(c)) continue;
    std::vector<double> times;
    for (const Row& row : rows_) {
      if (const double time = std::fabs(number(row[c]).value_or(0)); time > 0) times.push_back(time);
    }
    if (times.empty()) continue;
    std::sort(times.begin(), times.end());
    longest = std::max(longest, digits(times.back()));
    wanted = std::max({wanted, kOfLongest - digits(times.back()), kOfUsual - digits(times[times.size() / 2])});
  }
  return std::clamp(std::min(wanted, kMost - longest), 0, kDecimals);
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
  return std::all_of(rows_.begin(), rows_.end(), [column](const Row& row) {
    const auto* text = std::get_if<std::string>(&row[column]);
    return text != nullptr ? text->empty() : number(row[column]).value_or(0) == 0;
  });
}

// As which a number is shown: the fractions of reports have three significant digits.
Unit BufferedTable::unit_of(std::size_t column) const {
  const bool fractions = std::any_of(rows_.begin(), rows_.end(),
                                     [column](const Row& row) { return std::holds_alternative<double>(row[column]); });
  const bool plain = columns_[column].unit == Unit::kAny && fractions && !is_exact_;
  return plain ? Unit::kRatio : columns_[column].unit;
}

// What is not declared: the name of a row stays, other texts go before it, numbers of things before them, then figures.
// Columns of the user's own go from the last on.
Fit BufferedTable::fit_of(std::size_t column) const {
  constexpr int kText = 3, kThing = 2;
  const Column& of = columns_[column];
  Fit fit = of.fit;
  if (of.others == OthersAggregate::kLabel) fit.priority = kKeyPriority;
  if (fit.priority > 0) return fit;
  fit.priority = fit.wrapped                        ? Fit::kWrapped.priority
                 : !is_numeric(column) || is_exact_ ? kText
                 : of.unit == Unit::kAny            ? kThing
                                                    : 0;
  return fit;
}

BufferedTable::Text BufferedTable::text_of_rows() const {
  Text text;
  text.rows.resize(rows_.size());
  const TimeUnits units = time_units();
  const std::optional<int> decimals = decimals_of_sums(units.sums);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const TimeUnit unit = is_sum(c) ? units.sums : units.others;
    const Unit kind = unit_of(c);
    text.heads.push_back(escape(head_text(columns_[c], unit)));
    text.right_aligned.push_back(is_numeric(c));
    text.fit.push_back(fit_of(c));
    text.empty.push_back(is_empty(c));
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      text.rows[r].push_back(escape(human_text(rows_[r][c], kind, unit, is_sum(c) ? decimals : std::nullopt)));
    }
  }
  return text;
}

// What is not known is left out.
BufferedTable::Text BufferedTable::text_of_one_row() const {
  Text text{{"Item", "Value"}, {false, false}, {false, false}, {Fit{9}, Fit::kWrapped}, {}};
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Cell& cell = rows_.front()[c];
    if (std::holds_alternative<std::monostate>(cell)) continue;
    const bool time = columns_[c].unit == Unit::kTime;
    text.rows.push_back({escape(columns_[c].head), escape(time ? fact_text(cell, Unit::kTime, options_.time_unit)
                                                               : human_text(cell, unit_of(c), TimeUnit::kNs))});
  }
  return text;
}

void BufferedTable::end(std::span<const std::string>) {
  const bool as_list =
      options_.one_row_as_list && is_report_ && rows_.size() == 1 && columns_.size() > kMostColumnsOfOneRow;
  print(as_list ? text_of_one_row() : text_of_rows());
  rows_.clear();
}

}  // namespace tracedb
