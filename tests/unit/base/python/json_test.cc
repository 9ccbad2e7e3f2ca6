#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "base/failure.h"
#include "base/python/json_reader.h"
#include "base/python/json_writer.h"
#include "base/python/text.h"

namespace tracedb::python {
namespace {

std::string failure_text(std::string_view json) {
  const auto failed = catch_error([&] { read_json(json); });
  return failed ? failed->what() : "";
}

std::string scalar_text(std::string_view json, NonAscii non_ascii = NonAscii::kEscaped) {
  JsonWriter writer(non_ascii);
  writer.scalar(read_json(json));
  return writer.result();
}

}  // namespace

TEST_CASE("python: floats print as repr prints them") {
  CHECK(float_text(584) == "584.0");
  CHECK(float_text(-0.0) == "-0.0");
  CHECK(float_text(1e16) == "1e+16");
  CHECK(float_text(1e15 + 0.2) == "1000000000000000.2");
  CHECK(float_text(1.2345678901234568e17) == "1.2345678901234568e+17");
  CHECK(float_text(0.0001) == "0.0001");
  CHECK(float_text(0.00001) == "1e-05");
  CHECK(float_text(561.0958904109589) == "561.0958904109589");
  CHECK(float_text(5e-324) == "5e-324");
  CHECK(float_text(-std::numeric_limits<double>::infinity()) == "-inf");
}

TEST_CASE("python: numbers of a document keep their type") {
  CHECK(scalar_text("0") == "0");
  CHECK(scalar_text("-0") == "0");
  CHECK(scalar_text("-0.0") == "-0.0");
  CHECK(scalar_text("12345678901234567890123") == "12345678901234567890123");
  CHECK(scalar_text("1e400") == "Infinity");
  CHECK(scalar_text("NaN") == "NaN");
  CHECK(scalar_text("1e5") == "100000.0");
}

TEST_CASE("python: texts are escaped or raw") {
  CHECK(scalar_text(R"("é😀\u0001\t/")") == R"("\u00e9\ud83d\ude00\u0001\t/")");
  CHECK(scalar_text(R"("é\ud83d\ude00\u007f")", NonAscii::kRaw) == "\"é😀\x7f\"");
  CHECK(scalar_text("\"\x7f\"") == R"("\u007f")");
  CHECK(scalar_text(R"("\ud83d\u0041")") == R"("\ud83dA")");
  CHECK(repr("it's") == "\"it's\"");
  CHECK(repr("'\"\n\\") == R"('\'"\n\\')");
}

TEST_CASE("python: the last of equal keys counts, and elements can be had one by one") {
  const Value dict = read_json(R"({"a": 1, "b": 2, "a": "x"})");
  REQUIRE(dict.find("a") != nullptr);
  CHECK(dict.find("a")->text == "x");
  CHECK(dict.find("c") == nullptr);
  std::string seen;
  const Value list = read_json("[1, [2], 3]", [&](const Value& value) { seen += type_name(value); });
  CHECK(seen == "intlistint");
  CHECK(list.kind == Kind::kList);
  CHECK(list.items.empty());
}

TEST_CASE("python: what is wrong with a document, and where") {
  const std::string prefix = "json.decoder.JSONDecodeError: ";
  CHECK(failure_text("") == prefix + "Expecting value: line 1 column 1 (char 0)");
  CHECK(failure_text("[1,]") == prefix + "Expecting value: line 1 column 4 (char 3)");
  CHECK(failure_text("[1 2]") == prefix + "Expecting ',' delimiter: line 1 column 4 (char 3)");
  CHECK(failure_text("{\"é\"\n 1}") == prefix + "Expecting ':' delimiter: line 2 column 2 (char 6)");
  CHECK(failure_text("{1: 2}") ==
        prefix + "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)");
  CHECK(failure_text("[\"a") == prefix + "Unterminated string starting at: line 1 column 2 (char 1)");
  CHECK(failure_text("\"\\x\"") == prefix + "Invalid \\escape: line 1 column 2 (char 1)");
  CHECK(failure_text("\"\\u12\"") == prefix + "Invalid \\uXXXX escape: line 1 column 3 (char 2)");
  CHECK(failure_text("1 2") == prefix + "Extra data: line 1 column 3 (char 2)");
  CHECK(failure_text("\xEF\xBB\xBF[]") ==
        prefix + "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)");
  CHECK(failure_text(std::string(992, '[') + std::string(992, ']')).empty());
  CHECK(failure_text(std::string(993, '[')) ==
        "RecursionError: maximum recursion depth exceeded while decoding a JSON array from a unicode string");
}

TEST_CASE("python: a missing file is said as open() says it") {
  const auto failed = catch_error([] { read_text("no/such.json"); });
  REQUIRE(failed);
  CHECK(std::string(failed->what()) == "FileNotFoundError: [Errno 2] No such file or directory: 'no/such.json'");
  CHECK(failed->code() == ErrorCode::kAnswerIsNo);
}

}  // namespace tracedb::python
