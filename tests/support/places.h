// Places of a text at which a test tries a fault.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace tracedb {

/// The places begin, begin + 1, ... before `end`. With TRACEDB_TEST_STRIDE=n in the environment one of n, which suits
/// programs made slow by a sanitizer: the first is then begin + round % n, so that n kinds of fault, tried in
/// consecutive rounds, together meet every place.
inline std::vector<std::size_t> places(std::size_t begin, std::size_t end, std::size_t round) {
  const char* wish = std::getenv("TRACEDB_TEST_STRIDE");
  const std::size_t stride = wish == nullptr ? 1 : std::max(1UL, std::strtoul(wish, nullptr, 10));
  std::vector<std::size_t> out;
  for (std::size_t at = begin + round % stride; at < end; at += stride) out.push_back(at);
  return out;
}

}  // namespace tracedb
