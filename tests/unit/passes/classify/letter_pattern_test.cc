#include "passes/classify/letter_pattern.h"

#include <doctest/doctest.h>

namespace tracedb {

TEST_CASE("a pattern without a star fits itself alone") {
  CHECK(LetterPattern("kernel").fits("kernel"));
  CHECK_FALSE(LetterPattern("kernel").fits("kernel2"));
  CHECK_FALSE(LetterPattern("kernel").fits("akernel"));
  CHECK(LetterPattern("").fits(""));
  CHECK_FALSE(LetterPattern("").fits("a"));
}

TEST_CASE("a star stands for any letters, or none") {
  CHECK(LetterPattern("*").fits(""));
  CHECK(LetterPattern("*").fits("abc"));
  CHECK(LetterPattern("ab*").fits("ab"));
  CHECK(LetterPattern("ab*").fits("abc"));
  CHECK(LetterPattern("*bc").fits("abc"));
  CHECK_FALSE(LetterPattern("*bc").fits("abcd"));
  CHECK(LetterPattern("cutlass*::kernel").fits("cutlass::gemm::kernel"));
  CHECK_FALSE(LetterPattern("cutlass*::kernel").fits("cutlass::gemm::kernel2"));
}

TEST_CASE("pieces follow each other and do not overlap") {
  CHECK(LetterPattern("*enable*sm*").fits("enablesm80"));
  CHECK(LetterPattern("*enable*sm*").fits("ns::enableifsm90"));
  CHECK_FALSE(LetterPattern("*enable*sm*").fits("smenable"));
  CHECK_FALSE(LetterPattern("aba*aba").fits("ababa"));
  CHECK(LetterPattern("aba*aba").fits("abaaba"));
  CHECK(LetterPattern("a**b").fits("ab"));
  CHECK(LetterPattern("*ab*ab").fits("abcab"));
  CHECK_FALSE(LetterPattern("*ab*ab").fits("cab"));
}

}  // namespace tracedb
