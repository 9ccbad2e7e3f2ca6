// Which class a kernel belongs to, by its name: rules (rule_set.h) compiled so that a name costs one pass over it.
//
// Names may be mangled or not, of any length and content; time is linear in the length. Nothing here throws for a name.
// One thread at a time; make one classifier a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "passes/classify/letter_pattern.h"
#include "passes/classify/rule_set.h"
#include "passes/classify/word_matcher.h"
#include "passes/classify/word_text.h"
#include "trace/kernel_name.h"

namespace tracedb {

using ClassId = std::uint32_t;  // position in Classifier::classes()
using RuleId = std::uint32_t;   // position in Classifier::rules().rules

inline constexpr RuleId kNoRule = UINT32_MAX;

struct Classification {
  ClassId class_id = 0;
  RuleId rule_id = kNoRule;  // kNoRule: no rule holds; the class is "other"
};

struct Explanation {
  Classification result;
  std::string readable;  // demangled
  std::string path;      // the function's name the rules saw, wrappers opened
  std::string label;
  std::vector<std::string> evidence;  // "rmsnorm", "args:functor": the words that were found, by term and part
};

class Classifier {
 public:
  // `platform`: vendor of the device, for rules that ask for it; the built-in default rules do not.
  explicit Classifier(RuleSet rules, std::string platform = {});

  Classification classify(std::string_view name);
  Explanation explain(std::string_view name);
  // All rules whose terms hold, in order; the first one decides.
  std::vector<RuleId> matching_rules(std::string_view name);
  // The pattern a rule shows for a name; "" where the rule has none.
  [[nodiscard]] std::string label(std::string_view name, RuleId rule) const;

  // Grows while classifying: fused classes are entered as they appear. "other" is always the first.
  [[nodiscard]] const std::vector<std::string>& classes() const { return classes_; }
  [[nodiscard]] const std::string& class_name(ClassId id) const { return classes_[id]; }
  [[nodiscard]] const RuleSet& rules() const { return rules_; }
  [[nodiscard]] std::string_view rule_name(RuleId id) const {
    return id == kNoRule ? std::string_view("none") : std::string_view(rules_.rules[id].name);
  }

 private:
  struct Word {
    Scope scope = Scope::kFunction;
    bool part_begin = false, part_end = false;  // '^' and '$'
    bool open_begin = false, open_end = false;  // '*'
  };
  struct CompiledTerm {
    const Term* term = nullptr;
    std::uint32_t id = 0;                 // of word scopes
    std::vector<std::uint32_t> words;     // ids; of word scopes
    std::vector<LetterPattern> patterns;  // kArgument
  };
  struct CompiledRule {
    std::vector<CompiledTerm> terms;
    std::vector<std::size_t> parts;  // positions in parts_
  };
  // What is known of the name at hand.
  struct State {
    std::string_view name;
    std::string readable;  // of mangled names
    std::string lower;     // made when a raw term asks
    std::string path;
    KernelName parts;  // of the innermost wrapped function; into the readable name
    WordText words, inner;
    std::size_t path_length = 0;  // letters
    std::size_t own_begin = 0;    // where the last part of the path begins
    bool arguments_scanned = false;
    std::vector<std::uint64_t> found;  // by word
    std::vector<std::uint64_t> terms;  // of which a word was found
    std::vector<std::uint32_t> position;
    std::vector<std::uint64_t> candidates;  // by rule
  };

  void reserve();
  void compile();
  CompiledRule compile_rule(const Rule& rule);
  std::uint32_t word_id(const std::string& word, Scope scope);
  void note_triggers(RuleId rule);

  void look_at(std::string_view name, std::string_view readable);
  void scan(const WordText& text, Scope scope, std::size_t offset);
  void scan_arguments();
  [[nodiscard]] bool is_wrapper(std::string_view letters) const;
  [[nodiscard]] bool fits(const Word& word, const WordText& text, std::size_t begin, std::size_t end) const;

  bool holds(const CompiledRule& rule);
  bool any_word(const CompiledTerm& term);
  [[nodiscard]] bool any_argument(const CompiledTerm& term) const;
  bool any_raw(const Term& term);
  [[nodiscard]] std::uint32_t place(const CompiledRule& rule) const;
  RuleId next_rule(std::size_t from);
  ClassId composed_class(RuleId rule);
  ClassId class_id(const std::string& name);
  void append_evidence(const CompiledRule& rule, std::vector<std::string>& out) const;

  RuleSet rules_;
  std::string platform_;
  std::vector<CompiledRule> compiled_;
  std::vector<CompiledRule> parts_;
  std::vector<LetterPattern> wrappers_;

  std::vector<std::string> texts_;  // distinct letters
  std::unordered_map<std::string, std::uint32_t> text_ids_;
  std::unordered_map<std::string, std::uint32_t> word_ids_;  // by scope and word as written
  std::vector<Word> words_;
  std::vector<std::vector<std::uint32_t>> words_of_text_;
  std::vector<std::vector<RuleId>> triggers_;              // by word
  std::vector<std::vector<std::uint32_t>> terms_of_word_;  // by word: ids of terms
  std::uint32_t terms_ = 0;                                // of word scopes
  std::vector<std::uint64_t> always_;                      // rules without a word to trigger them
  WordMatcher matcher_;

  std::vector<std::string> classes_;
  std::unordered_map<std::string, ClassId> class_ids_;
  State state_;
};

}  // namespace tracedb
