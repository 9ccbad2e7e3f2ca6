// A std::thread that captures an exception and rethrows it from join().
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace tracedb {

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

}  // namespace tracedb
