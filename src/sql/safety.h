// Guards around indexes and statements that others wrote. An index may come from anywhere, and ad-hoc SQL may too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sql/database.h"

namespace tracedb {

// No text or blob of an index is longer: an event has at most 64 MiB, of which a broken byte becomes three. One that is
// longer ends the statement that reads or makes it.
inline constexpr int kLongestValue = 256 << 20;

// For every opened index: defensive mode, no functions with side effects from its schema, page checks, no writes, no
// memory mapping (a file that shrinks under a mapping is SIGBUS), no value of more than kLongestValue bytes.
void harden(Database& database);

struct SqlLimits {
  std::int64_t heap_bytes = std::int64_t{1} << 30;  // of SQLite, in the whole process
  int value_bytes = 64 << 20;                       // longest text or blob, so printf('%.*c', 1e9, 'x') is an error
};

// Confines the statements prepared while it lives: reading only (tables, views, a few PRAGMAs that tell about the
// schema), bounded in memory and size. Their time is for a Watchdog. Statements must end before it does.
class SqlGuard {
 public:
  SqlGuard(Database& database, const SqlLimits& limits);
  ~SqlGuard();
  SqlGuard& operator=(SqlGuard&&) = delete;

  // Names of the tables, views and functions of the statements prepared since.
  [[nodiscard]] const std::set<std::string>& used() const { return used_; }

 private:
  Database& database_;
  mutable std::set<std::string> used_;  // filled while it lives, also where it is const
};

// Updates existing meta rows of an index that is not published yet, without a journal: a failure leaves the file
// useless. False when it could not be written; never throws for that.
bool update_meta(const std::filesystem::path& index, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace tracedb
