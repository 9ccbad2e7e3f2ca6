#include "trace_query/rules.h"

#include <fmt/format.h>

namespace tracedb {

std::string rules_asked(const CommandLine& line) { return line.text("rules").value_or("default"); }

RulesInForce::RulesInForce(const CommandLine& line) : name_(rules_asked(line)), rules_(load_rules(name_)) {}

void RulesInForce::apply(const Index& index) const {
  Classifier classifier(rules_, platform_of(index));
  make_kernel_class_table(index, classifier);
}

std::vector<Traits> RulesInForce::traits(const Index& index) const {
  Classifier classifier(rules_, platform_of(index));
  return kernel_traits(index, classifier);
}

std::string RulesInForce::provenance() const {
  return fmt::format(
      "temp.kernel_class: the class of each row of kernel_name under the rules '{}', {} of them (trace-query "
      "rules list)",
      name_, rules_.rules.size());
}

}  // namespace tracedb
