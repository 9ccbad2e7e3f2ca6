// Tables that a connection reads from other databases: "all_kernels" of every database of a set, and the tables of one
// as a schema ("b.kernels"). The rows come from statements on connections of their own (set_scan.h), which get the
// conditions that a statement fixes and yield only the columns it reads.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
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

struct SetTable {
  struct ColumnOfMember {
    std::string name, type;  // the type as declared there; "": none
  };
  std::string name;
  std::string source;  // what a statement on a member selects from; "": the name
  std::vector<ColumnOfMember> columns;
};

// The columns of a table or view of a connection, as it finds it by this name.
SetTable describe_table(Database& database, const std::string& name);
// The same of a table function (table_function.h), which names itself such that a schema's table of its name is not
// meant.
SetTable describe_table_function(Database& database, const std::string& name);

// "all_NAME": rows of all databases, with the set's labels before the columns. The set must outlive the connection's
// last statement.
void add_table_of_all(Database& database, DatabaseSet& set, const SetTable& table);

// Schema `name` with these tables of the set's only database. Error{kUsage} where SQLite has no room for more schemas.
void add_schema(Database& database, DatabaseSet& set, const std::string& name, std::span<const SetTable> tables);

// Whether the tables of sets of a connection pass conditions on. SQLite answers `a OR b` by two scans and leaves out
// rows of the second whose row id it has seen; a row has no id that is the same in scans with different conditions.
void pass_conditions(const Database& database, bool passes);
bool has_sets(const Database& database);

}  // namespace tracedb
