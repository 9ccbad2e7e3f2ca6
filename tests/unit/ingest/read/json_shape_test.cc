#include "ingest/read/json_shape.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "support/places.h"

namespace tracedb {
namespace {

using namespace std::string_view_literals;

Shape shape(std::string_view text) { return check_shape(text, kAnyDepth).shape; }

}  // namespace

TEST_CASE("values and where they end") {
  const auto end = [](std::string_view text) {
    const ShapeCheck check = check_shape(text, kAnyDepth);
    CHECK(check.shape == Shape::kWhole);
    return check.end;
  };
  CHECK(end("{}") == 2);
  CHECK(end(" {\"a\" : [1, {\"b\":null}], \"c\":\"}\\\"\"} x") == 35);
  CHECK(end("[ ]]") == 3);
  CHECK(end("\"a\",") == 3);
  CHECK(end("NaN}") == 3);
  CHECK(end("[N/A,-inf,1e999,\"\x01\\q\"]") == 22);
}

TEST_CASE("every beginning of a value is cut, none is broken") {
  const std::string_view text = "{\"ph\":\"X\",\"a\":[1,[],{\"b\":\"\\\"\"}],\"c\":NaN}";
  CHECK(shape(text) == Shape::kWhole);
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    CHECK(shape(text.substr(0, size)) == Shape::kCut);
  }
}

TEST_CASE("what no text can follow is broken, at its first wrong byte") {
  const auto broken = [](std::string_view text) {
    const ShapeCheck check = check_shape(text, kAnyDepth);
    CHECK(check.shape == Shape::kBroken);
    return check.end;
  };
  CHECK(broken("[1}") == 2);
  CHECK(broken("{\"a\":1]") == 6);
  CHECK(broken("{\"a\" 1}") == 5);
  CHECK(broken("{\"a\":1 \"b\":2}") == 7);
  CHECK(broken("{\"a\":1,}") == 7);
  CHECK(broken("[1,]") == 3);
  CHECK(broken("[,1]") == 1);
  CHECK(broken("{a:1}") == 1);
  CHECK(broken("{\"a\":1,{\"b\":2}}") == 7);
  CHECK(broken("{\"a\":}") == 5);
  CHECK(broken("]") == 0);
  CHECK(broken("{\"a\":\"\0\"}"sv) == 6);
  CHECK(broken("[\x01]") == 1);
}

TEST_CASE("depth") {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  CHECK(shape(deep) == Shape::kWhole);
  CHECK(check_shape(deep, 99999).shape == Shape::kBroken);
  CHECK(check_shape("[[]]", 2).shape == Shape::kWhole);
}

TEST_CASE("events have a phase of their own") {
  const auto phase = [](std::string_view text) { return check_shape(text, kAnyDepth).has_phase; };
  CHECK(phase("{\"ts\":1,\"ph\":\"X\"}"));
  CHECK_FALSE(phase("{\"ts\":1,\"ph\":5}"));
  CHECK_FALSE(phase("{\"args\":{\"ph\":\"X\"}}"));
  CHECK_FALSE(phase("{\"a\":\"ph\",\"b\":\"X\"}"));
  CHECK_FALSE(phase("[\"ph\",\"X\"]"));
}

TEST_CASE("events are found whatever stands around them") {
  const auto at = [](std::string_view text, std::size_t from = 0) { return find_event(text, from, More::kNo).at; };
  CHECK(at("\"x, {\"ph\":\"X\"}") == 4);
  CHECK(at("{\"ph\":\"X\"} {\"ph\":\"Y\"}", 1) == 11);
  CHECK(at("{\"args\":{\"a\":1},\"ph\" {\"ph\":\"X\"") == EventSearch::kNone);
  CHECK(at("{\"ph\":\"X\",{\"ph\":\"Y\"}") == 10);
  CHECK(at("") == EventSearch::kNone);
  const std::string_view cut = "{}, {\"ph\":\"X\",";
  CHECK(find_event(cut, 0, More::kMayCome).resume == 4);
  CHECK(find_event(cut, 0, More::kNo).resume == cut.size());
  CHECK(EventFinder(cut, 5).find(0, EventSearch::kNone, More::kMayCome).resume == cut.size());
  CHECK_FALSE(EventFinder("{\"ph\":\"X\"}", 9).find(0, EventSearch::kNone, More::kNo).found());
}

