#include "base/dense_index.h"

#include <doctest/doctest.h>

#include <cstdint>

namespace tracedb {

TEST_CASE("DenseIndex: keys are numbered as they come, whichever bits tell them apart") {
  for (const unsigned shift : {0U, 20U, 32U, 50U}) {
    DenseIndex index;
    bool right = true;
    for (int round = 0; round < 2; ++round) {
      for (std::uint32_t i = 0; i < 5000; ++i) {
        const DenseIndex::Entry entry = index.index_of(std::uint64_t{i} << shift);
        right = right && entry.index == i && entry.is_new == (round == 0);
      }
    }
    CHECK(right);
    CHECK(index.size() == 5000);
  }
}

TEST_CASE("DenseIndex: the last one can be forgotten, and the others are still found") {
  DenseIndex index;
  for (std::uint64_t i = 0; i < 3000; ++i) index.index_of(i << 40U);
  for (std::uint64_t i = 3000; i-- > 1000;) index.forget_last(i << 40U);
  CHECK(index.size() == 1000);
  bool found = true;
  for (std::uint64_t i = 0; i < 1000; ++i) found = found && !index.index_of(i << 40U).is_new;
  CHECK(found);
  CHECK(index.index_of(std::uint64_t{2000} << 40U).index == 1000);
}

}  // namespace tracedb
