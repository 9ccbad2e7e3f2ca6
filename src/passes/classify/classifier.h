// Which class a kernel belongs to, by its name: rules (rule_set.h) compiled so that a name costs one pass over it.
//
// Names may be mangled or not, of any length and content; time is linear in the length. Nothing here throws for a name.
// One thread at a time; make one classifier a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/numbered_texts.h"
#include "passes/classify/compiled_rules.h"
#include "passes/classify/rule_set.h"
#include "trace/kernel_name.h"

namespace tracedb {

// What compiled rules find in one name. The memory of a scan is used again for the next name.
class NameScan {
 public:
  // `platform`: vendor of the device, for rules that ask for it. The rules must outlive the scan.
  NameScan(const CompiledRules& rules, std::string platform);

  void look_at(std::string_view name);  // which must live as long as the questions about it

  [[nodiscard]] const std::string& path() const { return path_; }  // the function's name, wrappers opened
  // The first rule at `from` or behind whose terms all hold; kNoRule: none.
  RuleId next_rule(std::size_t from);
  // The class of a rule that holds, with those of its parts in the order in which the name shows them.
  std::string class_name(RuleId id);
  // The words that were found, by term and part: "rmsnorm", "args:functor".
  std::vector<std::string> evidence(RuleId id);

 private:
  using CompiledTerm = CompiledRules::CompiledTerm;
  using CompiledRule = CompiledRules::CompiledRule;

  void open_wrappers(std::string_view readable);
  void scan(const NormalizedName& text, Scope scope, std::size_t offset);
  void scan_arguments();
  [[nodiscard]] static bool fits(const CompiledRules::Word& word, const NormalizedName& text, std::size_t begin,
                                 std::size_t end);
  bool holds(const CompiledRule& rule);
  [[nodiscard]] bool any_argument(const CompiledTerm& term) const;
  bool any_raw(const Term& term);
  [[nodiscard]] std::uint32_t place(const CompiledRule& rule) const;
  void append_evidence(const CompiledRule& rule, std::vector<std::string>& out) const;

  const CompiledRules& rules_;
  std::string platform_;
  std::string_view name_;
  std::string readable_;  // of mangled names
  std::string lower_;     // made when a raw term asks
  std::string path_;
  KernelName parts_;  // of the innermost wrapped function; into the readable name
  NormalizedName words_, inner_;
  std::size_t path_length_ = 0;  // letters
  std::size_t own_begin_ = 0;    // where the last part of the path begins
  bool arguments_scanned_ = false;
  BitSet found_;  // by word
  BitSet terms_;  // of which a word was found
  std::vector<std::uint32_t> position_;
  BitSet candidates_;  // by rule
};

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
  explicit Classifier(RuleSet rules, std::string platform = {});
  explicit Classifier(const CompiledRules& rules, std::string platform = {});  // which must outlive it
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
  std::unique_ptr<const CompiledRules> own_;
  const CompiledRules& rules_;
  NameScan scan_;
  NumberedTexts classes_;
  std::string hlo_name_;  // scratch
};

}  // namespace tracedb
