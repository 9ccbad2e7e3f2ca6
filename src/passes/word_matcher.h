// Finds all words of a fixed list in a text, in one pass over it (Aho and Corasick's automaton). Immutable once made:
// any number of threads may search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

class WordMatcher {
 public:
  // Letters a-z, digits, ':' and ','. Error{kUsage} when the list is too long (tens of thousands of words).
  explicit WordMatcher(const std::vector<std::string>& words);

  // Calls found(index of the word, position behind it) for every occurrence, by position.
  template <class Found>
  void search(std::string_view text, Found found) const {
    std::size_t state = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      state = next_[state * kLetters + letter(text[i])];
      for (std::uint16_t s = hit_[state]; s != 0; s = hit_[fail_[s]]) found(word_[s], i + 1);
    }
  }

 private:
  static constexpr std::size_t kLetters = 39;  // the last one: any other byte
  static constexpr std::size_t letter(char c) {
    if (c >= 'a' && c <= 'z') return static_cast<std::size_t>(c - 'a');
    if (c >= '0' && c <= '9') return static_cast<std::size_t>(c - '0') + 26;
    return c == ':' ? 36 : c == ',' ? 37 : 38;
  }

  void add(std::string_view word, std::uint32_t index);
  void link();

  std::vector<std::uint16_t> next_;  // by state and letter
  std::vector<std::uint16_t> fail_;
  std::vector<std::uint16_t> hit_;  // by state: the nearest state on its fail path that ends a word; 0: none
  std::vector<std::uint32_t> word_;
};

}  // namespace tracedb
