// A flag that tells work to end early: set when `cancel` is set or when the time is up. A thread of its own watches
// both; without a limit there is no thread, and the flag is `cancel` itself.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace tracedb {

class Deadline {
 public:
  // `limit` zero: none. `cancel` may be null and must outlive this object.
  Deadline(std::chrono::nanoseconds limit, const std::atomic<bool>* cancel) : cancel_(cancel) {
    if (limit.count() <= 0) return;
    thread_ = std::jthread([this, end = Clock::now() + limit](const std::stop_token& done) { watch(end, done); });
  }
  Deadline& operator=(Deadline&&) = delete;

  [[nodiscard]] const std::atomic<bool>* flag() const { return thread_.joinable() ? &raised_ : cancel_; }
  [[nodiscard]] bool expired() const { return expired_; }

 private:
  using Clock = std::chrono::steady_clock;

  void watch(Clock::time_point end, const std::stop_token& done) {
    // Polled, because a signal handler can notify nobody.
    constexpr auto kPause = std::chrono::milliseconds(50);
    std::unique_lock lock(mutex_);
    while (!done.stop_requested() && !raised_) {
      wake_.wait_until(lock, done, std::min(end, Clock::now() + kPause), [] { return false; });
      expired_ = Clock::now() >= end;
      raised_ = expired_ || (cancel_ != nullptr && cancel_->load());
    }
  }

  const std::atomic<bool>* cancel_;
  std::atomic<bool> raised_ = false, expired_ = false;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // the last member: it ends first
};

}  // namespace tracedb
