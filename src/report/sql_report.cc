#include "report/sql_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/text/json_text.h"
#include "base/text/split.h"
#include "report/json_text.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

constexpr std::string_view kTableMark = "-- table: ", kColumnMark = "-- column:", kCommandMark = "-- command:";

std::string_view next_field(std::string_view& line) {
  const std::size_t bar = std::min(line.find('|'), line.size());
  const std::string_view field = trim_json_space(line.substr(0, bar));
  line.remove_prefix(std::min(bar + 1, line.size()));
  return field;
}

Column parse_column(std::string_view line) {
  Column column;
  column.key = next_field(line);
  column.head = next_field(line);
  const std::string_view unit = next_field(line);
  column.is_json = unit == "json";
  column.unit = column.is_json ? Unit::kText : unit_from(unit).value();  // a wrong word is our own bug
  std::string_view others = next_field(line);
  if (others.starts_with("of ")) column.whole = std::exchange(others, "").substr(3);
  column.others = others_aggregate_from(others).value();
  column.fit = fit_from(next_field(line)).value();
  column.meaning = trim_json_space(line);
  return column;
}

// What follows the mark, of each line that begins with it.
std::vector<std::string_view> marked_lines(std::string_view text, std::string_view mark) {
  std::vector<std::string_view> lines;
  for (const std::string_view line : split_lines(text)) {
    if (line.starts_with(mark)) lines.push_back(line.substr(mark.size()));
  }
  return lines;
}

}  // namespace

std::vector<Column> report_columns(std::string_view script_text) {
  std::vector<Column> columns;
  for (const std::string_view line : marked_lines(script_text, kColumnMark)) columns.push_back(parse_column(line));
  return columns;
}

std::vector<Column> declared_columns(std::string_view name) {
  const std::string head = fmt::format("{}{}\n", kTableMark, name);
  for (const Script& one : scripts()) {
    const std::size_t at = one.name.starts_with("columns/") ? one.text.find(head) : std::string_view::npos;
    if (at == std::string_view::npos) continue;
    const std::string_view text = one.text.substr(at + head.size());
    return report_columns(text.substr(0, text.find(kTableMark)));
  }
  throw std::logic_error(fmt::format("no table {} in schema/columns", name));
}

std::optional<ReportCommand> report_command(std::string_view script_text) {
  for (std::string_view line : marked_lines(script_text, kCommandMark)) {
    const std::string_view rows = next_field(line), summary = next_field(line), note = trim_json_space(line);
    const bool known = rows == "whole" || rows == "selection";
    if (!known || summary.empty() || note.empty()) throw std::logic_error(fmt::format("no command: {}", script_text));
    return ReportCommand{rows == "selection", summary, note};
  }
  return std::nullopt;
}

ValueType read_cell(const Statement& statement, int column, Cell& cell) {
  const ValueType type = statement.type(column);
  switch (type) {
    case ValueType::kInteger:
      cell = statement.int64(column);
      break;
    case ValueType::kReal:
      cell = statement.real(column);
      break;
    case ValueType::kText:
    case ValueType::kBlob: {
      const std::span<const std::byte> bytes = statement.blob(column);
      if (!std::holds_alternative<std::string>(cell)) cell.emplace<std::string>();
      std::get<std::string>(cell).assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      break;
    }
    case ValueType::kNull:
      cell = std::monostate{};
      break;
  }
  return type;
}

Statement bound_report(Database& database, std::string_view script_text, const Parameters& parameters) {
  Statement statement(database, script_text);
  for (const auto& [parameter, value] : parameters) {
    const int index = statement.parameter_index(":" + parameter);
    if (index != 0) std::visit([&](const auto& own) { statement.bind(index, own); }, value);
  }
  return statement;
}

Report run_report(Database& database, std::string_view script_text, const Parameters& parameters) {
  Report report{report_columns(script_text), {}, {}};
  Statement statement = bound_report(database, script_text, parameters);
  while (statement.step()) {
    Row row(static_cast<std::size_t>(statement.column_count()));
    for (std::size_t c = 0; c < row.size(); ++c) read_cell(statement, static_cast<int>(c), row[c]);
    row.resize(report.columns.size());
    report.rows.push_back(std::move(row));
  }
  return report;
}

void render(const Report& report, const ReportHead& head, std::span<const std::string> warnings,
            TableRenderer& renderer) {
  ReportHead told = head;
  told.page = report.page;
  renderer.begin(told, report.columns);
  for (const Row& row : report.rows) renderer.row(row);
  for (const Row& row : report.footer) renderer.row(row);
  renderer.end(warnings);
}

std::vector<std::string> sentence_texts(const Report& table) {
  std::vector<std::string> out;
  for (const Row& row : table.rows) out.push_back(std::get<std::string>(row[2]));
  return out;
}

void add_sentence(Report& table, const std::string& about, const Sentence& sentence) {
  if (sentence.id.empty()) return;
  table.rows.push_back({about, sentence.id, sentence.text, json_object(sentence.figures)});
}

}  // namespace tracedb
