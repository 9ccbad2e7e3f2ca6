#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/json_text.h"
#include "ingest/read/json_shape.h"
#include "ingest/read/json_walk.h"
#include "ingest/read/structural_scan.h"
#include "support/cases.h"
#include "support/places.h"

namespace tracedb {
namespace {

using namespace std::string_view_literals;

Shape shape(std::string_view text) { return check_shape(text, kAnyDepth).shape; }

TEST_CASE("values and where they end") {
  const auto end = [](std::string_view text) {
    const ShapeCheck check = check_shape(text, kAnyDepth);
    CHECK(check.shape == Shape::kWhole);
    return check.end;
  };
  check_pairs<std::size_t>(end, {{"{}", 2},
                                 {" {\"a\" : [1, {\"b\":null}], \"c\":\"}\\\"\"} x", 35},
                                 {"[ ]]", 3},
                                 {"\"a\",", 3},
                                 {"NaN}", 3},
                                 {"[N/A,-inf,1e999,\"\x01\\q\"]", 22}});
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

TEST_CASE("raw_string and number_text") {
  CHECK(raw_string(R"("a\"b")") == R"(a\"b)");
  CHECK(raw_string(R"("")").empty());
  CHECK(raw_string("12") == "12");
  CHECK(raw_string("\"") == "\"");
  CHECK(raw_string("").empty());
  CHECK(number_text(R"(" 12.5	")") == "12.5");
  CHECK(number_text("12.5") == "12.5");
  CHECK(number_text("").empty());
  CHECK(is_json_string("\"x"));
  CHECK_FALSE(is_json_string("x"));
  CHECK_FALSE(is_json_string(""));
}

TEST_CASE("unescape") {
  CHECK(unescape("plain").text == "plain");
  CHECK(unescape(R"(\"\\\/\b\f\n\r\t)").text == "\"\\/\b\f\n\r\t");
  CHECK(unescape(R"(\u0041\u00e9\u20AC\ud83d\ude00)").text == "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(unescape(R"(\u0041)").replaced == 0);
  SUBCASE("what cannot be stored becomes U+FFFD and is counted") {
    for (const char* raw : {R"(\u0000)", R"(\ud83d)", R"(\ude00)", R"(\uD83Dx)", R"(\u00g1)", R"(\u12)"}) {
      CAPTURE(raw);
      const Unescaped out = unescape(raw);
      CHECK(out.text.starts_with("\xEF\xBF\xBD"));
      CHECK(out.replaced == 1);
    }
    CHECK(unescape(R"(\ud83d\u0041)").text ==
          "\xEF\xBF\xBD"
          "A");
    CHECK(unescape(R"(\ud83d\ud83d)").replaced == 2);
  }
  SUBCASE("a backslash that escapes nothing stays") {
    CHECK(unescape(R"(C:\xdir)").text == R"(C:\xdir)");
    CHECK(unescape("tail\\").text == "tail\\");
    CHECK(unescape("tail\\").replaced == 1);
  }
}

TEST_CASE("json_value_length") {
  check_pairs<std::size_t>(json_value_length, {{R"("a}\"",1)", 6},
                                               {R"({"a":[1,"]"]},2)", 13},
                                               {"[[],[]] ", 7},
                                               {"12.5,", 4},
                                               {"true}", 4},
                                               {"null ", 4},
                                               {"}", 0}});
  check_each(std::string_view::npos, json_value_length, {"12", "[1", "\"a", "\"a\\", ""});
}

TEST_CASE("json_members and json_elements") {
  const auto members = json_members(R"({ "a" : 1 , "b\"c":"x,}", "d":{"e":[1]} } trailing)");
  REQUIRE(members.size() == 3);
  CHECK(members[0].key == "a");
  CHECK(members[0].value == "1");
  CHECK(members[1].key == R"(b\"c)");
  CHECK(members[1].value == R"("x,}")");
  CHECK(members[2].value == R"({"e":[1]})");
  CHECK(json_members("{}").empty());
  CHECK(json_members("[1]").empty());
  CHECK(json_members("").empty());
  CHECK(json_members(R"({"a":1,"b":)").size() == 1);
  CHECK(json_members(R"({"a)").empty());

  const auto elements = json_elements(R"([1, "a]" ,[2,3],{"k":4} ])");
  REQUIRE(elements.size() == 4);
  CHECK(elements[1] == R"("a]")");
  CHECK(elements[3] == R"({"k":4})");
  CHECK(json_elements("[]").empty());
  CHECK(json_elements("{}").empty());
  CHECK(json_elements("[1,2").size() == 1);
}

