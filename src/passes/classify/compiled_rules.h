// Rules of classification (rule_set.h), compiled so that a name costs one pass over it. Immutable: any number of
// threads may scan names with them (name_scan.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "passes/classify/glob_pattern.h"
#include "passes/classify/rule_set.h"
#include "passes/classify/word_matcher.h"

namespace tracedb {

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

inline bool is_function_scope(Scope scope) { return scope == Scope::kFunction || scope == Scope::kOwnName; }

class CompiledRules {
 public:
  explicit CompiledRules(RuleSet rules);
  CompiledRules(const CompiledRules&) = delete;
  CompiledRules& operator=(const CompiledRules&) = delete;

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

  void reserve();
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

}  // namespace tracedb
