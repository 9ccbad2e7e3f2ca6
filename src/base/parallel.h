// A std::thread that captures an exception and rethrows it from join().
#pragma once

#include <exception>
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
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

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

}  // namespace tracedb
