// Damage around the events: garbage before a trace, a header that is broken anywhere, and runs of broken events. No
// whole event is lost, broken ones are counted one by one, and the outcome does not depend on how the trace was cut.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "support/places.h"
#include "support/salvaged.h"

namespace tracedb {
namespace {

constexpr int kDamagedEvents = 9;

std::string events_text() {
  std::string text;
  for (int i = 1; i <= kDamagedEvents; ++i) text += (i > 1 ? "," : "") + event(i);
  return text;
}

const std::string kHeader = R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A", "x": {"y": [1, "]}"]}},
  {"id": 1}], "distributedInfo": {"rank": 3, "g": [{}, []]}, "b": "t\"{", "baseTimeNanoseconds": 17, )";

}  // namespace

TEST_CASE("any byte of the header is another one, missing, or one too many") {
  const std::string text = kHeader + "\"traceEvents\": [" + events_text() + "\n], \"traceName\": \"x\"}\n";
  const std::size_t list = text.find("[\n");
  std::size_t round = 0;
  for (const std::string_view other : {" ", "", "x", "\"", "{", "}", "[", "]", ",", ":", "\\", "\xff"}) {
    for (const std::size_t at : places(0, list + 1, round++)) {
      for (const std::size_t size : {0U, 1U}) {
        std::string damaged = text;
        damaged.replace(at, size, other);
        const Salvaged result = salvage(damaged, 8192);
        if (result.times.size() == kDamagedEvents && (at % 7 != 0 || salvage(damaged, 64) == result)) continue;
        CAPTURE(damaged.substr(at < 40 ? 0 : at - 40, 80));
        CAPTURE(result.issues);
        CHECK(result.times.size() == kDamagedEvents);
        CHECK(salvage(damaged, 64) == result);
      }
    }
  }
}

TEST_CASE("a hole anywhere in the head: whole events survive") {
  const std::string text = kHeader + "\"traceEvents\": [" + events_text() + "]}";
  for (const std::size_t size : {40U, 512U}) {
    for (std::size_t at = 0; at + size < text.size() / 2; at += 5) {
      std::string damaged = text;
      damaged.replace(at, size, size, '\0');
      std::vector<std::int64_t> whole;
      for (int i = 1; i <= kDamagedEvents; ++i) {
        if (damaged.find(event(i)) != std::string::npos) whole.push_back(i);
      }
      const Salvaged result = salvage(damaged, 8192);
      CAPTURE(at);
      CAPTURE(result.issues);
      CHECK(std::includes(result.times.begin(), result.times.end(), whole.begin(), whole.end()));
      CHECK_FALSE(result.issues.empty());
      CHECK(salvage(damaged, 64) == result);
    }
  }
}

TEST_CASE("behind a broken value the rest of the header is kept") {
  const std::string rest = "\"traceEvents\": [" + events_text() + "], \"traceName\": \"x\"}";
  const auto header = [&](const std::string& begin) { return salvage(begin + rest, 64).header; };
  CHECK(header(R"({"a": 1, "d": [{"id": 0} , "b": {"c": 2}, )") == "a;b;traceName;");
  CHECK(header(R"({"a": 1, "d": {"id": "x"y", "z": 1}, "b": 2, )") == "a;b;traceName;");
  CHECK(header(R"("a": 1, "b": 2, )") == "b;traceName;");
  CHECK(header(R"(x{"a": 1, "b": 2, )") == "a;b;traceName;");
  CHECK(header(R"({"a": tr ue, )") == "traceName;");
  CHECK(salvage("{" + rest.substr(0, rest.size() - 5) + " y\", \"z\": [1], \"w\": 3}", 64).header == "z;w;");
}

TEST_CASE("events are read wherever a bracket or the key of their list is damaged") {
  const std::string list = events_text() + "], \"traceName\": \"x\"}";
  for (const std::string begin :
       {"{\"traceEventz\": [", "{\"schemaVersion\": 1, \"traceEvents\":  ", "{\"a\": {\"b\": 1, \"traceEvents\": [",
        "{\"a\": [1, \"traceEvents\": [", "[{\"traceEvents\": [", "{{\"traceEvents\": [", "x", " ", "]["}) {
    CAPTURE(begin);
    const Salvaged result = salvage(begin + list, 8192);
    CHECK(result.times.size() == kDamagedEvents);
    CHECK_FALSE(result.issues.empty());
    CHECK(salvage(begin + list, 64) == result);
  }
}

TEST_CASE("broken events side by side are each repaired, and counted") {
  std::string text = "[";
  for (int i = 1; i <= 400; ++i) {
    std::string broken = event(i);
    broken.insert(broken.find("\"name\"") + 9, i % 4 == 0 ? "\": " : "\"");
    text += (i > 1 ? "," : "") + broken;
  }
  text += "]";
  const Salvaged result = salvage(text, 8192);
  CHECK(result.read == 400);
  CHECK(result.times.size() == 300);
  CHECK(result.issues.find("repaired_text 300 @") != std::string::npos);
  CHECK(result.issues.find("malformed_event 100 @") != std::string::npos);
  CHECK(result.complete);
  for (const std::size_t size : {64U, 5000U, 1U << 20U}) CHECK(salvage(text, size) == result);
}

TEST_CASE("lists of objects in a broken event are no events") {
  const std::string broken =
      R"({"name": "a"b", "args": {"l": [{"name": 1}, {"name": 2}, {"name": "x"}]}, "ph": "X", "ts": 5, "dur": 1})";
  const Salvaged result = salvage("[" + broken + "," + broken + "," + event(6) + "]", 64);
  CHECK(result.times == std::vector<std::int64_t>{5, 5, 6});
  CHECK(result.issues.starts_with("repaired_text 2 @"));
}

TEST_CASE("events without commas between them cost little") {
  std::string text = "[";
  for (int i = 1; i <= 20'000; ++i) text += event(i);
  const Salvaged result = salvage(text + "]", 1U << 20U);
  CHECK(result.times.size() == 20'000);
  CHECK(result.issues.find("missing_comma 19999 @") != std::string::npos);
}

}  // namespace tracedb
