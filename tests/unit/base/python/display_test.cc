#include "base/python/display.h"

#include <doctest/doctest.h>

#include "base/python/json_reader.h"

namespace tracedb::python {
namespace {

std::string set_of(std::string_view json_list) { return set_text(read_json(json_list).items); }

}  // namespace

TEST_CASE("python display: values") {
  CHECK(str(read_json(R"("a'b")")) == "a'b");
  CHECK(repr(read_json(R"("a'b")")) == "\"a'b\"");
  CHECK(str(read_json("[1, 2.0, true, null, \"x\"]")) == "[1, 2.0, True, None, 'x']");
  CHECK(str(read_json(R"({"a": 1, "b": {}, "a": [2]})")) == "{'a': [2], 'b': {}}");
}

// The expected orders were printed by Python 3.11.
TEST_CASE("python display: sets have the order of their hashes") {
  CHECK(set_of("[]") == "set()");
  CHECK(set_of("[1, 0]") == "{0, 1}");
  CHECK(set_of("[8, 0, 1]") == "{8, 0, 1}");
  CHECK(set_of("[16, 8, 1736]") == "{16, 8, 1736}");
  CHECK(set_of("[7, 16, 8, 1736, -1, -2]") == "{7, 8, 1736, 16, -2, -1}");
  CHECK(set_of("[2.5, 1, 3]") == "{1, 2.5, 3}");
  CHECK(set_of("[100000000000000000000, 5]") == "{100000000000000000000, 5}");
  CHECK(set_of("[\"b\", \"a\"]") == "{'b', 'a'}");
}

}  // namespace tracedb::python
