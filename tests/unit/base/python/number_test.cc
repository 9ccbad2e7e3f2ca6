#include "base/python/number.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace tracedb::python {

TEST_CASE("python numbers: float of a text") {
  CHECK(to_float(" 3.5\t") == 3.5);
  CHECK(to_float("1e1") == 10);
  CHECK(to_float("1_0.0_5") == 10.05);
  CHECK(to_float("+.5") == 0.5);
  CHECK(to_float("5.") == 5);
  CHECK(to_float("1736413971558972.912") == 1736413971558973.0);  // what binary64 has beside it
  CHECK(to_float("1e400") == HUGE_VAL);
  CHECK(to_float("-Infinity") == -HUGE_VAL);
  CHECK(std::isnan(to_float("nAn").value()));
  CHECK(to_float("\xC2\xA0"
                 "7\xE2\x80\x89") == 7);  // wide blanks of Unicode
  for (const char* wrong :
       {"", " ", "N/A", "1,234.5", "1__0", "_1", "1_", "0x10", ".", "e5", "1e", "1 2", "--1", "infi"}) {
    CAPTURE(wrong);
    CHECK(!to_float(wrong));
  }
}

TEST_CASE("python numbers: rounding to tenths") {
  CHECK(round_to_tenths(0.25) == 0.2);
  CHECK(round_to_tenths(0.75) == 0.8);
  CHECK(round_to_tenths(0.35) == 0.3);  // a little less than 0.35 in binary
  CHECK(round_to_tenths(2.675) == 2.7);
  CHECK(std::signbit(round_to_tenths(-0.04)));
  CHECK(round_to_tenths(1e300) == 1e300);
  CHECK(std::isnan(round_to_tenths(std::nan(""))));
}

TEST_CASE("python numbers: strip") {
  CHECK(strip(" \t\x1c x y \r\n") == "x y");
  CHECK(strip(" \n").empty());
}

}  // namespace tracedb::python
