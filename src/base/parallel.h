// Threads: tasks, queues between them, and what is to happen again and again or when the time is up.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/failure.h"

namespace tracedb {

// A std::thread that captures an exception and rethrows it from join().
class Task {
 public:
  // Runs `work` on a thread of its own; if it throws, `on_failure` is called there so that others stop waiting for it.
  template <class Work, class OnFailure>
  Task(Work work, OnFailure on_failure)
      : thread_([this, work = std::move(work), on_failure = std::move(on_failure)]() mutable {
          try {
            work();
          } catch (...) {
            failure_ = std::current_exception();
            on_failure();
          }
        }) {}
  ~Task() {
    if (thread_.joinable()) thread_.join();
  }
  Task& operator=(Task&&) = delete;

  // Waits; rethrows what the work threw.
  void join() {
    thread_.join();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  std::exception_ptr failure_;
  std::thread thread_;
};

// Both at once: `second` on a thread of its own. Rethrows what either threw.
template <class First, class Second>
void run_both(First first, Second second) {
  Task other(std::move(second), [] {});
  first();
  other.join();
}

// Passes results of several workers to one consumer in sequence order, so that the outcome depends neither on the
// number of threads nor on their timing. Bounded: a producer that runs too far ahead waits.
template <class T>
class OrderedQueue {
 public:
  explicit OrderedQueue(std::size_t capacity) : capacity_(capacity) {}

  // Blocks while `sequence` is more than the capacity ahead of the consumer. False once the queue was cancelled.
  bool push(std::uint64_t sequence, T value) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return cancelled_ || sequence < next_ + capacity_; });
    if (cancelled_) return false;
    ready_items_.emplace(sequence, std::move(value));
    if (sequence == next_) ready_.notify_one();
    return true;
  }

  // The item after the last one popped; nullopt when finish() was called and all items were taken, or on cancel().
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return cancelled_ || ready_items_.contains(next_) || (finished_ && next_ >= end_); });
    if (cancelled_ || !ready_items_.contains(next_)) return std::nullopt;
    auto node = ready_items_.extract(next_++);
    room_.notify_all();
    return std::move(node.mapped());
  }

  // No sequence number >= `end` will come.
  void finish(std::uint64_t end) {
    std::lock_guard lock(mutex_);
    finished_ = true;
    end_ = end;
    ready_.notify_all();
  }

  // Wakes everybody; used when one side failed.
  void cancel() {
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    ready_.notify_all();
    room_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::condition_variable room_;
  std::map<std::uint64_t, T> ready_items_;
  std::size_t capacity_;
  std::uint64_t next_ = 0;
  std::uint64_t end_ = 0;
  bool finished_ = false;
  bool cancelled_ = false;
};

// Calls a function again and again on a thread of its own; what it throws counts for nothing.
class Ticker {
 public:
  Ticker(std::chrono::nanoseconds interval, std::function<void()> tick)
      : thread_([this, interval, tick = std::move(tick)](const std::stop_token& done) {
          std::unique_lock lock(mutex_);
          const auto is_done = [&] { return done.stop_requested(); };
          while (!wake_.wait_for(lock, done, interval, is_done)) static_cast<void>(catch_error(tick));
        }) {}
  Ticker& operator=(Ticker&&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // the last member: it ends first
};

// A flag that tells work to end early: set when `cancel` is set or soon after the time is up. Both are looked at again
// and again, because a signal handler can notify nobody; without a limit the flag is `cancel` itself.
class Deadline {
 public:
  // `limit` zero: none. `cancel` may be null and must outlive this object.
  Deadline(std::chrono::nanoseconds limit, const std::atomic<bool>* cancel) : cancel_(cancel) {
    constexpr std::chrono::nanoseconds kPause = std::chrono::milliseconds(50);
    if (limit.count() <= 0) return;
    ticker_.emplace(std::min(limit, kPause), [this, end = std::chrono::steady_clock::now() + limit] {
      if (raised_) return;
      expired_ = std::chrono::steady_clock::now() >= end;
      raised_ = expired_ || (cancel_ != nullptr && cancel_->load());
    });
  }
  Deadline& operator=(Deadline&&) = delete;

  [[nodiscard]] const std::atomic<bool>* flag() const { return ticker_ ? &raised_ : cancel_; }
  [[nodiscard]] bool expired() const { return expired_; }

 private:
  const std::atomic<bool>* cancel_;
  std::atomic<bool> raised_ = false, expired_ = false;
  std::optional<Ticker> ticker_;  // the last member: it ends first
};

}  // namespace tracedb