TEST_CASE("minify leaves strings alone") {
  CHECK(minify("{ \"a b\" : [ 1 ,\r\n\t\"c \\\" d\" ] }") == "{\"a b\":[1,\"c \\\" d\"]}");
  CHECK(minify("").empty());
  CHECK(minify("\"open \\").size() == 7);
}

TEST_CASE("trim_json_space") {
  CHECK(trim_json_space(" \r\n\ta b \n") == "a b");
  CHECK(trim_json_space(" \n").empty());
}

// What a walk through {"a": [..], ...} finds: each member's key, and the elements of its list or its value.
std::vector<std::string> walk_through(std::string_view text, JsonWalk& walk) {
  std::vector<std::string> found;
  std::string key;
  if (!walk.enter('{')) found.emplace_back("no object");
  while (walk.next_member(key)) {
    found.push_back(key + ":");
    if (key == "skip") {
      walk.skip();
    } else if (walk.enter('[')) {
      while (walk.next_element()) {
        const std::string_view value = walk.value();
        if (!walk.broke_off()) found.emplace_back(value);
      }
    } else {
      found.emplace_back(walk.value());
    }
  }
  CHECK(walk.position() <= text.size());
  return found;
}

std::vector<std::string> walk_through(std::string_view text) {
  const std::unique_ptr<ByteSource> source = memory_byte_source(text);
  JsonWalk walk(*source);
  return walk_through(text, walk);
}

TEST_CASE("a walk finds members, elements and values") {
  using Found = std::vector<std::string>;
  CHECK(walk_through(R"( {"a": [1, {"b": [2, "]"]} ,"x\"y" ], "skip": {"k": [[]]}, "c": -1.5e3, "d":"}","e":[ ] } )") ==
        Found{"a:", "1", R"({"b": [2, "]"]})", R"("x\"y")", "skip:", "c:", "-1.5e3", "d:", R"("}")", "e:"});
  CHECK(walk_through("{}") == Found{});
  CHECK(walk_through("[]") == Found{"no object"});
  CHECK(walk_through(R"({"a\u0062": true})") == Found{"ab:", "true"});
}

TEST_CASE("a walk through a document that was cut keeps what is whole") {
  const std::string text = R"({"a": [1, {"b": 2}, "three"], "skip": [{"x": "y"}], "c": [null]})";
  const std::unique_ptr<ByteSource> whole_source = memory_byte_source(text);
  JsonWalk whole_walk(*whole_source);
  const std::vector<std::string> whole = walk_through(text, whole_walk);
  CHECK_FALSE(whole_walk.broke_off());
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    const std::string cut = text.substr(0, size);
    const std::unique_ptr<ByteSource> source = memory_byte_source(cut);
    JsonWalk walk(*source);
    std::vector<std::string> found = walk_through(cut, walk);
    CHECK(walk.broke_off());
    CHECK(walk.ends_in_the_middle());
    if (!found.empty() && (found.back().empty() || found.back() == "no object")) found.pop_back();
    CHECK(found.size() <= whole.size());
    CHECK(std::equal(found.begin(), found.end(), whole.begin()));
  }
}

