#include "base/python/json.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "base/failure.h"

namespace tracedb::python {
namespace {

// Of a document read from one text.
std::string written(std::string_view json, NonAscii non_ascii = NonAscii::kEscaped) {
  return to_json(read_json(std::string(json), "x"), non_ascii);
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
  for (const char* json :
       {"0", "-0.0", "18446744073709551615", "-7", "null", "true", "[]", "{}",
        "[\n  1,\n  {\n    \"a\": 2.5,\n    \"b\": []\n  }\n]", R"("\u00e9\ud83d\ude00\u0001\t/\"\\\u007f")"}) {
    CHECK(written(json) == json);
  }
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
  const std::string deep(1000, '[');
  for (const std::string& json :
       {std::string(), std::string("[1,]"), std::string("[1 2]"), std::string("{\"a\" 1}"), std::string("{1: 2}"),
        std::string("[\"a"), std::string("\"\\x\""), std::string("1 2"), std::string("[NaN]"), std::string("[nul]"),
        std::string("[1e999]"), std::string("\"\\ud83d\""), std::string("\"\xff\""), std::string("[1"),
        std::string("[123456789012345678901234]"), deep}) {
    CAPTURE(json);
    const auto failed = catch_error([&] { read_json(json, "x.json"); });
    REQUIRE(failed);
    CHECK(failed->code() == ErrorCode::kInput);
    CHECK(std::string(failed->what()).starts_with("x.json: not JSON"));
  }
  const auto failed = catch_error([] { read_json("[1, nul]", "x"); });
  REQUIRE(failed);
  CHECK(std::string(failed->what()).starts_with("x: not JSON, about byte 4: "));
  CHECK(read_json(std::string(500, '[') + std::string(500, ']'), "x").kind == Kind::kList);
}

TEST_CASE("python: events are named by file and number where something is wrong") {
  std::size_t seen = 0;
  const auto visit = [&](const Value&) { ++seen; };
  const auto failed = catch_error([&] { read_json("[{}, 3]", "x", numbered_events("x.json", visit)); });
  CHECK(seen == 1);
  REQUIRE(failed);
  CHECK(std::string(failed->what()) == "x.json: event 2: no JSON object");
  const Value list = read_json("[{}, {}]", "x", numbered_events("x.json", visit));
  CHECK(seen == 3);
  CHECK((list.kind == Kind::kList && list.items.empty()));
}

}  // namespace tracedb::python
