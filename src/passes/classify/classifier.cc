#include "passes/classify/classifier.h"

#include <charconv>
#include <utility>

#include "trace/kernel_name.h"

namespace tracedb {

Classifier::Classifier(RuleSet rules, std::string platform)
    : own_(std::make_unique<const CompiledRules>(std::move(rules))), rules_(*own_), scan_(rules_, std::move(platform)) {
  class_id("other");
}

Classifier::Classifier(const CompiledRules& rules, std::string platform)
    : rules_(rules), scan_(rules_, std::move(platform)) {
  class_id("other");
}

ClassId Classifier::class_id(const std::string& name) {
  const auto [entry, fresh] = class_ids_.try_emplace(name, static_cast<ClassId>(classes_.size()));
  if (fresh) classes_.push_back(name);
  return entry->second;
}

Classification Classifier::classify(std::string_view name) {
  scan_.look_at(name);
  const RuleId rule = scan_.next_rule(0);
  return rule == kNoRule ? Classification{} : Classification{class_id(scan_.class_name(rule)), rule};
}

std::vector<RuleId> Classifier::matching_rules(std::string_view name) {
  std::vector<RuleId> matching;
  scan_.look_at(name);
  for (RuleId rule = scan_.next_rule(0); rule != kNoRule; rule = scan_.next_rule(rule + 1)) matching.push_back(rule);
  return matching;
}

Explanation Classifier::explain(std::string_view name) {
  Explanation explanation;
  explanation.result = classify(name);
  explanation.readable = readable_name(name);
  explanation.path = scan_.path();
  const RuleId rule = explanation.result.rule_id;
  if (rule == kNoRule) return explanation;
  explanation.label = label(name, rule);
  explanation.evidence = scan_.evidence(rule);
  return explanation;
}

std::string Classifier::label(std::string_view name, RuleId rule) const {
  constexpr std::string_view kName = "{name:";
  if (rule == kNoRule) return {};
  const std::string& pattern = rules().rules[rule].label;
  const std::size_t at = pattern.find(kName);
  if (at == std::string::npos) return pattern;
  const std::size_t end = pattern.find('}', at);
  if (end == std::string::npos) return pattern;
  std::size_t characters = 0;
  std::from_chars(pattern.data() + at + kName.size(), pattern.data() + end, characters);
  std::size_t bytes = 0;  // characters, not bytes: a name may be UTF-8
  for (; bytes < name.size(); ++bytes) {
    const bool continues = (static_cast<unsigned char>(name[bytes]) & 0xC0) == 0x80;
    if (!continues && characters-- == 0) break;
  }
  return pattern.substr(0, at) + std::string(name.substr(0, bytes)) + pattern.substr(end + 1);
}

}  // namespace tracedb
