// Several databases with the same tables, for statements that read a table of all of them (set_table.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "sql/database.h"
#include "sql/tables/row_batch.h"

namespace tracedb {

// What a row's database is, in columns before those of the table itself.
struct LabelColumn {
  std::string_view name;
  std::string_view type;  // as in CREATE TABLE
  std::string_view meaning;
};

class DatabaseSet {
 public:
  virtual ~DatabaseSet() = default;

  [[nodiscard]] virtual std::size_t size() const = 0;
  // The values of the first tell the members apart. None: rows are of one database alone, and a member that cannot be
  // read ends the statement.
  [[nodiscard]] virtual std::span<const LabelColumn> label_columns() const { return {}; }
  // Of a member before it is opened: only what is known without, the rest NULL.
  [[nodiscard]] virtual std::vector<SqlValue> known_labels(std::size_t) const { return {}; }
  [[nodiscard]] virtual std::vector<SqlValue> labels(std::size_t /*member*/, Database&) const { return {}; }

  // A connection to a member that only the caller uses until it drops it; null for one that was left out. Any thread.
  // Throws Error where the member cannot be opened.
  virtual std::shared_ptr<Database> open(std::size_t member) = 0;
  // A member cannot be read, or no further: what the others say is still an answer. On the thread of the statement.
  virtual void leave_out(std::size_t, const Error& why) { throw Error(why); }

  // Members that are read at the same time; 1: the statement's own thread reads them.
  [[nodiscard]] virtual std::size_t threads() const { return 1; }
  // Statements end with Error{kInterrupted} once it is true; null: never.
  [[nodiscard]] virtual const std::atomic<bool>* cancelled() const { return nullptr; }
};

}  // namespace tracedb
