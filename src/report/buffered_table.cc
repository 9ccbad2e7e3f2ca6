#include "report/buffered_table.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/error.h"
#include "base/text/decimal.h"
#include "base/text/split.h"
#include "report/sql_report.h"

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
  // Fits the largest value, but not so coarse that the smallest keeps fewer than three digits; microseconds with three
  // decimals are exact.
  [[nodiscard]] TimeUnit unit() const {
    const TimeUnit fitting = fitting_unit(most);
    const bool coarse = fitting == TimeUnit::kS || fitting == TimeUnit::kMs;
    return coarse && least < nanoseconds_per(fitting) / 10 ? TimeUnit::kUs : fitting;
  }
};

std::size_t column_index(const Report& report, std::string_view option, const std::string& name) {
  std::string known;
  for (std::size_t c = 0; c < report.columns.size(); ++c) {
    const Column& column = report.columns[c];
    if (strcasecmp(column.key.c_str(), name.c_str()) == 0 || strcasecmp(column.head.c_str(), name.c_str()) == 0)
      return c;
    known += (known.empty() ? "" : ", ") + column.key;
  }
  throw Error(ErrorCode::kUsage, fmt::format("{}: no column '{}'; there are {}", option, name, known));
}

// "12" is a text in a column that also holds "[head]".
bool less_text(const std::string& a, const std::string& b) {
  const auto x = parse_uint64(a);
  const auto y = parse_uint64(b);
  if (x && y && *x != *y) return *x < *y;
  return x.has_value() == y.has_value() ? a < b : x.has_value();
}

// Unknown before numbers before text, as SQLite orders them; whole numbers that are texts before other texts.
bool less(const Cell& a, const Cell& b) {
  const auto x = number(a);
  const auto y = number(b);
  if (x && y) return *x < *y;
  if (const auto* p = std::get_if<std::string>(&a), *q = std::get_if<std::string>(&b); p && q) return less_text(*p, *q);
  const auto rank = [](const Cell& cell) { return cell.index() == 0 ? 0 : (cell.index() == 3 ? 2 : 1); };
  return rank(a) < rank(b);
}

bool is_unknown(const Cell& cell) { return std::holds_alternative<std::monostate>(cell); }

// Unknown where all are.
Cell sum(std::span<const Row> rows, std::size_t column) {
  if (std::ranges::all_of(rows, [&](const Row& row) { return is_unknown(row[column]); })) return std::monostate{};
  std::int64_t integer = 0;
  double real = 0;
  bool whole = true;
  for (const Row& row : rows) {
    if (const auto* value = std::get_if<std::int64_t>(&row[column])) {
      if (__builtin_add_overflow(integer, *value, &integer)) {
        integer = *value > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
      }
    } else if (const auto* fraction = std::get_if<double>(&row[column])) {
      whole = false;
      real += *fraction;
    }
  }
  if (whole) return integer;
  return real + static_cast<double>(integer);
}

Cell extreme(std::span<const Row> rows, std::size_t column, OthersAggregate which) {
  Cell best;
  for (const Row& row : rows) {
    const Cell& cell = row[column];
    if (is_unknown(cell)) continue;
    if (is_unknown(best) || (which == OthersAggregate::kMin ? less(cell, best) : less(best, cell))) best = cell;
  }
  return best;
}

// Weighted by what each mean is of: total / mean, which is fewer than the instances where some durations are unknown.
Cell mean(const Report& report, std::span<const Row> rows, std::size_t column) {
  const auto totals = find_column(report.columns, "total_time");
  const auto instances = find_column(report.columns, "instances");
  if (!totals || !instances) return std::monostate{};
  double total = 0;
  double count = 0;
  for (const Row& row : rows) {
    const auto mean = number(row[column]);
    if (!mean) continue;
    const double row_total = number(row[*totals]).value_or(0);
    total += row_total;
    count += *mean == 0 ? number(row[*instances]).value_or(0) : std::round(row_total / *mean);
  }
  if (count == 0) return std::monostate{};
  return total / count;
}

// The sum of the parts as a share of the sum of the wholes.
Cell mean_share(const Report& report, std::span<const Row> rows, std::size_t column) {
  const auto of = find_column(report.columns, report.columns[column].whole);
  double parts = 0, wholes = 0;
  for (const Row& row : rows) {
    const auto share = number(row[column]), whole = of ? number(row[*of]) : std::nullopt;
    if (!share || !whole) continue;
    parts += *share * *whole;
    wholes += *whole;
  }
  return wholes > 0 ? Cell(parts / wholes) : Cell();
}

Cell others_cell(const Report& report, std::span<const Row> rows, std::size_t column) {
  switch (report.columns[column].others) {
    case OthersAggregate::kLabel:
      return std::string("[others]");
    case OthersAggregate::kSum:
      return sum(rows, column);
    case OthersAggregate::kMin:
    case OthersAggregate::kMax:
      return extreme(rows, column, report.columns[column].others);
    case OthersAggregate::kMean:
      return mean(report, rows, column);
    case OthersAggregate::kNone:
      break;
  }
  return report.columns[column].whole.empty() ? Cell() : mean_share(report, rows, column);
}

Cell plain_mean(std::span<const Row> rows, std::size_t column) {
  double total = 0;
  std::size_t count = 0;
  for (const Row& row : rows) {
    if (is_unknown(row[column])) continue;
    total += number(row[column]).value_or(0);
    ++count;
  }
  if (count == 0) return std::monostate{};
  return total / static_cast<double>(count);
}

