// Several databases with the same tables, for statements that read a table of all of them (set_table.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
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
  // The values of the first tell the members apart.
  [[nodiscard]] virtual const std::vector<LabelColumn>& label_columns() const = 0;
  // Of a member before it is opened: only what is known without, the rest NULL.
  [[nodiscard]] virtual std::vector<SqlValue> known_labels(std::size_t member) const = 0;
  [[nodiscard]] virtual std::vector<SqlValue> labels(std::size_t member, Database& database) const = 0;

  // A connection to a member that only the caller uses until it drops it; null for one that was left out. Any thread.
  // Throws Error where the member cannot be opened.
  virtual std::shared_ptr<Database> open(std::size_t member) = 0;
  // A member cannot be read, or no further: what the others say is still an answer. On the thread of the statement.
  virtual void leave_out(std::size_t member, const Error& why) = 0;

  // Members that are read at the same time; 1: the statement's own thread reads them.
  [[nodiscard]] virtual std::size_t threads() const = 0;
  // Statements end with Error{kInterrupted} once it is true; null: never.
  [[nodiscard]] virtual const std::atomic<bool>* cancelled() const { return nullptr; }
};

// What the virtual tables of all connections of the process read from, one list for each kind of Source: SQLite keeps
// the tables, each with its connection, and gives nobody but itself a way to them. Any thread.
template <class Source>
class KnownSources {
 public:
  static KnownSources& of_process() {
    // Never destroyed: a program that loaded us may close its connections after that.
    static KnownSources* const kKnown = std::make_unique<KnownSources>().release();
    return *kKnown;
  }

  // The source is not owned, and must be removed before it ends.
  void add(Source& source) {
    const std::lock_guard lock(mutex_);
    sources_.push_back(&source);
  }
  void remove(const Source& source) {
    const std::lock_guard lock(mutex_);
    std::erase(sources_, &source);
  }

  // The first source of the connection that fits; nullptr if none does.
  template <class Fits>
  Source* find(const Database& database, Fits fits) {
    const std::lock_guard lock(mutex_);
    for (Source* const source : sources_) {
      if (&source->database == &database && fits(*source)) return source;
    }
    return nullptr;
  }

  template <class Visit>
  void for_each(const Database& database, Visit visit) {
    const std::lock_guard lock(mutex_);
    for (Source* const source : sources_) {
      if (&source->database == &database) visit(*source);
    }
  }

 private:
  std::mutex mutex_;
  std::vector<Source*> sources_;
};

}  // namespace tracedb
