// Passes results of several workers to one consumer in sequence order, so that the outcome depends neither on the
// number of threads nor on their timing. Bounded: a producer that runs too far ahead waits.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace tracedb {

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