TEST_CASE("a walk ends where the text is no JSON") {
  for (const char* text : {R"({"a": [1]] , "b": 2})", R"({"a" 1})", "{a: 1}", R"({"a": [1}, "b": [2]})"}) {
    CAPTURE(text);
    const std::unique_ptr<ByteSource> source = memory_byte_source(text);
    JsonWalk walk(*source);
    walk_through(text, walk);
    CHECK(walk.broke_off());
    CHECK_FALSE(walk.ends_in_the_middle());
    walk.break_off();
    CHECK_FALSE(walk.ends_in_the_middle());
  }
}

TEST_CASE("the document breaks off at a value that is too long; one that is skipped may have any length") {
  const std::string text = R"({"skip": ")" + std::string(1'000'000, 'y') + R"(", "b": 3, "a": [")" +
                           std::string(2'000'000, 'x') + R"(", 2]})";
  const std::unique_ptr<ByteSource> source = memory_byte_source(text);
  JsonWalk walk(*source, 1000);
  CHECK(walk_through(text, walk) == std::vector<std::string>{"skip:", "b:", "3", "a:"});
  CHECK(walk.broke_off());
  CHECK(walk.position() == text.find("\"xx"));
}

TEST_CASE("behind damage, whole objects are found one by one, with the key of their list") {
  const std::string text = R"(x"}, "sign": {"a": 1}, {"b": {"c": 2}, "sign": "x, "calls": [ {"d": [{"e": 3}]}, {"f")";
  const std::unique_ptr<ByteSource> source = memory_byte_source(text);
  JsonWalk walk(*source);
  std::uint64_t lost = 0;
  std::vector<std::string> found;
  const bool complete = walk.salvage("\"sign\"", lost, [&](std::string_view object, std::int64_t position) {
    CHECK(text.substr(static_cast<std::size_t>(position), object.size()) == object);
    found.push_back(walk.list() + std::string(object));
    return true;
  });
  CHECK_FALSE(complete);
  CHECK(found == std::vector<std::string>{R"({"a": 1})", R"({"c": 2})", R"(calls{"d": [{"e": 3}]})"});
  CHECK(lost == 1);  // of two: the end is cut off
}

constexpr std::size_t kNone = ScanResult::kNone;

struct Outcome {
  ScanResult result;
  ScanState state;
};

bool operator==(const Outcome& a, const Outcome& b) {
  return a.result.last_comma == b.result.last_comma && a.result.end == b.result.end && a.state.depth == b.state.depth &&
         a.state.in_string == b.state.in_string && a.state.escaped == b.state.escaped &&
         a.result.stop == b.result.stop && a.result.suspicion == b.result.suspicion &&
         a.state.after_string == b.state.after_string && (a.state.depth <= 0 || a.state.opener == b.state.opener) &&
         a.state.length == b.state.length;
}

enum class Way { kScalar, kSimd };

Outcome scan(std::string_view text, ScanState state, Way way) {
  // Memory of exactly this size, so that the address sanitizer sees a read past the piece.
  const std::vector<char> piece(text.begin(), text.end());
  const std::string_view view(piece.data(), piece.size());
  Outcome outcome{{}, state};
  if (way == Way::kScalar || !scan_structure_simd(view, outcome.state, outcome.result)) {
    outcome.result = scan_structure_scalar(view, outcome.state);
  }
  return outcome;
}

// The whole text in pieces of `size`, the first being `first` long; offsets as if it had been one piece.
Outcome scan_pieces(std::string_view text, std::size_t first, std::size_t size, Way way) {
  Outcome whole;
  std::size_t at = 0;
  for (std::size_t length = first; at < text.size() && whole.result.end == kNone && whole.result.stop == kNone;
       length = size) {
    length = std::min(length, text.size() - at);
    const Outcome part = scan(text.substr(at, length), whole.state, way);
    whole.state = part.state;
    if (part.result.last_comma != kNone) whole.result.last_comma = at + part.result.last_comma;
    if (part.result.end != kNone) whole.result.end = at + part.result.end;
    if (part.result.stop != kNone) whole.result.stop = at + part.result.stop;
    whole.result.suspicion = part.result.suspicion;
    at += length;
  }
  return whole;
}

