#include "ingest/read/structural_scan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace tracedb {
namespace {

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

}  // namespace

TEST_CASE("commas between elements") {
  CHECK(last_comma("") == kNone);
  CHECK(last_comma("1") == kNone);
  CHECK(last_comma("1,2,3") == 3);
  CHECK(last_comma(R"({"a":1,"b":2})") == kNone);
  CHECK(last_comma(R"({"a":[1,2]},{"b":{"c":1,"d":2}})") == 11);
  CHECK(last_comma(R"("a,b","c,d")") == 5);
}

TEST_CASE("the bracket that closes the array") {
  CHECK(end_of_array("]") == 0);
  CHECK(end_of_array("1,2]") == 3);
  CHECK(end_of_array(R"({"a":[1]}]})") == 9);
  CHECK(end_of_array(R"("]")") == kNone);
  CHECK(end_of_array("{}\r\n]") == 4);
  CHECK(end_of_array(R"({"a":1},)") == kNone);
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

TEST_CASE("names that look like structure") {
  const std::string event = R"({"name":"a\"}, {\"ph\": \"X\"\\ \\\" }{][","dur":1})";
  CHECK(last_comma(event) == kNone);
  CHECK(last_comma(event + "," + event) == event.size());
  CHECK(end_of_array(event + "\n ]") == event.size() + 2);
  CHECK(last_comma(R"({"a":"\\"},{"b":"\\\\"})") == 10);
  CHECK(last_comma(R"({"a":"\\\""},{"b":""})") == 12);
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

TEST_CASE("layouts and odd bytes") {
  CHECK(last_comma("  {\r\n \"a\": 1\r\n  },\r\n  {\"b\": 2}\r\n") == 17);
  CHECK(last_comma("{\"a\": \"raw\n  },\n  {\"}, 1") == 21);
  CHECK(last_comma("{\"a\":\"\xff\xfe\x80\"},\xc3\xa9") == 11);
  CHECK(end_of_array(std::string("\1,\1]", 4)) == 3);
}

TEST_CASE("backslashes outside strings mean nothing") {
  CHECK(last_comma(R"(\"a,b")") == kNone);
  CHECK(last_comma(R"(\,1)") == 1);
  CHECK(end_of_array(R"(\\\]")") == 3);
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

}  // namespace tracedb
