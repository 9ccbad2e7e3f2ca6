// Reads one table of all databases of a set: member after member, each by a statement of its own, several at the same
// time. Rows come in the order of the members whatever the number of threads; what is read ahead is bounded.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "sql/tables/database_set.h"
#include "sql/tables/row_batch.h"
#include "sql/tables/set_table.h"

namespace tracedb {

// A comparison of a label with values that a statement fixed.
struct LabelCondition {
  std::size_t label = 0;
  std::string_view comparison;   // "=" "<" "<=" ">" ">="
  std::vector<SqlValue> values;  // of "=": any of them
};

struct SetQuery {
  std::string sql;               // of one member
  std::vector<SqlValue> values;  // its parameters
  std::size_t columns = 0;       // that it yields; 0: it counts the rows
  std::vector<LabelCondition> conditions;
};

class SetScan {
 public:
  SetScan(DatabaseSet& set, SetQuery query);
  ~SetScan();
  SetScan& operator=(SetScan&&) = delete;

  // To the first or next row; false: there is none. Throws Error: what ended a statement and is no fault of a member.
  bool next();
  void give_label(sqlite3_context* result, std::size_t label) const { give_result(result, batch_->labels->at(label)); }
  void give_cell(sqlite3_context* result, std::size_t column) const { batch_->rows.give_cell(result, row_, column); }

 private:
  using Labels = std::shared_ptr<const std::vector<SqlValue>>;
  struct Batch {
    RowBatch rows;
    Labels labels;
  };
  // Of one member, from a thread that reads to the statement.
  struct Stream {
    std::deque<Batch> batches;
    bool ended = false;
    std::optional<Error> failure;
  };
  class Reader;

  void work();
  void read(std::size_t member);
  bool push(std::size_t member, Batch batch);  // false: nobody wants it
  void end(std::size_t member, std::optional<Error> failure);
  std::optional<std::size_t> claim();
  std::optional<Batch> next_batch();
  std::optional<Batch> batch_read_here();
  std::optional<Batch> batch_read_ahead();
  void handle(std::size_t member, const Error& failure);
  void check_cancelled() const;

  DatabaseSet& set_;
  const SetQuery query_;
  const std::size_t threads_;
  std::size_t current_ = 0;  // member whose rows are handed out
  std::optional<Batch> batch_;
  std::int64_t row_ = -1;
  std::unique_ptr<Reader> reader_;  // where this thread reads

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, Stream> streams_;  // by member
  std::size_t claimed_ = 0;                // members
  std::atomic<bool> stopped_ = false;
  std::deque<Task> tasks_;
};

// What the members of a set are asked for a statement on a table of all of them.

// Tables of one module of SQLite, by their names.
struct SetSource {
  Database& database;
  DatabaseSet& set;
  std::map<std::string, SetTable, std::less<>> tables;
  bool passes_conditions = true;  // to the members; false: they give all rows, always in the same order
  [[nodiscard]] std::size_t labels() const { return set.label_columns().size(); }
};

inline void forget(const SetSource& source) { source.database.forget(&source); }

// Whether the tables of sets of a connection pass conditions on. SQLite answers `a OR b` by two scans and leaves out
// rows of the second whose row id it has seen; a row has no id that is the same in scans with different conditions.
void pass_conditions(const Database& database, bool passes);
bool has_sets(const Database& database);

struct PassedComparison {
  unsigned char code;  // SQLITE_INDEX_CONSTRAINT_EQ ...
  std::string_view sql;
  bool on_labels;
  double left;  // share of the rows
};
const PassedComparison* find_comparison(unsigned char code);  // null: none that is passed on

struct MemberQuery {
  SetQuery query;
  std::vector<int> places;  // of the columns behind the labels in its rows; -1: not read
};

// `plan`: as best_index() of set_table.cc writes it.
MemberQuery make_query(const SetSource& source, const SetTable& table, const char* plan, sqlite3_value** values);

}  // namespace tracedb
