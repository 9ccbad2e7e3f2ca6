// Classes that name one operation more or less finely, and kernels that finish the work of another, as the rules
// declare them (rule_set.h). Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "passes/classify/rule_set.h"

namespace tracedb {

class ClassFamilies {
 public:
  ClassFamilies() = default;
  explicit ClassFamilies(const RuleSet& rules);

  // The coarsest name of a class: "attention_decode" -> attention, "elementwise+norm+quantise" -> norm+quantise,
  // "kv_cache+rotary" -> rotary+kv_cache, parts in the order of classes.rules.
  [[nodiscard]] std::string family_of(std::string_view op) const;
  // The class whose work the kernels of a rule end; "" where it is none.
  [[nodiscard]] std::string_view host_of(std::string_view rule) const;
  // Whether kernels of a class that has `part` may do work of class `unnamed` without saying so.
  [[nodiscard]] bool may_do_unnamed(std::string_view part, std::string_view unnamed) const;

 private:
  std::map<std::string, std::string, std::less<>> family_;        // by class
  std::map<std::string, std::string, std::less<>> host_;          // by rule
  std::multimap<std::string, std::string, std::less<>> unnamed_;  // by the class that may do it
  std::map<std::string, std::size_t, std::less<>> order_;         // of the classes
};

// "norm+quantise" -> norm, quantise.
std::vector<std::string_view> op_parts(std::string_view op);

}  // namespace tracedb
