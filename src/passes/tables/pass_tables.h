// What the passes find, as tables that SQL selects from: reports and trace-query sql. A table is declared once, with
// the unit and meaning of each column and how the report on it shows them; its rows are made when a statement first
// reads them, under the options of the command line.
//
// To add one: its declaration in schema/tables, a function that fills it, in a file of this folder, and its line in
// pass_tables().
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/unknown.h"
#include "passes/select/device_columns.h"
#include "passes/select/workload.h"
#include "passes/stacks/stack_times.h"
#include "sql/tables/table_function.h"

namespace tracedb {

enum class StepChoice {
  kAll,
  kSteady,  // the longest run of full decode batches alone
};

enum class CallTreeView { kTree, kCallers, kFlat };

// Durations that a question changes: of kernels of an operation class or name, "comm", "launch" or "host", to a
// fraction of them.
struct DurationChange {
  std::string what;
  std::int64_t numerator = 1, denominator = 1;
};

struct DevicePeaks;
inline constexpr std::int64_t kEveryKernel = std::numeric_limits<std::int64_t>::max();

// What options besides the selection say. A limit of 0: none.
struct PassOptions {
  LaneBy lanes = LaneBy::kDevice;
  TimelineOptions timeline = {};                               // the window is the selection's
  std::size_t most_gaps = 0;                                   // of idle_gaps, only the longest
  std::int64_t least_gap = 0;                                  // ns; of idle_gaps and gap_groups, only those as long
  StepChoice phase_steps = StepChoice::kAll;                   // of table phases
  std::size_t sequence_length = 3;                             // kernels
  std::int64_t sequence_least = 2;                             // only what is seen that often
  bool sequences_by_op = false;                                // by operation class, else by short name
  std::string (*sequence_name)(const std::string&) = nullptr;  // how a kernel of one is written; null: as it is
  CallTreeView view = CallTreeView::kTree;
  FrameChoice frames = {};
  bool all_frames = false;                  // also those that only call one other frame
  std::size_t most_frames = 0;              // only the largest
  std::int64_t late = 10'000;               // ns; of the critical path, see ReleaseGraph
  std::vector<DurationChange> what_if;      // each by itself
  std::int64_t short_below = kEveryKernel;  // ns; of short_launches
  std::int64_t queue_limit = 1024;          // launches that a queue takes before further ones wait
  bool follow_backward = false;             // backward work belongs to the module of its forward operator
  bool complete_steps = false;              // where a step's time goes: without those at the end that launch too little
  std::shared_ptr<const std::vector<DevicePeaks>> own_peaks;  // before those of the program; null: none
};

// A column of a table and of the report on it. What `others` and `fit` say: report/sql_report.h.
struct PassColumn : TableColumn {
  std::string_view head = {};  // for people; "": the report does not have it
  std::string_view others = {};
  std::string_view fit = {};
  std::string_view sql = {};  // what the report shows, an expression over the table; "": the column as it is
  bool is_in_table = true;    // else the report alone has it
};

// The report on a table. Those of several tables are scripts: schema/reports.
struct TableReport {
  std::string_view name = {};     // "kernels"; "": there is none
  std::string_view columns = {};  // their names, in the order in which people see them
  std::string_view order = {};    // of its rows, as SQL; unknown parameters are NULL
  std::string_view from = {};     // what follows FROM temp.TABLE
  std::string_view about = {};    // what --explain says besides
  std::string_view command = {};  // what report_command() reads; "": a command in tools/trace_query shows the report
};

using FillPassTable = void (*)(Workload& workload, const PassOptions& options, TableRows& rows);

struct PassTable {
  std::string_view name;
  std::string_view meaning;  // what a row is
  std::vector<PassColumn> columns;
  FillPassTable fill = nullptr;
  TableReport report = {};
  std::vector<RowOrder> order = {};  // of its rows; empty: SQL may not rely on it
};

// A table that a file of schema/tables declares, in lines of cells with " | " between them; those at the end may be
// left out. `order`: of its rows.
//
//   table NAME | what a row is
//   column NAME | integer, real or text | unit | meaning | head | others | fit | sql
//   derived ...                                                     the same of a column of the report alone
//   report NAME | its columns | order | what follows FROM temp.TABLE | what --explain says besides | command
//
// What several tables have in common is a list of columns, which each of them uses in its place:
//
//   columns NAME
//   use NAME
PassTable declared_table(std::string_view name, FillPassTable fill, std::vector<RowOrder> order = {});

// No name is that of a table or view of the index.
std::span<const PassTable> pass_tables();

// How many steps at the end PassOptions::complete_steps leaves out, if all are selected.
std::size_t incomplete_steps(Workload& workload);

// A report as report/sql_report.h reads it: of a table, else schema/reports/NAME.sql. Valid as long as the program.
std::string_view report_script(std::string_view name);
std::vector<std::string_view> report_names();  // of all reports, sorted

// Cells that are NULL where nothing is known: for an id of 0, kUnknownValue, and a text without a letter.
inline std::optional<std::uint32_t> known_id(std::uint32_t id) { return id == 0 ? std::nullopt : std::optional(id); }
inline std::optional<std::int64_t> known_time(std::int64_t time) {
  return time == kUnknownValue ? std::nullopt : std::optional(time);
}
inline std::optional<std::string_view> known_text(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// Cells kernel_id and memory_op_id: one of them, or none.
inline void add_event(TableRows& rows, const EventRef& event) {
  const std::optional<std::uint32_t> id = known_id(event.id);
  rows.add(event.is_memory_op ? std::nullopt : id, event.is_memory_op ? id : std::nullopt);
}

// Makes all of them known to a database. What is asked for the workload must outlive its last statement; the options
// are copied.
void add_pass_tables(Database& database, const WorkloadSource& workload, const PassOptions& options);
void add_pass_tables(Workload& workload, const PassOptions& options);  // to the workload's index

// One of them by its name, under the usual options: all of them take longer than to ask one about a small index.
void add_pass_table(Workload& workload, std::string_view name);

// The same without rows, where only their columns matter.
void declare_pass_tables(Database& database);

}  // namespace tracedb
