// Enforces a time limit. Once the time is up, the running statement of each watched database is interrupted,
// repeatedly, so that later statements end too, and a flag is set for work outside SQL. Work that continues for kGrace
// after that, within one function call or in a loop that does not check the flag, is ended by a last resort.
//
// Statements end with Error{kResource}. A thread of its own; every member may be called on any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

struct sqlite3;

namespace tracedb {

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
