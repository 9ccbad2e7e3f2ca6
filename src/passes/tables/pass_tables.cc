#include "passes/tables/pass_tables.h"

#include <algorithm>

namespace tracedb {

namespace {

std::vector<PassTable> all_tables() {
  std::vector<PassTable> out = {timeline_table(), idle_gaps_table(), gaps_by_cause_table(), gap_groups_table()};
  for (const auto& tables : {kernel_group_tables(), layer_tables()})
    out.insert(out.end(), tables.begin(), tables.end());
  const auto others = {step_figures_table(), phases_table(),    launch_calls_table(), comms_table(),
                       copies_table(),       call_tree_table(), sequences_table(),    kernel_classes_table(),
                       roles_table(),        coverage_table(),  issue_words_table()};
  out.insert(out.end(), others.begin(), others.end());
  return out;
}

}  // namespace

std::span<const PassTable> pass_tables() {
  static const std::vector<PassTable> kTables = all_tables();
  return kTables;
}

const PassTable* find_pass_table(std::string_view name) {
  const auto tables = pass_tables();
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&](const PassTable& table) { return table.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

void add_pass_tables(Database& database, const WorkloadSource& workload, const PassOptions& options) {
  for (const PassTable& table : pass_tables()) {
    add_table_function(
        database, table.name, table.columns,
        [workload, options, fill = table.fill](TableRows& rows) { fill(workload(), options, rows); }, table.order);
  }
}

void add_pass_tables(Workload& workload, const PassOptions& options) {
  add_pass_tables(
      workload.index().database(), [&workload]() -> Workload& { return workload; }, options);
}

void declare_pass_tables(Database& database) {
  for (const PassTable& table : pass_tables())
    add_table_function(database, table.name, table.columns, [](TableRows&) {});
}

}  // namespace tracedb
