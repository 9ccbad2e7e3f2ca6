// Reports that are one SQL script (passes/tables/pass_tables.h has them by name). The script says itself what its
// columns are, in lines before the SELECT:
//
//   -- column: total_time | Total Time | ns | sum | 6 | sum of the durations
//
// key | head | unit (text, json, count, ns, moment, bytes, percent, ratio, GB/s or empty) | what [others] shows (label,
// sum, min, max, mean, of KEY or empty) | what it does on a narrow terminal (fit_from()) | what it means, in the order
// of the SELECT. A mean is that of the rows it stands for, weighted by total_time / mean of each: the instances whose
// duration is known; what is a share of column KEY is weighted by that, in a row `mean` too. A script may also say that
// it is a command of trace-query, which has its name and needs no code:
//
//   -- command: whole | problems found in the trace, with counts | nothing was wrong with the trace
//
// selection: the options that choose steps and kernels apply; whole: they do not | summary | note where it has no rows.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/sentence.h"
#include "report/table.h"
#include "sql/database.h"

namespace tracedb {

struct Report {
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::vector<Row> footer = {};      // about all rows: behind them whatever the order and the limit
  bool whole = false;                // rows that say different things: no limit cuts any off
  std::optional<RowPage> page = {};  // of `rows`; nullopt: not told
};

// Names of parameters without ':'. Parameters of the script that are missing here are NULL.
using Parameters = std::map<std::string, Cell>;

// The index of the column with a key.
std::optional<std::size_t> find_column(std::span<const Column> columns, std::string_view key);

// Of columns, meanings refer to the text.
std::vector<Column> report_columns(std::string_view script_text);

// Those of a table that C++ fills, by its name in schema/columns.
std::vector<Column> declared_columns(std::string_view name);

struct ReportCommand {
  bool takes_selection = false;
  std::string_view summary, empty_note;  // parts of the script
};
// nullopt: it is none. Throws std::logic_error for a line that does not say all three.
std::optional<ReportCommand> report_command(std::string_view script_text);

ValueType read_cell(const Statement& statement, int column, Cell& cell);  // a blob becomes a text of its bytes

Statement bound_report(Database& database, std::string_view script_text, const Parameters& parameters);  // not run yet
Report run_report(Database& database, std::string_view script_text, const Parameters& parameters);

struct SortKey {
  std::string column;  // a key or a head, in any case
  bool ascending = false;
};
SortKey parse_sort_key(std::string_view text);  // "COL", "COL:asc", "COL:desc"; Error{kUsage} for other endings

// Unknown values last; equal ones keep their order. Error{kUsage} naming the columns for an unknown one.
void sort_rows(Report& report, const SortKey& key);

// Keeps the first `limit` rows and puts one [others] row for the rest, so that sums still add up. 0: all, and all
// of a report that is `whole`.
void limit_rows(Report& report, std::size_t limit);

// How many of the first rows make up so much of the sum of the first column of shares that add up. Error{kUsage}: there
// is none.
std::size_t rows_that_make_up(const Report& report, double percent);

// Puts rows mean, min and max of two rows and more into the footer; the first column says which. Columns of text have
// nothing there.
void add_extremes(Report& report);

// Keeps the columns named (keys or heads, in any case, separated by commas), in that order. Error{kUsage} as
// sort_rows().
void choose_columns(Report& report, std::string_view names);

// Prints the report.
void render(const Report& report, const ReportHead& head, std::span<const std::string> warnings,
            TableRenderer& renderer);

// Of table "sentences", for machines: what a command says to people, with its figures by name.

std::vector<std::string> sentence_texts(const Report& table);  // as people read them

// `about`: which of several candidates, jobs or series. Sentences without an id are left out.
void add_sentence(Report& table, const std::string& about, const Sentence& sentence);

}  // namespace tracedb
