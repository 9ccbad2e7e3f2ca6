// What the passes find, as tables that SQL selects from: the reports' scripts (schema/reports) and trace-query sql. A
// table is declared once, with the unit and meaning of each column; its rows are made when a statement first reads
// them, under the options of the command line.
//
// To add one: a function that declares it, in a file of this folder, and its line in pass_tables().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  bool all_frames = false;      // also those that only call one other frame
  std::size_t most_frames = 0;  // only the largest
};

struct PassTable {
  std::string_view name;
  std::string_view meaning;  // what a row is
  std::vector<TableColumn> columns;
  void (*fill)(Workload& workload, const PassOptions& options, TableRows& rows);
  std::vector<RowOrder> order = {};  // of its rows; empty: SQL may not rely on it
};

// No name is that of a table or view of the index.
std::span<const PassTable> pass_tables();
const PassTable* find_pass_table(std::string_view name);  // null: there is none

// Makes all of them known to a database. What is asked for the workload must outlive its last statement; the options
// are copied.
void add_pass_tables(Database& database, const WorkloadSource& workload, const PassOptions& options);
void add_pass_tables(Workload& workload, const PassOptions& options);  // to the workload's index

// The same without rows, where only their columns matter.
void declare_pass_tables(Database& database);

// By the file that declares them.
std::vector<PassTable> kernel_group_tables();
std::vector<PassTable> layer_tables();
PassTable timeline_table();
PassTable idle_gaps_table();
PassTable gaps_by_cause_table();
PassTable gap_groups_table();
PassTable step_figures_table();
PassTable phases_table();
PassTable launch_calls_table();
PassTable comms_table();
PassTable copies_table();
PassTable call_tree_table();
PassTable sequences_table();
PassTable kernel_classes_table();
PassTable roles_table();
PassTable coverage_table();
PassTable issue_words_table();

}  // namespace tracedb
