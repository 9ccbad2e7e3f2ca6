// Which class a kernel belongs to, by its name: rules (rule_set.h) compiled so that a name costs one pass over it.
//
// Names may be mangled or not, of any length and content; time is linear in the length. Nothing here throws for a name.
// One thread at a time; make one classifier a thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text/numbered_texts.h"
#include "passes/classify/rule_set.h"
#include "trace/kernel_name.h"

namespace tracedb {

// Text as rules look at it: letters, with the places where words begin. Words begin after punctuation, at "aB"
// (camelCase), at "ABc" before the B (acronyms), and where digits begin or end: "FusedAddRMSNorm2dFwd" is fused add rms
// norm 2 d fwd. Made in one pass.

// Lower-case letters and digits; ':' stands for "::", ',' for other punctuation that separates (arguments, lists).
// Blanks, underscores and closing parentheses are dropped: they only begin words.
struct NormalizedName {
  std::string letters;
  std::vector<std::uint8_t> word_starts;  // 1: a word begins here, 2: behind punctuation; one more than letters
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

// Finds all words of a fixed list in a text, as a tree of their letters: what it costs is a look-up or two for each
// letter of the text. Immutable once made: any number of threads may search.
class WordMatcher {
 public:
  // Letters a-z, digits, ':' and ','. Error{kUsage} when the list is too long (tens of thousands of words).
  explicit WordMatcher(const std::vector<std::string>& words);

  // Calls found(index of the word, position behind it) for every occurrence, by position.
  template <class Found>
  void search(std::string_view text, Found found) const {
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
      std::size_t state = 0;
      for (std::size_t i = begin; i < text.size(); ++i) {
        state = next_[state * kLetters + letter(text[i])];
        if (state == 0) break;
        if (word_[state] != kNoWord) found(word_[state], i + 1);
      }
    }
  }

 private:
  static constexpr std::uint32_t kNoWord = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kLetters = 39;  // the last: any other byte
  static constexpr std::array<std::uint8_t, 256> kLetterOf = [] {
    std::array<std::uint8_t, 256> table{};
    table.fill(kLetters - 1);
    std::uint8_t next = 0;
    for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyz0123456789:,")) {
      table[static_cast<unsigned char>(c)] = next++;
    }
    return table;
  }();
  static constexpr std::size_t letter(char c) { return kLetterOf[static_cast<unsigned char>(c)]; }

  std::vector<std::uint16_t> next_;  // by state and letter; 0: no word goes on so
  std::vector<std::uint32_t> word_;  // by state: the one that ends there
};

using RuleId = std::uint32_t;  // position in CompiledRules::rules().rules
inline constexpr RuleId kNoRule = UINT32_MAX;

// Rules compiled so that a name costs one pass over it. Immutable: any number of threads may classify names with them.
class CompiledRules {
 public:
  explicit CompiledRules(RuleSet rules);
  CompiledRules& operator=(CompiledRules&&) = delete;

  [[nodiscard]] const RuleSet& rules() const { return rules_; }

 private:
  friend class Classifier;

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
  std::vector<bool> always_;                               // by rule: it has no word to trigger it
  WordMatcher matcher_;
};

// The built-in set "default", compiled when it is first asked for, once for the process. Any thread.
const CompiledRules& default_rules();

using ClassId = std::uint32_t;  // position in Classifier::classes()

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
  explicit Classifier(RuleSet rules, std::string platform = {})
      : Classifier(std::make_shared<const CompiledRules>(std::move(rules)), std::move(platform)) {}
  explicit Classifier(const CompiledRules& rules, std::string platform = {})  // which must outlive it
      : Classifier(std::shared_ptr<const CompiledRules>(std::shared_ptr<void>(), &rules), std::move(platform)) {}
  Classifier& operator=(Classifier&&) = delete;

  // Of XLA's kernels (trace/kernel_name.h) by what the operation does, else by the kernel's name.
  Classification classify(std::string_view name);
  Explanation explain(std::string_view name);
  // All rules whose terms hold, in order; the first one decides.
  std::vector<RuleId> matching_rules(std::string_view name);
  // The pattern a rule shows for a name; "" where the rule has none.
  [[nodiscard]] std::string label(std::string_view name, RuleId rule) const;

  // Grows while classifying: fused classes are entered as they appear. "other" is always the first.
  [[nodiscard]] const std::vector<std::string>& classes() const { return classes_.all(); }
  [[nodiscard]] const std::string& class_name(ClassId id) const { return classes_.text(id); }
  [[nodiscard]] const RuleSet& rules() const { return rules_.rules(); }
  [[nodiscard]] std::string_view rule_name(RuleId id) const {
    return id == kNoRule ? std::string_view("none") : std::string_view(rules().rules[id].name);
  }

 private:
  using CompiledTerm = CompiledRules::CompiledTerm;
  using CompiledRule = CompiledRules::CompiledRule;

  Classifier(std::shared_ptr<const CompiledRules> rules, std::string platform);

  void look_at(std::string_view name);  // which must live as long as the questions about it
  void open_wrappers(std::string_view readable);
  void scan(const NormalizedName& text, Scope scope, std::size_t offset);
  void scan_arguments();
  [[nodiscard]] static bool fits(const CompiledRules::Word& word, const NormalizedName& text, std::size_t begin,
                                 std::size_t end);
  // The first rule at `from` or behind whose terms all hold; kNoRule: none.
  RuleId next_rule(std::size_t from);
  bool holds(const CompiledRule& rule);
  [[nodiscard]] bool any_argument(const CompiledTerm& term) const;
  bool any_raw(const Term& term);
  [[nodiscard]] std::uint32_t place(const CompiledRule& rule) const;
  // The class of a rule that holds, with those of its parts in the order in which the name shows them.
  std::string class_by(RuleId id);
  std::vector<std::string> evidence(RuleId id);
  void append_evidence(const CompiledRule& rule, std::vector<std::string>& out) const;

  std::shared_ptr<const CompiledRules> owned_;
  const CompiledRules& rules_;
  std::string platform_;
  NumberedTexts classes_;
  // Of the name at hand; the memory is used again for the next one.
  std::string_view name_;
  std::string hlo_name_;
  std::string readable_;  // of mangled names
  std::string lower_;     // made when a raw term asks
  std::string path_;      // the function's name, wrappers opened
  KernelName parts_;      // of the innermost wrapped function; into the readable name
  NormalizedName words_, inner_;
  std::size_t path_length_ = 0;  // letters
  std::size_t own_begin_ = 0;    // where the last part of the path begins
  bool arguments_scanned_ = false;
  std::vector<bool> found_;              // by word
  std::vector<bool> terms_;              // of which a word was found
  std::vector<std::uint32_t> position_;  // of words found
  std::vector<bool> candidates_;         // by rule
};

// Defects of a set of rules: rules that can never decide because an earlier one always does and, given the names of
// traces, rules that nothing needs.
enum class RuleState {
  kNeverReached,  // an earlier rule holds whenever this one does
  kShadowed,      // holds for names seen, but an earlier rule decided all of them
  kUnused,        // holds for no name seen
  kUsed,
};
std::string_view to_string(RuleState state);

struct RuleFinding {
  RuleId rule = 0;
  RuleState state = RuleState::kUnused;
  RuleId by = kNoRule;      // the earlier rule: of kNeverReached, and the first one of kShadowed
  std::size_t decided = 0;  // names
  std::size_t held = 0;     // names
};

// One finding a rule, in the order of the rules.
std::vector<RuleFinding> check_rules(Classifier& classifier, const std::vector<std::string>& names);

}  // namespace tracedb
