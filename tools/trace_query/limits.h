// Time and memory limits of a run of trace-query, which apply to the whole process. Whatever an index contains, the run
// ends within them, with one line.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "sql/watchdog.h"

namespace tracedb {

class Database;

class RunLimits {
 public:
  static RunLimits& of_process();

  // From now on, once. What does not end by itself in time ends with the process, exit code 5.
  void limit_time(std::chrono::nanoseconds limit);
  // Of everything but the program itself; what is beyond is refused (std::bad_alloc). No effect with a sanitizer, whose
  // own memory would count.
  void limit_memory(std::uint64_t bytes);

  // The clock stops, and goes on.
  void pause() {
    if (watchdog_) watchdog_->pause();
  }
  void resume() {
    if (watchdog_) watchdog_->resume();
  }

  void watch(Database& database);
  [[nodiscard]] const std::atomic<bool>* time_is_up() const;  // for work that looks at a flag; null: never

  // One line for whatever failed: the limit that was reached; "" if none was.
  [[nodiscard]] std::string time_limit_reached() const;
  [[nodiscard]] std::string out_of_memory() const;

 private:
  RunLimits() = default;

  std::optional<Watchdog> watchdog_;
  std::string time_text_, memory_text_;
};

}  // namespace tracedb
