#include "sql/watchdog.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "sql/database.h"

namespace tracedb {
namespace {

using std::chrono::milliseconds;

constexpr const char* kEndless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c";
// Few operations of the virtual machine, each of which takes long.
constexpr const char* kSlowCalls =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT sum(length(printf('%.*c', 3000000 + x, "
    "'x'))) FROM c";

// Waits as long as it takes: what never happens is for the limit of the whole test to find.
void wait_for(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::sleep_for(milliseconds(1));
}

bool is_ended(Database& database, const char* sql) {
  try {
    database.execute(sql);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kResource);
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("statements end when the time is up, and those after them too") {
  Watchdog watchdog(milliseconds(20), [] {});
  Database first(":memory:", Database::Mode::kMemory), second(":memory:", Database::Mode::kMemory);
  first.end_by(watchdog);
  second.end_by(watchdog);
  CHECK(is_ended(first, kEndless));
  CHECK(watchdog.time_is_up());
  CHECK(is_ended(second, kSlowCalls));
  CHECK(is_ended(first, kEndless));
}

TEST_CASE("what looks at nothing is left to the last resort") {
  std::atomic<bool> last = false;
  const Watchdog watchdog(milliseconds(1), [&] { last = true; });
  wait_for(last);
  CHECK(watchdog.time_is_up());
}

TEST_CASE("the last resort is for those who do not end") {
  bool last = false;
  {
    const Watchdog watchdog(std::chrono::hours(1), [&] { last = true; });
  }
  CHECK_FALSE(last);
}

TEST_CASE("a database may end before its watchdog, and move") {
  Watchdog watchdog(milliseconds(10), [] {});
  { Database(":memory:", Database::Mode::kMemory).end_by(watchdog); }
  Database database(":memory:", Database::Mode::kMemory);
  database.end_by(watchdog);
  Database moved = std::move(database);
  CHECK(is_ended(moved, kEndless));
}

TEST_CASE("the clock can be made to stand still") {
  Watchdog watchdog(std::chrono::hours(1), [] {});
  watchdog.pause();
  watchdog.pause();
  watchdog.resume();
  watchdog.resume();
  watchdog.pause();
  CHECK_FALSE(watchdog.time_is_up());
}

}  // namespace tracedb
