#include "passes/classify/compiled_rules.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tracedb {

TEST_CASE("a pattern without a star fits itself alone") {
  CHECK(GlobPattern("kernel").fits("kernel"));
  CHECK_FALSE(GlobPattern("kernel").fits("kernel2"));
  CHECK_FALSE(GlobPattern("kernel").fits("akernel"));
  CHECK(GlobPattern("").fits(""));
  CHECK_FALSE(GlobPattern("").fits("a"));
}

TEST_CASE("a star stands for any letters, or none") {
  CHECK(GlobPattern("*").fits(""));
  CHECK(GlobPattern("*").fits("abc"));
  CHECK(GlobPattern("ab*").fits("ab"));
  CHECK(GlobPattern("ab*").fits("abc"));
  CHECK(GlobPattern("*bc").fits("abc"));
  CHECK_FALSE(GlobPattern("*bc").fits("abcd"));
  CHECK(GlobPattern("cutlass*::kernel").fits("cutlass::gemm::kernel"));
  CHECK_FALSE(GlobPattern("cutlass*::kernel").fits("cutlass::gemm::kernel2"));
}

TEST_CASE("pieces follow each other and do not overlap") {
  CHECK(GlobPattern("*enable*sm*").fits("enablesm80"));
  CHECK(GlobPattern("*enable*sm*").fits("ns::enableifsm90"));
  CHECK_FALSE(GlobPattern("*enable*sm*").fits("smenable"));
  CHECK_FALSE(GlobPattern("aba*aba").fits("ababa"));
  CHECK(GlobPattern("aba*aba").fits("abaaba"));
  CHECK(GlobPattern("a**b").fits("ab"));
  CHECK(GlobPattern("*ab*ab").fits("abcab"));
  CHECK_FALSE(GlobPattern("*ab*ab").fits("cab"));
}

namespace {

using Hits = std::vector<std::pair<std::uint32_t, std::size_t>>;

Hits search(const WordMatcher& matcher, std::string_view text) {
  Hits hits;
  matcher.search(text, [&](std::uint32_t word, std::size_t end) { hits.emplace_back(word, end); });
  std::sort(hits.begin(), hits.end());
  return hits;
}

Hits search_plainly(const std::vector<std::string>& words, std::string_view text) {
  Hits hits;
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (std::size_t at = text.find(words[w]); at != std::string_view::npos; at = text.find(words[w], at + 1)) {
      hits.emplace_back(static_cast<std::uint32_t>(w), at + words[w].size());
    }
  }
  std::sort(hits.begin(), hits.end());
  return hits;
}

}  // namespace

TEST_CASE("words within words are all found") {
  const std::vector<std::string> words = {"he", "she", "hers", "his", "e"};
  const WordMatcher matcher(words);
  CHECK(search(matcher, "ushers") == search_plainly(words, "ushers"));
  CHECK(search(matcher, "").empty());
  CHECK(search(WordMatcher({}), "anything").empty());
}

TEST_CASE("a search finds what plain searches find") {
  std::mt19937 random(1);
  const auto text = [&](std::size_t length) {
    std::string out;
    for (std::size_t i = 0; i < length; ++i) out += "ab1:,"[random() % 5];
    return out;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> words;
    for (int i = 0; i < 12; ++i) words.push_back(text(1 + random() % 5));
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    const std::string haystack = text(random() % 200);
    CHECK(search(WordMatcher(words), haystack) == search_plainly(words, haystack));
  }
}

TEST_CASE("hits grow with the text, not faster") {
  const WordMatcher matcher({"a", "aa", "aaa", "aaaa"});
  CHECK(search(matcher, std::string(1000, 'a')).size() <= 4 * 1000);
  CHECK(search(matcher, std::string(100000, 'a')).size() <= 4 * 100000);
}

TEST_CASE("too many words are refused") {
  std::vector<std::string> words;
  for (int i = 0; i < 20000; ++i) words.push_back("w" + std::to_string(i * 7919) + "end");
  CHECK_THROWS_AS(WordMatcher{words}, Error);
}

}  // namespace tracedb
