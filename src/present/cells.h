// Cells and columns that the sections of a comparison share, and the columns that tables for people leave out.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "report/sql_report.h"

namespace tracedb {

// The columns of a table: each is declared once, with its unit and its meaning, and has a cell of an item. --columns,
// `trace-query schema` and the help follow from the declaration.
template <class Item>
struct Field {
  Column column;
  std::function<Cell(const Item&)> cell;
};

template <class Item>
using Fields = std::vector<Field<Item>>;

template <class Item>
using Cells = std::map<std::string_view, std::function<Cell(const Item&)>>;  // by the key of their columns

// Those of a table whose columns schema/columns declares.
template <class Item>
struct DeclaredFields {
  std::string_view table;
  Cells<Item> cells;

  operator Fields<Item>() const {
    Fields<Item> out;
    for (const Column& column : declared_columns(table)) out.push_back({column, cells.at(column.key)});
    return out;
  }
};

template <class Item>
std::vector<Column> columns_of(const Fields<Item>& fields) {
  std::vector<Column> columns;
  for (const Field<Item>& field : fields) columns.push_back(field.column);
  return columns;
}

template <class Item>
Row row_of(const Fields<Item>& fields, const Item& item) {
  Row row;
  row.reserve(fields.size());
  for (const Field<Item>& field : fields) row.push_back(field.cell(item));
  return row;
}

// A table that is made of an input: its columns, and how.
template <class Input>
struct TableOf {
  std::vector<Column> (*columns)();
  Report (*make)(const Input& input);
};

// A table of nothing but lines, each of which `lines` gives to its second argument.
template <class Line>
using AddLine = std::function<void(const Line&)>;
template <class Input, const auto& fields, auto lines>
constexpr TableOf<Input> kTableOfLines = {
    [] { return columns_of(fields); },
    [](const Input& input) {
      Report out{columns_of(fields), {}};
      lines(input, [&out](const auto& line) { out.rows.push_back(row_of(fields, line)); });
      return out;
    }};

// Columns of a kind. A label is [others] in the row that stands for those a limit cuts off; a sum is added up there. A
// kept column stays where a terminal has no room for all, the text of a wrapped one goes on in the next line.
using Text = std::string_view;
inline Column text_column(Text key, Text head, Text meaning, Fit fit = Fit::kUsual) {
  return {std::string(key), std::string(head), Unit::kText, OthersAggregate::kNone, fit, meaning};
}
inline Column label_column(Text key, Text head, Text meaning, Fit fit = Fit::kUsual) {
  return {std::string(key), std::string(head), Unit::kText, OthersAggregate::kLabel, fit, meaning};
}
inline Column figure_column(Text key, Text head, Unit unit, Text meaning, Fit fit = Fit::kUsual) {
  return {std::string(key), std::string(head), unit, OthersAggregate::kNone, fit, meaning};
}
inline Column sum_column(Text key, Text head, Unit unit, Text meaning, Fit fit = Fit::kUsual) {
  return {std::string(key), std::string(head), unit, OthersAggregate::kSum, fit, meaning};
}

// A count per unit: an integer where it is one, for people with three decimals at most.
Cell count_cell(double sum, std::int64_t units, bool human_readable);
Cell time_cell(double ns);                               // to the nearest nanosecond
Cell share_cell(double part, double whole);              // percent; unknown of nothing
Cell share_of(std::int64_t part, std::int64_t whole);    // the same of sums, which are not below 0
Cell ratio_cell(double baseline, double candidate);      // candidate / baseline; unknown unless both are more than 0
std::string marked(std::string verdict, double change);  // "▲ worse", for people

// Unknown where there is nothing.
inline Cell text_cell(std::string_view text) { return text.empty() ? Cell{} : Cell(std::string(text)); }
template <class Value>
Cell known_cell(const std::optional<Value>& value) {
  return value ? Cell(*value) : Cell{};
}

// "▲ worse", "inconclusive: 3/4 steps"; the mark and caveats for people only.
std::string verdict_text(const Change& change, bool human_readable);

// A measure of the steps of one kind, of two traces or of a trace and a baseline file.
struct MeasuredChange {
  std::string phase, measure;
  const Change& change;
  bool human_readable = true;
};
extern const Fields<MeasuredChange> kMeasuredChangeFields;

// Nothing where no step of a sample has the measure.
Cell mean_cell(const MeanDraws& sample, std::size_t steps);
Cell cell_of_both(const Change& change, double value);
// Of an end of its interval; for people, where that says what is known.
Cell end_cell(const Change& change, double value, bool human_readable);

void drop_column(Report& report, std::string_view key);  // where it has one

// Removes those of the columns with a key that is `chosen` in which every cell `says_nothing`.
void drop_columns(Report& report, const std::function<bool(std::string_view key)>& chosen,
                  const std::function<bool(const Cell& cell)>& says_nothing);
void name_cycles(Report& report);  // for people, who would take times that are cycles for microseconds
inline constexpr const char* kCyclesNote = "times are cycles: read 1 ns as 1 cycle";  // for machines

// Removes those of the named columns in which no row has anything.
void drop_empty_columns(Report& report, const std::vector<std::string>& keys);

// Where no row has a verdict or an interval, as with too few steps: leaves out the columns of verdicts and intervals.
// For people.
void drop_inconclusive_columns(Report& report);

// Joins several candidates against one baseline into one table: a row for each item, columns for each candidate.

// Reports of the same section, one for each candidate. Columns of the baseline appear once, those
// of candidate i as "<key>_<i>" and "<head> <i>", counted from 1. Rows with the same identity (phase, layer, item, op,
// name ...) are one row.
Report join_candidates(std::span<const Report> reports);

}  // namespace tracedb
