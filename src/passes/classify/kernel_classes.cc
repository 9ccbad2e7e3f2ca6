#include "passes/classify/kernel_classes.h"

#include <map>

#include "base/text/split.h"
#include "trace/kernel_name.h"

namespace tracedb {

const CompiledRules& ActiveRules::compiled() const {
  if (name_ == "default") return default_rules();
  if (!rules_) rules_ = std::make_shared<const CompiledRules>(load_rules(name_));
  return *rules_;
}

std::string normalised_name(std::string_view name) {
  if (const auto hlo = parse_hlo_kernel(name)) {
    return normalised_name(hlo->kernel).append(name.substr(hlo->kernel.size()));
  }
  std::string text = name.starts_with("_Z") ? readable_name(name) : std::string(name);
  const bool generated = text.starts_with("triton_") && text.find("_fused_") != std::string::npos;
  if (generated) text.resize(without_number(text).size());
  return text;
}

std::string platform_of(const Index& index) { return index.meta("vendor").value_or("unknown"); }

KernelClasses::KernelClasses(const Index& index, const CompiledRules& rules)
    : entries_(1), declared_(rules.rules().classes), traits_(1, kOtherTrait) {
  Classifier classifier(rules, platform_of(index));
  std::map<ClassId, Traits> traits_of_id;
  Statement names(index.database(), kKernelTexts);
  while (names.step()) {
    const std::size_t id = names.id(0);
    const Classification result = classifier.classify(names.text(1));
    if (id >= entries_.size()) {
      entries_.resize(id + 1);
      traits_.resize(id + 1, kOtherTrait);
    }
    Entry& entry = entries_[id];
    entry = {true, result.class_id, {}, {}};
    if (result.rule_id != kNoRule) {
      entry.rule = classifier.rule_name(result.rule_id);
      entry.label = classifier.label(names.text(1), result.rule_id);
    }
    const auto [known, is_new] = traits_of_id.try_emplace(result.class_id);
    if (is_new) known->second = traits_of_class(classifier.class_name(result.class_id));
    traits_[id] = known->second;
  }
  names_ = classifier.classes();
}

}  // namespace tracedb
