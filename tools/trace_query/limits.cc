#include "trace_query/limits.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "sql/database.h"

namespace tracedb {
namespace {

// The address and the thread sanitizer take memory of their own by the terabyte.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

}  // namespace

RunLimits& RunLimits::of_process() {
  static RunLimits limits;
  return limits;
}

void RunLimits::limit_time(std::chrono::nanoseconds limit) {
  time_text_ = fmt::format("the time limit of {:g} s was reached; --timeout SECONDS sets another one, 0 none",
                           std::chrono::duration<double>(limit).count());
  watchdog_.emplace(limit, [line = "trace-query: " + time_text_ + "\n"] {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    ::_exit(static_cast<int>(ErrorCode::kResource));
  });
}

void RunLimits::limit_memory(std::uint64_t bytes) {
  memory_text_ = fmt::format("; the limit is {} MB, --max-memory SIZE sets another one, 0 none", bytes / 1'000'000);
  rlimit limit{};
  if (kSanitized || ::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= bytes) return;
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_DATA, &limit);
}

void RunLimits::watch(Database& database) {
  if (watchdog_) database.end_by(*watchdog_);
}

const std::atomic<bool>* RunLimits::time_is_up() const { return watchdog_ ? &watchdog_->time_is_up() : nullptr; }

std::string RunLimits::time_limit_reached() const {
  return watchdog_ && watchdog_->time_is_up() ? time_text_ : std::string();
}

std::string RunLimits::out_of_memory() const { return "out of memory" + memory_text_; }

}  // namespace tracedb
