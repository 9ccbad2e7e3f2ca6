#include "passes/capture/sequence_match.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace tracedb {
namespace {

std::vector<std::uint32_t> tokens(std::string_view letters) { return {letters.begin(), letters.end()}; }

// The place in `b` of each letter of `a`, as a digit; '-': none.
std::string matched(std::string_view a, std::string_view b, std::size_t most_cells = 1000) {
  std::string out;
  for (const std::uint32_t place : match_sequences(tokens(a), tokens(b), most_cells)) {
    out += place == kUnmatched ? '-' : static_cast<char>('0' + place);
  }
  return out;
}

std::size_t longest_common(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> length(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      length[i + 1][j + 1] = a[i] == b[j] ? length[i][j] + 1 : std::max(length[i][j + 1], length[i + 1][j]);
    }
  }
  return length[a.size()][b.size()];
}

}  // namespace

TEST_CASE("equal sequences, whatever their interleaving: by rank") {
  CHECK(matched("", "").empty());
  CHECK(matched("abab", "abab") == "0123");
  CHECK(matched("abcabc", "abacbc") == "013245");
}

TEST_CASE("what one has more often than the other is matched in order") {
  CHECK(matched("abcd", "abxcd") == "0134");
  CHECK(matched("abxcd", "abcd") == "01-23");
  CHECK(matched("xabc", "abc") == "-012");
  CHECK(matched("abc", "") == "---");
  CHECK(matched("aabbx", "ababa") == "0-13-");
}

TEST_CASE("tokens that both have equally often are matched even out of order") {
  CHECK(matched("xabcdee", "abcdxe") == "40123-5");
}

TEST_CASE("middles that are too long are left alone") {
  CHECK(matched("pabcdq", "pbadcxq", 15) == "021436");
  CHECK(matched("paabbbq", "pababaq", 15) == "01----6");
}

TEST_CASE("no place is given twice, equal tokens only, and never less than in order") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string a, b;
    for (std::uint_fast32_t i = random() % 12; i > 0; --i) a += static_cast<char>('a' + random() % 4);
    for (std::uint_fast32_t i = random() % 12; i > 0; --i) b += static_cast<char>('a' + random() % 4);
    CAPTURE(a);
    CAPTURE(b);
    const std::vector<std::uint32_t> places = match_sequences(tokens(a), tokens(b));
    std::vector<bool> taken(b.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (places[i] == kUnmatched) continue;
      REQUIRE(places[i] < b.size());
      CHECK(a[i] == b[places[i]]);
      CHECK_FALSE(taken[places[i]]);
      taken[places[i]] = true;
      ++count;
    }
    CHECK(count >= longest_common(a, b));
    CHECK(count <= shared_elements(tokens(a), tokens(b)));
  }
}

}  // namespace tracedb
