#include "base/deadline.h"

#include <doctest/doctest.h>

namespace tracedb {
namespace {

// Waits as long as it takes: a flag that is never raised is for the limit of the whole test to find.
void wait_for(const std::atomic<bool>* flag) {
  while (!flag->load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

TEST_CASE("without a limit the flag is the caller's") {
  const std::atomic<bool> cancel = false;
  const Deadline deadline(std::chrono::nanoseconds(0), &cancel);
  CHECK(deadline.flag() == &cancel);
  CHECK_FALSE(deadline.expired());
}

TEST_CASE("the flag is raised by the time and by the caller") {
  std::atomic<bool> cancel = false;
  const Deadline early(std::chrono::milliseconds(1), &cancel);
  wait_for(early.flag());
  CHECK(early.expired());
  const Deadline late(std::chrono::hours(1), &cancel);
  CHECK_FALSE(late.flag()->load());
  cancel = true;
  wait_for(late.flag());
  CHECK_FALSE(late.expired());
}

}  // namespace tracedb
