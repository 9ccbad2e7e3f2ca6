#include "passes/tables/pass_tables.h"

#include <algorithm>

namespace tracedb {

std::span<const PassTable> pass_tables() {
  static const std::vector<PassTable> kTables = {timeline_table(),
                                                 idle_gaps_table(),
                                                 gaps_by_cause_table(),
                                                 gap_groups_table(),
                                                 kernels_by_name_table(),
                                                 kernels_by_pass_table(),
                                                 ops_table(),
                                                 ops_by_pass_table(),
                                                 layers_table(),
                                                 layer_ops_table(),
                                                 layers_by_pass_table(),
                                                 step_figures_table(),
                                                 phases_table(),
                                                 launch_calls_table(),
                                                 comms_table(),
                                                 copies_table(),
                                                 call_tree_table(),
                                                 sequences_table(),
                                                 kernel_classes_table(),
                                                 coverage_table()};
  return kTables;
}

const PassTable* find_pass_table(std::string_view name) {
  const auto tables = pass_tables();
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&](const PassTable& table) { return table.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

void add_pass_tables(Workload& workload, const PassOptions& options) {
  for (const PassTable& table : pass_tables()) {
    add_table_function(workload.index().database(), table.name, table.columns,
                       [&workload, &options, fill = table.fill](TableRows& rows) { fill(workload, options, rows); });
  }
}

void declare_pass_tables(Database& database) {
  for (const PassTable& table : pass_tables())
    add_table_function(database, table.name, table.columns, [](TableRows&) {});
}

}  // namespace tracedb
