#include "base/python/literal.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace tracedb::python {
namespace {

// The literal, with brackets that tell lists from tuples.
std::string shown(const Value& value) {
  if (!value.is_sequence()) return str(value);
  std::string items;
  for (const Value& item : value.items) items += (items.empty() ? "" : " ") + shown(item);
  return value.kind == Kind::kList ? "[" + items + "]" : "(" + items + ")";
}

std::string read(std::string_view source) {
  const auto literal = parse_literal(source);
  return literal ? shown(*literal) : "error";
}

}  // namespace

TEST_CASE("python literals: lists and tuples of numbers and texts") {
  constexpr std::pair<const char*, const char*> kCases[] = {
      {"[('MatMulV2', 9.0), ('hcom_', 8.29)]", "[(MatMulV2 9.0) (hcom_ 8.29)]"},
      {"  [[\"A\", 1],['B', -2.5e-1,],]\n", "[[A 1.0] [B -0.25]]"},
      {"[]", "[]"},
      {"()", "()"},
      {"(1)", "1.0"},
      {"(1,)", "(1.0)"},
      {"[None, 1e-05, 0]", "[None 1e-05 0.0]"},
      {R"('a\'b\\\n"')", "a'b\\\n\""},
      {"'\xC3\xBC'", "\xC3\xBC"}};
  for (const auto& [source, expected] : kCases) CHECK(read(source) == expected);
  CHECK(read(std::string(150, '[') + std::string(150, ']')).starts_with("["));
}

TEST_CASE("python literals: anything else is none") {
  for (const char* source :
       {"",  "[",  "[1",       "[1)", "[1,,2]",  "[,]",  "[1 2]",  "[1] x", "01",      "1_0",  "0x10", "--1",
        "-", "1e", "{'a': 1}", "{1}", "garbage", "True", "'a\nb'", "'a",    "'\\x41'", "b'x'", "f(1)", "'a' 'b'"}) {
    CAPTURE(source);
    CHECK(read(source) == "error");
  }
  CHECK(read(std::string(100000, '[')) == "error");
}

}  // namespace tracedb::python
