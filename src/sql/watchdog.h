// Ends what takes too long. Once the time is up, whatever statement runs in one of its databases is interrupted, again
// and again, so that those that follow end too; and a flag is raised for work that is no statement. What goes on for
// kGrace after that, within one call of a function or in a loop that looks at nothing, is ended by a last resort.
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
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Databases do this themselves: Database::end_by().
  void add(sqlite3* database);
  void remove(sqlite3* database);

  // Between these two the clock stands still.
  void pause();
  void resume();

  [[nodiscard]] const std::atomic<bool>& time_is_up() const { return time_is_up_; }

 private:
  using Clock = std::chrono::steady_clock;

  void watch();

  std::function<void()> last_resort_;
  std::atomic<bool> time_is_up_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  Clock::time_point end_;
  std::optional<Clock::time_point> paused_;
  std::vector<sqlite3*> databases_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace tracedb
