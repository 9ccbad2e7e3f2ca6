// Which class a kernel belongs to, by its name: rules (rule_set.h) compiled so that a name costs one pass over it.
//
// Names may be mangled or not, of any length and content; time is linear in the length. Nothing here throws for a name.
// One thread at a time; make one classifier a thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "passes/classify/compiled_rules.h"
#include "passes/classify/name_scan.h"
#include "passes/classify/rule_set.h"

namespace tracedb {

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
  Classifier(const Classifier&) = delete;
  Classifier& operator=(const Classifier&) = delete;

  Classification classify(std::string_view name);
  Explanation explain(std::string_view name);
  // All rules whose terms hold, in order; the first one decides.
  std::vector<RuleId> matching_rules(std::string_view name);
  // The pattern a rule shows for a name; "" where the rule has none.
  [[nodiscard]] std::string label(std::string_view name, RuleId rule) const;

  // Grows while classifying: fused classes are entered as they appear. "other" is always the first.
  [[nodiscard]] const std::vector<std::string>& classes() const { return classes_; }
  [[nodiscard]] const std::string& class_name(ClassId id) const { return classes_[id]; }
  [[nodiscard]] const RuleSet& rules() const { return rules_.rules(); }
  [[nodiscard]] std::string_view rule_name(RuleId id) const {
    return id == kNoRule ? std::string_view("none") : std::string_view(rules().rules[id].name);
  }

 private:
  ClassId class_id(const std::string& name);

  std::unique_ptr<const CompiledRules> own_;
  const CompiledRules& rules_;
  NameScan scan_;
  std::vector<std::string> classes_;
  std::unordered_map<std::string, ClassId> class_ids_;
};

}  // namespace tracedb