void check_all_ways(std::string_view text) {
  CAPTURE(text);
  const Outcome expected = scan(text, {}, Way::kScalar);
  bool same = scan(text, {}, Way::kSimd) == expected;
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    for (const Way way : {Way::kScalar, Way::kSimd})
      same = same && scan_pieces(text, cut, text.size(), way) == expected;
  }
  for (std::size_t size = 1; size <= 200; ++size) {
    for (const Way way : {Way::kScalar, Way::kSimd}) same = same && scan_pieces(text, size, size, way) == expected;
  }
  CHECK(same);
}

std::string soup(std::mt19937& random, std::string_view alphabet, std::size_t size) {
  std::string text(size, ' ');
  for (char& c : text) c = alphabet[random() % alphabet.size()];
  return text;
}

std::size_t last_comma(std::string_view text) {
  check_all_ways(text);
  ScanState state;
  return scan_structure(text, state).last_comma;
}

std::size_t end_of_array(std::string_view text) {
  check_all_ways(text);
  ScanState state;
  return scan_structure(text, state).end;
}

TEST_CASE("commas between elements, and the bracket that closes the array") {
  const std::string event = R"({"name":"a\"}, {\"ph\": \"X\"\\ \\\" }{][","dur":1})";
  check_pairs<std::size_t, std::string>(last_comma, {{"", kNone},
                                                     {"1", kNone},
                                                     {"1,2,3", 3},
                                                     {R"({"a":1,"b":2})", kNone},
                                                     {R"({"a":[1,2]},{"b":{"c":1,"d":2}})", 11},
                                                     {R"("a,b","c,d")", 5},
                                                     // Names that look like structure.
                                                     {event, kNone},
                                                     {event + "," + event, event.size()},
                                                     {R"({"a":"\\"},{"b":"\\\\"})", 10},
                                                     {R"({"a":"\\\""},{"b":""})", 12},
                                                     // Layouts and odd bytes.
                                                     {"  {\r\n \"a\": 1\r\n  },\r\n  {\"b\": 2}\r\n", 17},
                                                     {"{\"a\": \"raw\n  },\n  {\"}, 1", 21},
                                                     {"{\"a\":\"\xff\xfe\x80\"},\xc3\xa9", 11},
                                                     // Backslashes outside strings mean nothing.
                                                     {R"(\"a,b")", kNone},
                                                     {R"(\,1)", 1}});
  check_pairs<std::size_t, std::string>(end_of_array, {{"]", 0},
                                                       {"1,2]", 3},
                                                       {R"({"a":[1]}]})", 9},
                                                       {R"("]")", kNone},
                                                       {"{}\r\n]", 4},
                                                       {R"({"a":1},)", kNone},
                                                       {event + "\n ]", event.size() + 2},
                                                       {"\1,\1]", 3},
                                                       {R"(\\\]")", 3}});
}

TEST_CASE("nothing after the end is scanned") {
  for (const Way way : {Way::kScalar, Way::kSimd}) {
    const Outcome outcome = scan("1,2], 3, \"", {}, way);
    CHECK(outcome.result.last_comma == 1);
    CHECK(outcome.state.depth == -1);
    CHECK_FALSE(outcome.state.in_string);
    CHECK(scan("1,2]", outcome.state, way) == Outcome{{}, outcome.state});
  }
}

TEST_CASE("backslash runs of every length at every place in a block") {
  for (std::size_t length = 1; length < 140; ++length) {
    std::string text = "\"";
    text.append(length, '\\').append("\",\"]");
    const Outcome expected = scan(text, {}, Way::kScalar);
    for (std::size_t lead = 0; lead < 66; lead += 5) {
      const std::string shifted = std::string(lead, ' ') + text + std::string(70, ',');
      CHECK(scan(shifted, {}, Way::kSimd) == scan(shifted, {}, Way::kScalar));
    }
    CHECK(scan(text, {}, Way::kSimd) == expected);
  }
}

