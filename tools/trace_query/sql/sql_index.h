// An index that is ready for ad-hoc SQL: the functions, tables and views of the passes are there besides its own.
#pragma once

#include <string>
#include <vector>

#include "passes/sql/kernel_sql_functions.h"
#include "trace_query/open.h"
#include "trace_query/workload.h"

namespace tracedb {

// `requested` and `options` must outlive it. One thread at a time.
class SqlIndex {
 public:
  // Where rows are sorted that do not fit into SQLite's cache.
  enum class Sorting { kInMemory, kOnDisk };

  SqlIndex(OpenedTrace trace, const RequestedWorkload& requested, const PassOptions& options, Sorting sorting);
  SqlIndex(const SqlIndex&) = delete;
  SqlIndex& operator=(const SqlIndex&) = delete;

  [[nodiscard]] const Index& index() const { return trace_.index; }
  [[nodiscard]] Database& database() const { return trace_.index.database(); }
  // For people, those since the last call: about the index, and what the passes had to assume.
  std::vector<std::string> take_notes();

 private:
  OpenedTrace trace_;
  Workload workload_;
  KernelSqlFunctions functions_;
};

}  // namespace tracedb
