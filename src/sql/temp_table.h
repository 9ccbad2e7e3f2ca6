// A small table of our own making in a database that is otherwise closed to writing: what a pass found, for report
// scripts and ad-hoc SQL to join. It lives in memory and ends with the connection.
#pragma once

#include <string_view>

#include "sql/database.h"

namespace tracedb {

// Filled in one transaction, from its making to its end: keep it in a scope of its own. Bind every column in order,
// then run(); columns not bound are NULL. Where the transaction cannot be committed (the index is damaged, memory is
// out), the table is gone, and the statement that reads it fails.
class TempTable {
 public:
  // Replaces temp.<name>. `columns` as in CREATE TABLE, `count` of them.
  TempTable(Database& database, std::string_view name, std::string_view columns, int count);
  ~TempTable();
  TempTable(const TempTable&) = delete;
  TempTable& operator=(const TempTable&) = delete;

  [[nodiscard]] Statement& insert() { return insert_; }

 private:
  Database& database_;
  Statement insert_;
};

}  // namespace tracedb
