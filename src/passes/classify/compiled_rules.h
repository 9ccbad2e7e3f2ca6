// Rules of classification (rule_set.h), compiled so that a name costs one pass over it. Immutable: any number of
// threads may scan names with them (classifier.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "passes/classify/rule_set.h"

namespace tracedb {

// Text as rules look at it: letters, with the places where words begin. Words begin after punctuation, at "aB"
// (camelCase), at "ABc" before the B (acronyms), and where digits begin or end: "FusedAddRMSNorm2dFwd" is fused add rms
// norm 2 d fwd. Made in one pass.

// Lower-case letters and digits; ':' stands for "::", ',' for other punctuation that separates (arguments, lists).
// Blanks, underscores and closing parentheses are dropped: they only begin words.
struct NormalizedName {
  std::string letters;
  std::vector<std::uint8_t> word_starts;  // 1: a word begins here; one more than letters, for the end
};

NormalizedName normalize_name(std::string_view text);
void normalize_name(std::string_view text, NormalizedName& out);  // reuses the memory of `out`

// A pattern in which '*' matches any letters, prepared once for comparison with many texts. Immutable after
// construction.
class GlobPattern {
 public:
  explicit GlobPattern(std::string_view pattern);

  // The whole of `text`. Linear in it, for the short pieces that patterns have.
  [[nodiscard]] bool fits(std::string_view text) const;

 private:
  std::vector<std::string> pieces_;  // between the stars; one: no star
};

// Finds all words of a fixed list in a text, in one pass over it (Aho and Corasick's automaton). Immutable once made:
// any number of threads may search.
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

using RuleId = std::uint32_t;  // position in CompiledRules::rules().rules
inline constexpr RuleId kNoRule = UINT32_MAX;

// A set of small numbers, one bit each.
class BitSet {
 public:
  explicit BitSet(std::size_t size = 0) : words_(size / 64 + 1, 0) {}
  [[nodiscard]] bool has(std::size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void add(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void clear() { words_.assign(words_.size(), 0); }
  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

class CompiledRules {
 public:
  explicit CompiledRules(RuleSet rules);
  CompiledRules& operator=(CompiledRules&&) = delete;

  [[nodiscard]] const RuleSet& rules() const { return rules_; }

 private:
  friend class NameScan;

  struct Word {
    Scope scope = Scope::kFunction;
    bool part_begin = false, part_end = false;  // '^' and '$'
    bool open_begin = false, open_end = false;  // '*'
  };
  struct CompiledTerm {
    const Term* term = nullptr;
    std::uint32_t id = 0;               // of word scopes
    std::vector<std::uint32_t> words;   // ids; of word scopes
    std::vector<GlobPattern> patterns;  // kArgument
  };
  struct CompiledRule {
    std::vector<CompiledTerm> terms;
    std::vector<std::size_t> parts;  // positions in parts_
  };

  CompiledRule compile_rule(const Rule& rule);
  std::uint32_t word_id(const std::string& written, Scope scope);
  void note_triggers(RuleId rule);
  [[nodiscard]] bool is_wrapper(std::string_view letters) const;

  RuleSet rules_;
  std::vector<CompiledRule> compiled_;
  std::vector<CompiledRule> parts_;
  std::vector<GlobPattern> wrappers_;
  std::vector<std::string> texts_;  // distinct letters
  std::unordered_map<std::string, std::uint32_t> text_ids_;
  std::unordered_map<std::string, std::uint32_t> word_ids_;  // by scope and word as written
  std::vector<Word> words_;
  std::vector<std::vector<std::uint32_t>> words_of_text_;
  std::vector<std::vector<RuleId>> triggers_;              // by word
  std::vector<std::vector<std::uint32_t>> terms_of_word_;  // by word: ids of terms
  std::uint32_t terms_ = 0;                                // of word scopes
  BitSet always_;                                          // rules without a word to trigger them
  WordMatcher matcher_;
};

// The built-in set "default", compiled when it is first asked for, once for the process. Any thread.
const CompiledRules& default_rules();

}  // namespace tracedb
