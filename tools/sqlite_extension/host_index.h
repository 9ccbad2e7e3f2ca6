// The index that a program has open when it loads the extension: what trace-query sql has besides the index's own
// tables, in that program's connection. The passes read the index by a connection of their own, opened when a statement
// first needs one: settings and temporary tables of the host do not matter to them, nor do they to the host.
//
// One thread at a time, as its connection is used. Failures are one line, without bytes that a terminal obeys.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "index/index.h"
#include "passes/select/workload.h"
#include "passes/sql/kernel_sql_functions.h"
#include "passes/tables/pass_tables.h"
#include "sql/database.h"

struct sqlite3;

namespace tracedb {

class HostIndex {
 public:
  explicit HostIndex(sqlite3* connection);
  HostIndex(const HostIndex&) = delete;
  HostIndex& operator=(const HostIndex&) = delete;

  // Adds functions and tables to the connection, and the columns to its views where it has an index of this version
  // open. A second time it does nothing.
  static void add_to(sqlite3* connection);

  // True on the thread that opens a connection of our own.
  static bool is_opening();

  // Throws Error where the connection has no index open that passes can read: what it is instead.
  Workload& workload();
  // Its file.
  [[nodiscard]] const std::filesystem::path& path();
  // What a reader must know of what was computed so far, line by line.
  const std::string& notes();

 private:
  void open();
  [[nodiscard]] bool is_of_this_version();

  Database host_;
  std::optional<std::filesystem::path> file_;
  std::int64_t application_id_, version_;
  ActiveRules rules_;
  PassOptions options_;
  KernelSqlFunctions functions_;
  std::optional<Index> index_;
  std::optional<Workload> workload_;
  std::string notes_;
};

}  // namespace tracedb
