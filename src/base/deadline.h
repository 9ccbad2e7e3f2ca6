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
    if (limit.count() > 0) thread_ = std::thread([this, end = Clock::now() + limit] { watch(end); });
  }
  ~Deadline() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  [[nodiscard]] const std::atomic<bool>* flag() const { return thread_.joinable() ? &raised_ : cancel_; }
  [[nodiscard]] bool expired() const { return expired_; }

 private:
  using Clock = std::chrono::steady_clock;

  void watch(Clock::time_point end) {
    // Polled, because a signal handler can notify nobody.
    constexpr auto kPause = std::chrono::milliseconds(50);
    std::unique_lock lock(mutex_);
    while (!done_ && !raised_) {
      wake_.wait_until(lock, std::min(end, Clock::now() + kPause));
      expired_ = Clock::now() >= end;
      raised_ = expired_ || (cancel_ != nullptr && cancel_->load());
    }
  }

  const std::atomic<bool>* cancel_;
  std::atomic<bool> raised_ = false, expired_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace tracedb
