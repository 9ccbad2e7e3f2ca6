#include "base/python/literal.h"

#include <doctest/doctest.h>

#include <string>

namespace tracedb::python {
namespace {

// The literal, with every container in brackets that tell it.
std::string shown(const Literal& literal) {
  std::string items;
  for (const Literal& item : literal.items) items += (items.empty() ? "" : " ") + shown(item);
  const std::string type(type_name(literal));
  switch (literal.kind) {
    case LiteralKind::kText:
    case LiteralKind::kBytes:
      return type + ":" + literal.text;
    case LiteralKind::kBool:
    case LiteralKind::kInt:
    case LiteralKind::kFloat:
    case LiteralKind::kComplex:
      return type + ":" + std::to_string(literal.number).substr(0, 6);
    case LiteralKind::kNone:
    case LiteralKind::kEllipsis:
      return type;
    default:
      return type + "(" + items + ")";
  }
}

std::string read(std::string_view text) {
  const auto literal = parse_literal(text);
  return literal ? shown(*literal) : "error";
}

}  // namespace

TEST_CASE("python literals: lists of pairs") {
  CHECK(read("[('MatMulV2', 9.0), ('hcom_', 8.29)]") ==
        "list(tuple(str:MatMulV2 float:9.0000) tuple(str:hcom_ float:8.2900))");
  CHECK(read("  [[\"A\", 1],['B', -2.5e-1,],]  # a remark\n") ==
        "list(list(str:A int:1.0000) list(str:B float:-0.250))");
  CHECK(read("[]") == "list()");
  CHECK(read("[1\n,\\\n2]") == "list(int:1.0000 int:2.0000)");
}

TEST_CASE("python literals: other containers and constants") {
  CHECK(read("()") == "tuple()");
  CHECK(read("(1)") == "int:1.0000");
  CHECK(read("(1,)") == "tuple(int:1.0000)");
  CHECK(read("1, 'a'") == "tuple(int:1.0000 str:a)");
  CHECK(read("{1, 2}") == "set(int:1.0000 int:2.0000)");
  CHECK(read("set()") == "set()");
  CHECK(read("{}") == "dict()");
  CHECK(read("{'a': 1, 'b': [2],}") == "dict(str:a int:1.0000 str:b list(int:2.0000))");
  CHECK(read("[None, True, False, ...]") == "list(NoneType bool:1.0000 bool:0.0000 ellipsis)");
}

TEST_CASE("python literals: numbers") {
  CHECK(read("0x1F") == "int:31.000");
  CHECK(read("0b1_0") == "int:2.0000");
  CHECK(read("1_000.5") == "float:1000.5");
  CHECK(read(".5") == "float:0.5000");
  CHECK(read("1.") == "float:1.0000");
  CHECK(read("00") == "int:0.0000");
  CHECK(read("-1") == "int:-1.000");
  CHECK(read("+ 2") == "int:2.0000");
  CHECK(read("1+2j") == "complex:2.0000");
  for (const char* wrong : {"01", "1__0", "1_", "0x", "--1", "1+2", "-True", "1abc", "-", "1e", "1 2"}) {
    CAPTURE(wrong);
    CHECK(read(wrong) == "error");
  }
}

TEST_CASE("python literals: texts") {
  CHECK(read(R"('a\'b' "c" r'\n' u'\u00fc\x41\101\N')") == "error");
  CHECK(read(R"('a\'b' "c" r'\n' u'\u00fc\x41\101\q\
')") == "str:a'bc\\n\xC3\xBC"
        "AA\\q");
  CHECK(read("'''two\nlines'''") == "str:two\nlines");
  CHECK(read("b'x'") == "bytes:x");
  CHECK(read("''") == "str:");
  for (const char* wrong : {"'a\nb'", "'a", "f'a'", "b'a' 'c'", "b'\xC3\xBC'", "'\\x4'", "garbage", "a.b", "f(1)", "[",
                            "[1", "[1)", "[1,,2]", "[,]", "{1: }", "{1: 2, 3}", "", "[1] x", "lambda: 0"}) {
    CAPTURE(wrong);
    CHECK(read(wrong) == "error");
  }
  CHECK(read(std::string_view("'a\0'", 4)) == "error");
}

TEST_CASE("python literals: deep ones are none, not a crash") {
  CHECK(read(std::string(150, '[') + std::string(150, ']')).starts_with("list("));
  CHECK(read(std::string(100000, '[')) == "error");
}

TEST_CASE("python literals: what can be in a set") {
  CHECK(is_hashable(*parse_literal("('a', (1, None))")));
  CHECK(!is_hashable(*parse_literal("('a', [1])")));
}

}  // namespace tracedb::python
