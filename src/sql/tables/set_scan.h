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

}  // namespace tracedb
