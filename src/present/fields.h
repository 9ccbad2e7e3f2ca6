// The columns of a section of a comparison: each is declared once, with its unit, its meaning and its cell of an
// item. Tables, --columns, `trace-query schema` and the help follow from the declaration.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/sql_report.h"

namespace tracedb {

template <class Item>
struct Field {
  Column column;
  std::function<Cell(const Item&)> cell;
};

template <class Item>
using Fields = std::vector<Field<Item>>;

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

}  // namespace tracedb