TEST_CASE("broken events are found where they seem to begin") {
  const auto at = [](std::string_view text, std::size_t from = 0, std::size_t broken_from = 0) {
    return EventFinder(text).find(from, broken_from, More::kNo).at;
  };
  CHECK(at("[{\"ph\":\"X\",\"name\":\"a\"b\"}") == 1);
  CHECK(at("[{\"name\":\"a\"b\", \"ph\" : \"X\"}") == 1);
  CHECK(at("[{\"id\":0,\"name\":\"A\"b\"}, {\"ph\":\"X\" 5}") == 24);
  CHECK(at("\"args\": {\"a\" 1, \"ph\":\"X\"}") == EventSearch::kNone);
  CHECK(at("[{\"ph\":\"X\" 1}, {\"ph\":\"Y\"}", 0, 5) == 15);
  CHECK(at("[{\"name\":\"" + std::string(5000, 'x') + "\"y\",\"ph\":\"X\"}") == EventSearch::kNone);
  const EventSearch cut = EventFinder("{\"name\":\"x\"y\", ").find(0, 0, More::kMayCome);
  CHECK_FALSE(cut.found());
  CHECK(cut.resume == 0);
}

TEST_CASE("what a walk proved of the objects in it is what walks of their own prove") {
  std::string text;
  for (int i = 0; i < 60; ++i) text += R"({"a":[{"ph":"X"},{"ph":"Y","b":[)";
  for (const std::string_view end :
       {"", "]}]}", "]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}", "\"x", "}", " nul",
        R"({"a" "b","ph":"X"}]}]})", R"({"a":1 "ph":"X"}]}]})", R"({"a":,"ph":"X"}]}]})"}) {
    const std::string whole = text + std::string(end);
    EventFinder events(whole);
    for (std::size_t at = whole.find('{'); at != std::string::npos; at = whole.find('{', at + 1)) {
      const ShapeCheck alone = check_shape(std::string_view(whole).substr(at), kDeepestEvent);
      const ShapeCheck check = events.check(at, EventSearch::kNone);
      CHECK(check.shape == alone.shape);
      CHECK(check.end == at + alone.end);
      CHECK(check.has_phase == alone.has_phase);
    }
  }
}

TEST_CASE("what stands behind an event") {
  CHECK(behind_event("{} , ", 2) == Behind::kSeparator);
  CHECK(behind_event("{}\n]", 2) == Behind::kSeparator);
  CHECK(behind_event("{} {", 2) == Behind::kOther);
  CHECK(behind_event("{}  ", 2) == Behind::kEndOfText);
}

TEST_CASE("a million brackets that could each be the end") {
  std::string text;
  for (std::size_t i = 0; i < 1'000'000 / test_stride(); ++i) text += R"(],"a":[1)";
  // Followed to the end each, these would take hours.
  CHECK(find_array_end(text, Container::kObject) == EventSearch::kNone);
  CHECK(find_array_end(text + "]}", Container::kObject) == 0);
}

TEST_CASE("the end of the array in what is left of a trace") {
  const auto object = [](std::string_view text) { return find_array_end(text, Container::kObject); };
  CHECK(object("\"x\": [1], \"y\"}\n], \"a\": [2], \"b\": {}}\n") == 15);
  CHECK(object("\"x\": [1], \"y\"}]}") == 14);
  CHECK(object("\"x\": [1], \"y\"}]") == EventSearch::kNone);
  CHECK(object("]} x") == EventSearch::kNone);
  CHECK(find_array_end("[1] ] \n", Container::kArray) == 4);
  CHECK(find_array_end("[1] }", Container::kArray) == EventSearch::kNone);
}

}  // namespace tracedb
