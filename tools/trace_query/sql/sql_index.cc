#include "trace_query/sql/sql_index.h"

#include <utility>

#include "passes/sql/event_rows.h"

namespace tracedb {

SqlIndex::SqlIndex(OpenedTrace trace, const RequestedWorkload& requested, const PassOptions& options, Sorting sorting)
    : trace_(std::move(trace)), workload_(requested.of(trace_.index)), functions_(workload_) {
  register_kernel_functions(database(), &functions_);
  add_pass_tables(workload_, options);
  add_event_rows(database(), "", [this]() -> Workload& { return workload_; });
  sorting == Sorting::kInMemory ? make_kernel_views(database()) : add_kernel_views(database());
}

std::vector<std::string> SqlIndex::take_notes() {
  std::vector<std::string> notes = std::exchange(trace_.notes, {});
  for (std::string& note : workload_.take_notes()) notes.push_back(std::move(note));
  return notes;
}

}  // namespace tracedb
