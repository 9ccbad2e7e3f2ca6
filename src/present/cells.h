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

// The cells of a row by the keys of their columns.
using Cells = std::map<std::string_view, Cell>;

// In the order of the columns, each of which has a cell.
Row row_of(std::span<const Column> columns, Cells cells);
inline void add_row(Report& table, Cells cells) { table.rows.push_back(row_of(table.columns, std::move(cells))); }

// A section of an answer: a table.
template <class Answer>
struct SectionOf {
  std::string_view name;                                  // --section
  std::string_view summary;                               // for the help
  std::string_view columns;                               // which schema/columns has under this name
  void (*add_rows)(const Answer& answer, Report& table);  // to a table that has these columns
  // Rows of several candidates: a table each, side by side (join_candidates()), or one below the other, by a column
  // `trace`.
  enum class Candidates { kApart, kJoined, kStacked } candidates = Candidates::kApart;
  bool of_page = false;  // also printed as data where no section is named, and people get a page
  bool member = false;   // in JSON a member of the document, and not in the list of sections

  [[nodiscard]] Report table_of(const Answer& answer) const {
    Report table{declared_columns(columns), {}};
    add_rows(answer, table);
    return table;
  }
};

// A count per unit: an integer where it is one, for people with three decimals at most.
Cell count_cell(double sum, std::int64_t units, bool human_readable);
Cell time_cell(double ns);                               // to the nearest nanosecond
Cell share_cell(double part, double whole);              // percent; unknown of nothing
Cell share_of(std::int64_t part, std::int64_t whole);    // the same of sums, which are not below 0
Cell ratio_cell(double baseline, double candidate);      // candidate / baseline; unknown unless both are more than 0
std::string marked(std::string verdict, double change);  // "▲ worse", for people

// Unknown where there is nothing.
inline Cell text_cell(std::string_view text) { return text.empty() ? Cell{} : Cell(std::string(text)); }
template <class Value, class Of = std::identity>
Cell known_cell(const std::optional<Value>& value, Of of = {}) {
  return value ? Cell(std::invoke(of, *value)) : Cell{};
}

// "▲ worse", "inconclusive: 3/4 steps"; the mark and caveats for people only.
std::string verdict_text(const Change& change, bool human_readable);

// Of a measure of the steps of one kind, with the cells that only some tables have.
Cells cells_of_change(const std::string& phase, const std::string& measure, const Change& change, Cells more);

// The same as a row of table compare_steps, of two traces or of a trace and a baseline file.
void add_measure(const std::string& phase, const std::string& measure, const Change& change, bool human_readable,
                 Report& table);

// Of an end of its interval; for people, where that says what is known.
Cell end_cell(const Change& change, double value, bool human_readable);

void drop_column(Report& report, std::string_view key);  // where it has one
void drop_device_clock(Report& report);                  // for people: period_on where no row's is the host's

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