template <class Kind>
bool any_is(std::span<const Row> rows, std::size_t column) {
  return std::ranges::any_of(rows, [column](const Row& row) { return std::holds_alternative<Kind>(row[column]); });
}

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
  TimeRange sums, others;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].unit != Unit::kTime) continue;
    for (const Row& row : rows_) (is_sum(c) ? sums : others).add(row[c]);
  }
  // A total that is small is a small part, and 0.0 says so: only figures of single events ask for a finer unit.
  TimeRange all = others.most > 0 ? others : sums;
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
    std::ranges::sort(times);
    longest = std::max(longest, digits(times.back()));
    wanted = std::max({wanted, kOfLongest - digits(times.back()), kOfUsual - digits(times[times.size() / 2])});
  }
  return std::clamp(std::min(wanted, kMost - longest), 0, kDecimals);
}

bool BufferedTable::is_numeric(std::size_t column) const {
  const Unit unit = columns_[column].unit;
  if (unit == Unit::kText) return false;
  if (unit != Unit::kAny) return true;
  return !rows_.empty() && !any_is<std::string>(rows_, column);
}

bool BufferedTable::is_empty(std::size_t column) const {
  return std::ranges::all_of(rows_, [column](const Row& row) {
    const auto* text = std::get_if<std::string>(&row[column]);
    return text != nullptr ? text->empty() : number(row[column]).value_or(0) == 0;
  });
}

// As which a number is shown: the fractions of reports have three significant digits.
Unit BufferedTable::unit_of(std::size_t column) const {
  const bool plain = columns_[column].unit == Unit::kAny && any_is<double>(rows_, column) && !is_exact_;
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

std::optional<std::size_t> find_column(std::span<const Column> columns, std::string_view key) {
  const auto found = std::ranges::find_if(columns, [&](const Column& column) { return column.key == key; });
  return found == columns.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - columns.begin()));
}

SortKey parse_sort_key(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {std::string(text), false};
  const std::string_view order = text.substr(colon + 1);
  if (order != "asc" && order != "desc") {
    throw Error(ErrorCode::kUsage, fmt::format("--sort {}: the order is asc or desc", text));
  }
  return {std::string(text.substr(0, colon)), order == "asc"};
}

void sort_rows(Report& report, const SortKey& key) {
  const std::size_t column = column_index(report, "--sort", key.column);
  std::ranges::stable_sort(report.rows, [&](const Row& a, const Row& b) {
    if (is_unknown(a[column]) || is_unknown(b[column])) return !is_unknown(a[column]) && is_unknown(b[column]);
    return key.ascending ? less(a[column], b[column]) : less(b[column], a[column]);
  });
}

std::size_t rows_that_make_up(const Report& report, double percent) {
  const auto found = std::ranges::find_if(report.columns, [](const Column& column) {
    return column.unit == Unit::kPercent && column.others == OthersAggregate::kSum;
  });
  if (found == report.columns.end()) throw Error(ErrorCode::kUsage, "--cum: this table has no shares that add up");
  const auto column = static_cast<std::size_t>(found - report.columns.begin());
  const auto share = [&](const Row& row) { return number(row[column]).value_or(0); };
  double all = 0, first = 0;
  for (const Row& row : report.rows) all += share(row);
  std::size_t count = 0;
  while (count < report.rows.size() && first < all * percent / 100) first += share(report.rows[count++]);
  return count;
}

void limit_rows(Report& report, std::size_t limit) {
  if (report.whole || limit == 0 || report.rows.size() <= limit) return;
  const std::span<const Row> cut = std::span<const Row>(report.rows).subspan(limit);
  Row others;
  for (std::size_t c = 0; c < report.columns.size(); ++c) others.push_back(others_cell(report, cut, c));
  report.rows.resize(limit);
  report.rows.push_back(std::move(others));
}

void add_extremes(Report& report) {
  std::vector<Row> rows;
  std::ranges::remove_copy_if(report.rows, std::back_inserter(rows), is_unknown, [](const Row& row) { return row[0]; });
  if (rows.size() < 2) return;
  std::vector<Row> footer = {{"mean"}, {"min"}, {"max"}};
  for (std::size_t c = 1; c < report.columns.size(); ++c) {
    // What has no unit is a name, such as the number of a stream.
    const bool text = report.columns[c].unit == Unit::kAny || any_is<std::string>(rows, c);
    const bool share = !report.columns[c].whole.empty();
    footer[0].push_back(text ? Cell() : share ? mean_share(report, rows, c) : plain_mean(rows, c));
    footer[1].push_back(text ? Cell() : extreme(rows, c, OthersAggregate::kMin));
    footer[2].push_back(text ? Cell() : extreme(rows, c, OthersAggregate::kMax));
  }
  report.footer.insert(report.footer.end(), footer.begin(), footer.end());
}

void choose_columns(Report& report, std::string_view names) {
  std::vector<std::size_t> chosen;
  for (const std::string_view name : split_text(names, ',')) {
    chosen.push_back(column_index(report, "--columns", std::string(name)));
  }
  const auto pick = [&](auto& all) {
    std::remove_reference_t<decltype(all)> out;
    for (const std::size_t column : chosen) out.push_back(all[column]);
    all = std::move(out);
  };
  pick(report.columns);
  for (Row& row : report.rows) pick(row);
}

}  // namespace tracedb
