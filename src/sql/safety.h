// Guards around indexes and statements that others wrote. An index may come from anywhere, and ad-hoc SQL may too.
#pragma once

#include <chrono>
#include <cstdint>

#include "sql/database.h"

namespace tracedb {

// For every opened index: defensive mode, no functions with side effects from its schema, page checks, no writes, no
// memory mapping (a file that shrinks under a mapping is SIGBUS).
void harden(Database& database);

struct SqlLimits {
  std::chrono::milliseconds timeout{0};             // 0: none
  std::int64_t heap_bytes = std::int64_t{1} << 30;  // for the whole process
  int value_bytes = 64 << 20;                       // longest text or blob, so printf('%.*c', 1e9, 'x') is an error
};

// Confines the statements prepared while it lives: reading only (tables, views, a few PRAGMAs that tell about the
// schema), bounded in time, memory and size. The clock starts with the construction. Statements must end before it
// does.
class SqlGuard {
 public:
  SqlGuard(Database& database, const SqlLimits& limits);
  ~SqlGuard();
  SqlGuard(const SqlGuard&) = delete;
  SqlGuard& operator=(const SqlGuard&) = delete;

 private:
  Database& database_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace tracedb
