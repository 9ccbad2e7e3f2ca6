#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "base/python/json.h"
#include "support/cases.h"
#include "support/refused.h"

namespace tracedb::python {
namespace {

// Of a document read from one text.
std::string written(std::string_view json, NonAscii non_ascii = NonAscii::kEscaped) {
  return to_json(read_json(std::string(json), "x"), non_ascii);
}

// The message; empty: none.
std::string failure_of(const std::string& json, const EventVisit& visit = {}) {
  return refused(ErrorCode::kInput, [&] { read_json(json, "x", visit); });
}

}  // namespace

TEST_CASE("python: floats print as repr prints them") {
  constexpr std::pair<double, const char*> kCases[] = {{584, "584.0"},
                                                       {-0.0, "-0.0"},
                                                       {1e16, "1e+16"},
                                                       {1e15 + 0.2, "1000000000000000.2"},
                                                       {1.2345678901234568e17, "1.2345678901234568e+17"},
                                                       {0.0001, "0.0001"},
                                                       {0.00001, "1e-05"},
                                                       {561.0958904109589, "561.0958904109589"},
                                                       {1e22, "1e+22"},
                                                       {5e-324, "5e-324"}};
  for (const auto& [number, text] : kCases) CHECK(float_text(number) == text);
}

TEST_CASE("python: values as str prints them, and equal ones have one key") {
  const Value list = read_json(R"([1, 2.0, true, null, "x", 0, -0.0, false, "0", 1.0])", "x");
  std::string texts, keys;
  for (const Value& item : list.items) {
    texts += str(item) + " ";
    keys += key_of(item) + " ";
  }
  CHECK(texts == "1 2.0 True None x 0 -0.0 False 0 1.0 ");
  CHECK(keys == "1 2 1 None 'x 0 0 0 '0 1 ");
}

TEST_CASE("python: JSON is written as it was read, but for its space") {
  check_unchanged(
      [](std::string_view json) { return written(json); },
      {"0", "-0.0", "18446744073709551615", "-7", "null", "true", "[]", "{}",
       "[\n  1,\n  {\n    \"a\": 2.5,\n    \"b\": []\n  }\n]", R"("\u00e9\ud83d\ude00\u0001\t/\"\\\u007f")"});
  CHECK(written("-0") == "0");
  CHECK(written("1e5") == "100000.0");
  CHECK(written(R"("é\ud83d\ude00\u007f\n")", NonAscii::kRaw) == "\"é😀\x7f\\n\"");
}

TEST_CASE("python: the last of equal keys counts") {
  const Value dict = read_json(R"({"a": 1, "b": 2, "a": "x"})", "x");
  REQUIRE(dict.find("a") != nullptr);
  CHECK(dict.find("a")->text == "x");
  CHECK(dict.find("c") == nullptr);
}

TEST_CASE("python: what is no JSON is said with the place") {
  for (const char* json : {"", "[1,]", "[1 2]", "{\"a\" 1}", "{1: 2}", "[\"a", "\"\\x\"", "1 2", "[NaN]", "[nul]",
                           "[1e999]", "\"\\ud83d\"", "\"\xff\"", "[1", "[123456789012345678901234]"}) {
    CAPTURE(json);
    CHECK(failure_of(json).starts_with("x: not JSON"));
  }
  CHECK(failure_of(std::string(1000, '[')).starts_with("x: not JSON"));
  CHECK(failure_of("[1, nul]").starts_with("x: not JSON, about byte 4: "));
  CHECK(failure_of(std::string(500, '[') + std::string(500, ']')).empty());
}

TEST_CASE("python: events come one by one, and are named by file and number where something is wrong") {
  std::size_t seen = 0;
  const auto visit = [&](const Value&) { ++seen; };
  CHECK(failure_of("[{}, 3]", numbered_events("x.json", visit)) == "x.json: event 2: no JSON object");
  CHECK(seen == 1);
  const Value list = read_json("[{}, {}]", "x", numbered_events("x.json", visit));
  CHECK(seen == 3);
  CHECK(list.kind == Kind::kList);
  CHECK(list.items.empty());
}

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
  check_each("error", read, {"",        "[",    "[1",     "[1)", "[1,,2]",  "[,]",  "[1 2]",    "[1] x",
                             "01",      "1_0",  "0x10",   "--1", "-",       "1e",   "{'a': 1}", "{1}",
                             "garbage", "True", "'a\nb'", "'a",  "'\\x41'", "b'x'", "f(1)",     "'a' 'b'"});
  CHECK(read(std::string(100000, '[')) == "error");
}

}  // namespace tracedb::python
