// How thoroughly a test tries faults, and the places at which it does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace tracedb {

/// n of TRACEDB_TEST_STRIDE=n in the environment, else 1: one of n places is tried, or an n-th of a large text. This
/// suits programs made slow by a sanitizer, as does skipping what counts over hundreds of samples how often something
/// holds, where other cases run the same code: TEST_CASE("..." * doctest::skip(test_stride() > 1)).
inline std::size_t test_stride() {
  const char* wish = std::getenv("TRACEDB_TEST_STRIDE");
  return wish == nullptr ? 1 : std::max(1UL, std::strtoul(wish, nullptr, 10));
}

/// The places begin, begin + 1, ... before `end`, or one of test_stride(): the first is then begin + round % stride, so
/// that as many kinds of fault, tried in consecutive rounds, together meet every place.
inline std::vector<std::size_t> places(std::size_t begin, std::size_t end, std::size_t round) {
  const std::size_t stride = test_stride();
  std::vector<std::size_t> out;
  for (std::size_t at = begin + round % stride; at < end; at += stride) out.push_back(at);
  return out;
}

}  // namespace tracedb
