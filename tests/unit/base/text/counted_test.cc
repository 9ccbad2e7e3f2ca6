#include "base/text/counted.h"

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

}  // namespace tracedb