TEST_CASE("the scan stops where the text is broken for certain") {
  const auto stop = [](std::string_view text) {
    check_all_ways(text);
    ScanState state;
    const ScanResult result = scan_structure(text, state);
    CHECK(result.suspicion == (result.stop == kNone ? Suspicion::kNone : Suspicion::kBroken));
    return result.stop;
  };
  CHECK(stop(R"({"a"b":1},{})") == 4);
  CHECK(stop(R"({"a""b":1},{})") == 4);
  CHECK(stop(R"({},{"a"{"b":1}})") == 7);
  CHECK(stop(R"({"a":1"2,"b":3})") == 10);
  CHECK(stop(R"({"a":[1}],1)") == 8);
  CHECK(stop(R"({"a":1],1)") == 6);
  CHECK(stop(R"([{}},1)") == 3);
  CHECK(stop(R"({"a":[{]}},1)") == kNone);  // the brackets inside are for the parser to see
  CHECK(stop(R"({"a":1}},{})") == 7);
  CHECK(stop(R"("a":1},{})") == 5);
  CHECK(stop(R"({"a" :1,"b"	:[],"c"
:"x" ,"d":["y"]},"z")") == kNone);
  CHECK(stop(std::string("{\"a") + '\0' + R"(":1},{})") == 3);
  CHECK(stop(std::string("{\"a\\") + '\0' + R"(":1},{})") == 4);
  CHECK(stop(std::string("{},\0{}", 6)) == 3);
  CHECK(stop(std::string(61, ' ') + R"("a"x)") == 64);
  CHECK(stop(std::string(60, ' ') + R"("a",)") == kNone);
}

TEST_CASE("elements beyond the size are pointed out, and passed the second time") {
  const auto large = static_cast<std::size_t>(ScanResult::kLargeElement);
  for (const Way way : {Way::kScalar, Way::kSimd}) {
    for (const std::size_t size : {large, large + 1, large + 300}) {
      for (const std::string_view rest : {",1]", "]"}) {
        const std::string text = "{},\"" + std::string(size - 2, 'x') + "\"" + std::string(rest);
        for (const std::size_t piece : {text.size(), std::size_t{1000}}) {
          Outcome outcome = scan_pieces(text, 7, piece, way);
          if (size > large) {
            CHECK(outcome.result.suspicion == Suspicion::kLarge);
            CHECK(outcome.result.stop == 3 + size);
            CHECK(outcome.state.length == 0);
            outcome = scan(std::string_view(text).substr(3 + size), outcome.state, way);
            outcome.result.end += 3 + size;
          }
          CHECK(outcome.result.suspicion == Suspicion::kNone);
          CHECK(outcome.result.end == text.size() - 1);
        }
      }
    }
  }
}

TEST_CASE("scalar and SIMD agree on soups of structural bytes, however they are cut") {
  std::mt19937 random(7);
  const std::string_view alphabets[] = {R"("\[]{},a )",
                                        R"("\\\\,[])",
                                        R"("[{,   aaaaaaaaaaaaaa)",
                                        R"([[{{[]},aaaaaaaaa"")",
                                        R"("[]{},::: aaaa)",
                                        std::string_view("\"\\[]{},: \0aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 44),
                                        "\"\\[]{},{{{{[[[[aaaaaaaaaaaaaaaaaaaaaaaaaa;<=\x1b\x3b\xdb\xfb"};
  for (int i = 0; i < 60; ++i) check_all_ways(soup(random, alphabets[i % 7], 1 + random() % 300));
  for (int i = 0; i < 20000; ++i) {
    const std::string text = soup(random, alphabets[i % 7], random() % 400);
    const ScanState start{static_cast<std::int64_t>(random() % 5), random() % 2 == 0, false};
    const bool same = scan(text, start, Way::kSimd) == scan(text, start, Way::kScalar);
    CAPTURE(text);
    if (!same) CHECK(same);
  }
}

}  // namespace
}  // namespace tracedb
