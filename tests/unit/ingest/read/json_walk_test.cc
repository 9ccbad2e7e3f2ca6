#include "ingest/read/json_walk.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {
namespace {

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

}  // namespace

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
  for (std::string_view object = walk.next_object("\"sign\"", lost); !object.empty();
       object = walk.next_object("\"sign\"", lost)) {
    found.push_back(walk.list() + std::string(object));
    walk.pass_object(object);
  }
  CHECK(found == std::vector<std::string>{R"({"a": 1})", R"({"c": 2})", R"(calls{"d": [{"e": 3}]})"});
  CHECK(lost == 2);
  CHECK_FALSE(walk.closed());
}

}  // namespace tracedb
