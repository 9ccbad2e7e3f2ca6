#include "trace_query/commands/serve/answers.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

#include "base/text/decimal.h"
#include "trace_query/report_shapes.h"

namespace tracedb {
namespace {

using python::Kind;
using python::Value;

std::span<const Value> items_of(const Value& document, std::string_view key) {
  const Value* const found = document.find(key);
  return found == nullptr ? std::span<const Value>() : found->items;
}

Cell cell_of(const Value& value) {
  switch (value.kind) {
    case Kind::kNone:
      return {};
    case Kind::kInt:
      if (const auto number = parse_int64(value.text)) return *number;
      return value.number;
    case Kind::kFloat:
      return value.number;
    default:
      return python::str(value);
  }
}

// As declared; of several tables of the command, the section's own comes first.
Column column_of(const std::string& key, std::string_view section, const std::vector<ReportShape>& shapes,
                 const Value* units) {
  Column out{key, key};
  bool is_found = false;
  for (const ReportShape& shape : shapes) {
    const auto found = std::ranges::find(shape.columns, key, &Column::key);
    if (found == shape.columns.end() || (is_found && shape.variant != section)) continue;
    out = *found;
    is_found = true;
  }
  const Value* const unit = units == nullptr ? nullptr : units->find(key);
  if (unit != nullptr) out.unit = unit_from(unit->text).value_or(out.unit);
  return out;
}

bool has_same_keys(const Value& a, const Value& b) {
  return std::ranges::equal(a.members, b.members, {}, &python::Member::key, &python::Member::key);
}

// Rows of one kind each: several statements have several.
void add_tables(std::span<const Value> rows, const Value& document, const Value& whole, const std::string& section,
                const std::vector<ReportShape>& shapes, Answered& out) {
  while (!rows.empty()) {
    AnsweredTable table{section, {}, -1};
    if (const Value* const total = whole.find("total_rows")) table.total = static_cast<std::int64_t>(total->number);
    Report& report = table.report;
    for (const python::Member& member : rows.front().members)
      report.columns.push_back(column_of(member.key, table.section, shapes, document.find("units")));
    const auto label = std::ranges::find(report.columns, OthersAggregate::kLabel, &Column::others);
    const auto name = static_cast<std::size_t>(label - report.columns.begin());
    const Value& first = rows.front();
    for (; !rows.empty() && has_same_keys(rows.front(), first); rows = rows.subspan(1)) {
      Row cells;
      for (const python::Member& cell : rows.front().members) cells.push_back(cell_of(cell.value));
      const bool is_rest = name < cells.size() && cells[name] == Cell("[others]");
      (is_rest ? report.footer : report.rows).push_back(std::move(cells));
    }
    out.tables.push_back(std::move(table));
  }
}

}  // namespace

Answered read_answer(const std::string& printed, std::string_view command) {
  const Value document = python::read_json(printed, "answer");
  const std::vector<ReportShape> shapes = shapes_of_command(command);
  Answered out;
  for (const Value& one : items_of(document, "sentences")) out.sentences.push_back(text_at(one, "text"));
  out.warnings = answer_warnings(document);
  for (const Value& one : items_of(document, "sections"))
    add_tables(items_of(one, "rows"), one, document, text_at(one, "section"), shapes, out);
  for (const python::Member& member : document.members) {  // of the document, and parts that are members of it
    const bool is_table = !member.value.items.empty() && member.value.items.front().kind == Kind::kDict;
    if (is_table && member.key != "sentences" && member.key != "sections")
      add_tables(member.value.items, document, document, member.key == "rows" ? "" : member.key, shapes, out);
  }
  if (out.tables.size() > 1) {  // it is that of the first
    for (AnsweredTable& table : out.tables) table.total = -1;
  }
  return out;
}

void part_sums(AnsweredTable& table, std::size_t offset, std::size_t most) {
  if (table.total < 0) return;
  const auto total = static_cast<std::size_t>(table.total);
  std::vector<Row>&rows = table.report.rows, &footer = table.report.footer;
  const std::size_t listed = std::min({rows.size(), most, total - std::min(offset, total)});
  const auto sums = rows.begin() + static_cast<std::ptrdiff_t>(listed);
  footer.insert(footer.end(), std::make_move_iterator(sums), std::make_move_iterator(rows.end()));
  rows.erase(sums, rows.end());
}

std::vector<std::string> answer_warnings(const Value& document) {
  std::vector<std::string> out;
  for (const Value& one : items_of(document, "warnings")) out.push_back(python::str(one));
  return out;
}

std::string text_at(const Value& row, std::string_view key) {
  const Value* const found = row.find(key);
  return found == nullptr || found->kind == Kind::kNone ? "" : python::str(*found);
}

double number_at(const Value& row, std::string_view key) {
  const Value* const found = row.find(key);
  return found == nullptr || !found->is_number() ? std::numeric_limits<double>::quiet_NaN() : found->number;
}

std::vector<Value> rows_of(const Value& document, std::string_view section) {
  if (section.empty()) {
    const std::span<const Value> rows = items_of(document, "rows");
    return {rows.begin(), rows.end()};
  }
  for (const Value& one : items_of(document, "sections")) {
    if (text_at(one, "section") == section) return rows_of(one);
  }
  return {};
}

}  // namespace tracedb
