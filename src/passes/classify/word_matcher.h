// Finds all words of a fixed list in a text, in one pass over it (Aho and Corasick's automaton). Immutable once made:
// any number of threads may search.
#pragma once

#include <array>
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
      const std::uint16_t next = next_[state * kLetters + letter(text[i])];
      state = next & kState;
      if ((next & kHit) == 0) continue;
      for (std::uint16_t s = hit_[state]; s != 0; s = hit_[fail_[s]]) found(word_[s], i + 1);
    }
  }

 private:
  static constexpr std::size_t kLetters = 40;  // the last but one: any other byte; a round number is copied faster
  static constexpr std::array<std::uint8_t, 256> kLetterOf = [] {
    std::array<std::uint8_t, 256> table{};
    table.fill(kLetters - 2);
    std::uint8_t next = 0;
    for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyz0123456789:,")) {
      table[static_cast<unsigned char>(c)] = next++;
    }
    return table;
  }();
  static constexpr std::size_t letter(char c) { return kLetterOf[static_cast<unsigned char>(c)]; }

  static constexpr std::uint16_t kHit = 0x8000, kState = 0x7fff;

  void add(std::string_view word, std::uint32_t index);
  std::uint16_t add_state(std::size_t from, std::size_t letter);
  void link();

  std::vector<std::uint16_t> next_;  // by state and letter; with kHit if a word ends there
  std::vector<std::uint16_t> fail_;
  std::vector<std::uint16_t> hit_;  // by state: the nearest state on its fail path that ends a word; 0: none
  std::vector<std::uint32_t> word_;
};

}  // namespace tracedb
