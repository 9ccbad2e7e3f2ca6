#include "trace_query/limits.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <optional>

#include "base/error.h"
#include "sql/database.h"
#include "sql/safety.h"

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

constexpr std::string_view kNarrow = "narrow the question";

std::optional<Watchdog> run_watchdog;
std::string time_limit_text, memory_limit_text;

}  // namespace

namespace run_limits {

void limit_time(std::chrono::nanoseconds limit, bool is_fixed) {
  time_limit_text =
      fmt::format("the time limit of {:g} s was reached; {}", std::chrono::duration<double>(limit).count(),
                  is_fixed ? kNarrow : "--timeout SECONDS sets another one, 0 none");
  run_watchdog.emplace(limit, [line = "trace-query: " + time_limit_text + "\n"] {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    ::_exit(static_cast<int>(ErrorCode::kResource));
  });
}

void limit_memory(std::uint64_t bytes, bool is_fixed) {
  memory_limit_text = fmt::format("; the limit is {} MB, {}", bytes / 1'000'000,
                                  is_fixed ? kNarrow : "--max-memory SIZE sets another one, 0 none");
  rlimit limit{};
  if (kSanitized || ::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= bytes) return;
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_DATA, &limit);
}

void pause() {
  if (run_watchdog) run_watchdog->pause();
}

void resume() {
  if (run_watchdog) run_watchdog->resume();
}

void watch(Database& database) {
  if (run_watchdog) database.end_by(*run_watchdog);
}

const std::atomic<bool>* time_is_up() { return run_watchdog ? &run_watchdog->time_is_up() : nullptr; }

std::string time_limit_reached() {
  return run_watchdog && run_watchdog->time_is_up() ? time_limit_text : std::string();
}

std::string out_of_memory() { return "out of memory" + memory_limit_text; }

}  // namespace run_limits
}  // namespace tracedb
