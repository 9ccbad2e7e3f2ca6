#include "ingest/store/event_batch.h"

#include <doctest/doctest.h>

#include <string>

namespace tracedb {

TEST_CASE("equal bytes get the number of their first appearance") {
  Interner interner;
  CHECK(interner.intern("a").id == 1);
  CHECK(interner.intern("").id == 2);
  CHECK(interner.intern("").is_new == false);
  CHECK(interner.intern(std::string_view("\0", 1)).id == 3);
  CHECK(interner.intern(std::string_view("a\0", 2)).id == 4);
  CHECK(interner.intern("a").id == 1);
  CHECK(interner.text(4) == std::string_view("a\0", 2));
  CHECK(interner.size() == 4);
}

TEST_CASE("what is forgotten is new again") {
  Interner interner;
  for (int i = 0; i < 3000; ++i) interner.intern("text " + std::to_string(i));
  interner.forget_last(2000);
  CHECK(interner.size() == 1000);
  CHECK(interner.intern("text 2999").id == 1001);
  CHECK(interner.intern("text 999").id == 1000);
  CHECK_FALSE(interner.intern("text 2999").is_new);
  interner.forget_last(0);
  CHECK(interner.size() == 1001);
}

TEST_CASE("numbers and texts outlive growth") {
  Interner interner;
  const std::string_view first = interner.text(interner.intern("text 0").id);
  for (int i = 0; i < 20000; ++i)
    CHECK(interner.intern("text " + std::to_string(i)).id == static_cast<std::uint32_t>(i + 1));
  for (int i = 0; i < 20000; ++i) {
    const Interner::Entry entry = interner.intern("text " + std::to_string(i));
    REQUIRE(entry.id == static_cast<std::uint32_t>(i + 1));
    REQUIRE_FALSE(entry.is_new);
  }
  CHECK(first == "text 0");
  CHECK(first.data() == interner.text(1).data());
}

}  // namespace tracedb
