#include "passes/classify/glob_pattern.h"

#include <doctest/doctest.h>

namespace tracedb {

TEST_CASE("a pattern without a star fits itself alone") {
  CHECK(GlobPattern("kernel").fits("kernel"));
  CHECK_FALSE(GlobPattern("kernel").fits("kernel2"));
  CHECK_FALSE(GlobPattern("kernel").fits("akernel"));
  CHECK(GlobPattern("").fits(""));
  CHECK_FALSE(GlobPattern("").fits("a"));
}

TEST_CASE("a star stands for any letters, or none") {
  CHECK(GlobPattern("*").fits(""));
  CHECK(GlobPattern("*").fits("abc"));
  CHECK(GlobPattern("ab*").fits("ab"));
  CHECK(GlobPattern("ab*").fits("abc"));
  CHECK(GlobPattern("*bc").fits("abc"));
  CHECK_FALSE(GlobPattern("*bc").fits("abcd"));
  CHECK(GlobPattern("cutlass*::kernel").fits("cutlass::gemm::kernel"));
  CHECK_FALSE(GlobPattern("cutlass*::kernel").fits("cutlass::gemm::kernel2"));
}

TEST_CASE("pieces follow each other and do not overlap") {
  CHECK(GlobPattern("*enable*sm*").fits("enablesm80"));
  CHECK(GlobPattern("*enable*sm*").fits("ns::enableifsm90"));
  CHECK_FALSE(GlobPattern("*enable*sm*").fits("smenable"));
  CHECK_FALSE(GlobPattern("aba*aba").fits("ababa"));
  CHECK(GlobPattern("aba*aba").fits("abaaba"));
  CHECK(GlobPattern("a**b").fits("ab"));
  CHECK(GlobPattern("*ab*ab").fits("abcab"));
  CHECK_FALSE(GlobPattern("*ab*ab").fits("cab"));
}

}  // namespace tracedb
