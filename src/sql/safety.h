// Guards around indexes and statements that others wrote. An index may come from anywhere, and ad-hoc SQL may too.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sql/database.h"

struct sqlite3;

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

// Enforces a time limit. Once the time is up, the running statement of each watched database is interrupted,
// repeatedly, so that later statements end too, and a flag is set for work outside SQL. Work that continues for kGrace
// after that, within one function call or in a loop that does not check the flag, is ended by a last resort.
//
// Statements end with Error{kResource}. A thread of its own; every member may be called on any thread.
class Watchdog {
 public:
  static constexpr std::chrono::milliseconds kGrace{400};

  // `last_resort` runs on the watchdog's thread, and should end the process.
  Watchdog(std::chrono::nanoseconds limit, std::function<void()> last_resort);
  Watchdog& operator=(Watchdog&&) = delete;

  // Databases do this themselves: Database::end_by().
  void add(sqlite3* database);
  void remove(sqlite3* database);

  // Between these two the clock is stopped.
  void pause();
  void resume();

  [[nodiscard]] const std::atomic<bool>& time_is_up() const { return time_is_up_; }

 private:
  using Clock = std::chrono::steady_clock;

  void watch(const std::stop_token& done);
  void interrupt_all(std::unique_lock<std::mutex>& lock, const std::stop_token& done);
  [[nodiscard]] bool is_over() const { return !paused_ && Clock::now() >= end_; }

  std::function<void()> last_resort_;
  std::atomic<bool> time_is_up_ = false;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  Clock::time_point end_;
  std::optional<Clock::time_point> paused_;
  std::vector<sqlite3*> databases_;
  std::jthread thread_;  // the last member: it ends first
};

}  // namespace tracedb
