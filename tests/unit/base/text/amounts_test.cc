#include "base/text/amounts.h"

#include <doctest/doctest.h>

#include <cstdint>

namespace tracedb {

TEST_CASE("counted: one thing is singular, none and several are plural") {
  CHECK(counted(0, "gap") == "0 gaps");
  CHECK(counted(std::int64_t{1}, "gap") == "1 gap");
  CHECK(counted(std::size_t{2}, "gap") == "2 gaps");
  CHECK(counted(1, "index", "indexes") == "1 index");
  CHECK(counted(-1, "index", "indexes") == "-1 indexes");
}

TEST_CASE("durations") {
  CHECK(duration_text(512) == "512 ns");
  CHECK(duration_text(1234) == "1.234 us");
  CHECK(duration_text(56'789'000) == "56.789 ms");
  CHECK(duration_text(1.234e9) == "1.234 s");
  CHECK(duration_text(-3) == "-3 ns");
}

TEST_CASE("durations: cycles are no time, as long as that is said") {
  {
    const CycleWords cycles(true);
    const CycleWords inner(false);
    CHECK(brief_time(156'016) == "156,016 cycles");
    CHECK(signed_time(12.4) == "+12 cycles");
    CHECK(duration_text(-51'972.0) == "-51,972 cycles");
    CHECK(short_duration_text(0) == "0 cycles");
  }
  CHECK(brief_time(156'016) == "156 us");
}

TEST_CASE("moments") {
  CHECK(moment_text(1'747'204'044'851'617'869) == "2025-05-14 06:27:24.851617869 UTC");
  CHECK(moment_text(1'747'204'044'000'000'005) == "2025-05-14 06:27:24.000000005 UTC");
  CHECK(moment_text(100'000) == "100000 ns");
  CHECK(moment_text(-5) == "-5 ns");
}

}  // namespace tracedb
