#include "sql/watchdog.h"

#include <sqlite3.h>

#include <utility>

namespace tracedb {

Watchdog::Watchdog(std::chrono::nanoseconds limit, std::function<void()> last_resort)
    : last_resort_(std::move(last_resort)),
      end_(Clock::now() + limit),
      thread_([this](const std::stop_token& done) { watch(done); }) {}

void Watchdog::add(sqlite3* database) {
  const std::lock_guard lock(mutex_);
  databases_.push_back(database);
}

void Watchdog::remove(sqlite3* database) {
  const std::lock_guard lock(mutex_);
  std::erase(databases_, database);
}

void Watchdog::pause() {
  const std::lock_guard lock(mutex_);
  if (!paused_) paused_ = Clock::now();
  wake_.notify_one();
}

void Watchdog::resume() {
  const std::lock_guard lock(mutex_);
  if (!paused_) return;
  end_ += Clock::now() - *paused_;
  paused_.reset();
  wake_.notify_one();
}

void Watchdog::watch(const std::stop_token& done) {
  std::unique_lock lock(mutex_);
  while (!done.stop_requested()) {
    if (is_over()) {
      interrupt_all(lock, done);
    } else if (paused_) {
      wake_.wait(lock, done, [&] { return !paused_; });
    } else {
      const Clock::time_point end = end_;
      wake_.wait_until(lock, done, end, [&] { return paused_ || end_ != end; });
    }
  }
}

void Watchdog::interrupt_all(std::unique_lock<std::mutex>& lock, const std::stop_token& done) {
  constexpr auto kBetweenInterrupts = std::chrono::milliseconds(5);
  const Clock::time_point last = Clock::now() + kGrace;
  while (!done.stop_requested() && is_over()) {
    time_is_up_ = true;
    if (Clock::now() >= last && last_resort_) std::exchange(last_resort_, nullptr)();
    // A statement that begins after this one ended is not affected: hence again and again.
    for (sqlite3* database : databases_) sqlite3_interrupt(database);
    wake_.wait_for(lock, done, kBetweenInterrupts, [&] { return !is_over(); });
  }
}

}  // namespace tracedb
