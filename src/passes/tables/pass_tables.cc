#include "passes/tables/pass_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/text/split.h"
#include "sql/scripts.h"

namespace tracedb {

// What fills tables, by its file.
std::remove_pointer_t<FillPassTable> fill_timeline, fill_gaps, fill_gap_causes, fill_gap_groups, fill_steps,
    fill_phases, fill_launch_groups, fill_short_launches, fill_memory_groups, fill_comm_groups, fill_call_tree,
    fill_sequences, fill_classes, fill_roles, fill_coverage, fill_issue_words, fill_work, fill_breakdown,
    fill_steps_as_one, fill_pass_breakdown, fill_occupancy, fill_launch_configs, fill_memory_events;

// Several tables that are filled alike.
std::vector<PassTable> kernel_group_tables(), layer_tables(), call_tables(), critical_path_tables(), queue_tables();

namespace {

std::vector<PassTable> all_tables() {
  std::vector<PassTable> out = {
      declared_table("timeline", fill_timeline), declared_table("idle_gaps", fill_gaps, {{3, true}, {2}}),
      declared_table("gaps_by_cause", fill_gap_causes), declared_table("gap_groups", fill_gap_groups)};
  for (const auto& tables :
       {kernel_group_tables(), layer_tables(), call_tables(), critical_path_tables(), queue_tables()})
    out.insert(out.end(), tables.begin(), tables.end());
  constexpr std::pair<std::string_view, FillPassTable> kOthers[] = {
      {"step_figures", fill_steps},         {"phases", fill_phases},
      {"launch_calls", fill_launch_groups}, {"short_launches", fill_short_launches},
      {"comms", fill_comm_groups},          {"copies", fill_memory_groups},
      {"call_tree", fill_call_tree},        {"sequences", fill_sequences},
      {"kernel_classes", fill_classes},     {"roles", fill_roles},
      {"coverage", fill_coverage},          {"issue_words", fill_issue_words},
      {"operator_work", fill_work},         {"step_breakdown", fill_breakdown},
      {"steps_as_one", fill_steps_as_one},  {"pass_breakdown", fill_pass_breakdown},
      {"step_occupancy", fill_occupancy},   {"kernel_launches", fill_launch_configs},
      {"memory_events", fill_memory_events}};
  for (const auto& [name, fill] : kOthers) out.push_back(declared_table(name, fill));
  return out;
}

std::vector<std::string_view> cells_of(std::string_view line) {
  constexpr std::string_view kBar = " | ";
  std::vector<std::string_view> out;
  for (std::size_t end = line.find(kBar); end != std::string_view::npos; end = line.find(kBar)) {
    out.push_back(line.substr(0, end));
    line.remove_prefix(end + kBar.size());
  }
  out.push_back(line);
  return out;
}

// The files are ours: a word that is none is our own bug, whatever is asked for.
[[noreturn]] void unreadable_line(std::string_view line) {
  throw std::logic_error(fmt::format("schema/tables: cannot be read: {}", line));
}

ColumnType type_of(std::string_view word, std::string_view line) {
  if (word == "text") return ColumnType::kText;
  if (word == "real") return ColumnType::kReal;
  if (word != "integer") unreadable_line(line);
  return ColumnType::kInteger;
}

void read_tables(std::string_view text, std::map<std::string_view, PassTable>& out) {
  PassTable* table = nullptr;
  for (const std::string_view line : data_lines(text)) {
    std::vector<std::string_view> cells = cells_of(line);
    constexpr std::size_t kMostCells = 8;
    if (cells.size() > kMostCells) unreadable_line(line);
    cells.resize(kMostCells);
    const std::size_t blank = cells[0].find(' ');
    const std::string_view word = cells[0].substr(0, blank), name = cells[0].substr(blank + 1);
    const bool is_new = word == "table" || word == "columns";
    const bool is_known = word == "report" || word == "use" || word == "column" || word == "derived";
    if (!is_new && (table == nullptr || !is_known)) unreadable_line(line);
    if (is_new) {
      if (out.contains(name)) unreadable_line(line);
      table = &out[name];
      table->name = name;
      table->meaning = cells[1];
    } else if (word == "report") {
      table->report = {name, cells[1], cells[2], cells[3], cells[4], cells[5]};
    } else if (word == "use") {
      const std::vector<PassColumn>& shared = out.at(name).columns;
      table->columns.insert(table->columns.end(), shared.begin(), shared.end());
    } else {
      table->columns.push_back({{name, type_of(cells[1], line), cells[2], cells[3]},
                                cells[4],
                                cells[5],
                                cells[6],
                                cells[7],
                                word == "column"});
    }
  }
}

// Those that are in the table.
std::vector<TableColumn> stored_columns(const PassTable& table) {
  std::vector<TableColumn> out;
  for (const PassColumn& column : table.columns) {
    if (column.is_in_table) out.push_back(column);
  }
  return out;
}

std::string script_of(const PassTable& table) {
  constexpr std::size_t kLine = 110;
  const TableReport& report = table.report;
  std::string text =
      fmt::format("-- {}: {}.{}{}\n", report.name, table.meaning, report.about.empty() ? "" : " ", report.about);
  if (!report.command.empty()) text += fmt::format("-- command: {}\n", report.command);
  std::string select = "SELECT ";
  std::size_t line = 0;
  for (const std::string_view name : split_text(report.columns, ' ')) {
    const auto found = std::ranges::find(table.columns, name, &PassColumn::name);
    const PassColumn& column = table.columns.at(static_cast<std::size_t>(found - table.columns.begin()));
    const std::string_view unit = column.type == ColumnType::kText ? "text" : column.unit;
    text += fmt::format("-- column: {} | {} | {} | {} | {} | {}\n", name, column.head, unit, column.others, column.fit,
                        column.meaning);
    if (select.size() - line > kLine) select.replace(select.size() - 1, 1, "\n       "), line = select.size();
    select += fmt::format("{}, ", column.sql.empty() ? name : column.sql);
  }
  select.resize(select.size() - 2);
  return fmt::format("{}{}\nFROM temp.{}{}{}\nORDER BY {};\n", text, select, table.name, report.from.empty() ? "" : " ",
                     report.from, report.order);
}

const std::map<std::string, std::string>& all_reports() {
  static const auto kAllReports = [] {
    constexpr std::string_view kRoom = "reports/";
    std::map<std::string, std::string> out;
    for (const Script& one : scripts()) {
      if (one.name.starts_with(kRoom)) out.emplace(one.name.substr(kRoom.size()), one.text);
    }
    for (const PassTable& table : pass_tables()) {
      if (!table.report.name.empty()) out.emplace(table.report.name, script_of(table));
    }
    return out;
  }();
  return kAllReports;
}

void add_table(Database& database, const PassTable& table, const WorkloadSource& workload, const PassOptions& options) {
  add_table_function(
      database, table.name, stored_columns(table),
      [workload, options, fill = table.fill](TableRows& rows) { fill(workload(), options, rows); }, table.order);
}

}  // namespace

PassTable declared_table(std::string_view name, FillPassTable fill, std::vector<RowOrder> order) {
  static const auto kDeclared = [] {
    std::map<std::string_view, PassTable> out;
    for (const Script& one : scripts()) {
      if (one.name.starts_with("tables/")) read_tables(one.text, out);
    }
    return out;
  }();
  PassTable out = kDeclared.at(name);
  out.fill = fill;
  out.order = std::move(order);
  return out;
}

std::string_view report_script(std::string_view name) {
  return all_reports().at(std::string(name));  // an unknown name is our own bug
}

std::vector<std::string_view> report_names() {
  std::vector<std::string_view> out;
  for (const auto& [name, text] : all_reports()) out.emplace_back(name);
  return out;
}

std::span<const PassTable> pass_tables() {
  static const std::vector<PassTable> kTables = all_tables();
  return kTables;
}

void add_pass_tables(Database& database, const WorkloadSource& workload, const PassOptions& options) {
  for (const PassTable& table : pass_tables()) add_table(database, table, workload, options);
}

void add_pass_tables(Workload& workload, const PassOptions& options) {
  add_pass_tables(
      workload.index().database(), [&workload]() -> Workload& { return workload; }, options);
}

void add_pass_table(Workload& workload, std::string_view name) {
  const auto table = std::ranges::find(pass_tables(), name, &PassTable::name);
  add_table(workload.index().database(), *table, [&workload]() -> Workload& { return workload; }, {});
}

void declare_pass_tables(Database& database) {
  for (const PassTable& table : pass_tables())
    add_table_function(database, table.name, stored_columns(table), [](TableRows&) {});
}

}  // namespace tracedb
