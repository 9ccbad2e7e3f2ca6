#include "passes/work/matrix_units.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/text/json_text.h"
#include "base/text/split.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

struct NameRule {
  bool uses = false;
  std::vector<std::string_view> parts;  // in this order in the name
};

NameRule rule_from(std::string_view line) {
  const std::size_t space = line.find(' ');
  const std::string_view answer = line.substr(0, space);
  if (space == std::string_view::npos || (answer != "yes" && answer != "no")) {
    throw std::logic_error("schema/devices/matrix_units.rules: " + std::string(line));
  }
  return {answer == "yes", split_text(trim_json_space(line.substr(space)), '*')};
}

bool fits(const NameRule& rule, std::string_view name) {
  return std::ranges::all_of(rule.parts, [&](std::string_view part) {
    const std::size_t at = name.find(part);
    name.remove_prefix(std::min(at == std::string_view::npos ? at : at + part.size(), name.size()));
    return at != std::string_view::npos;
  });
}

const std::vector<NameRule>& all_rules() {
  static const std::vector<NameRule> kRules = [] {
    std::vector<NameRule> out;
    for (const std::string_view line : data_lines(script("devices/matrix_units"))) out.push_back(rule_from(line));
    return out;
  }();
  return kRules;
}

}  // namespace

std::optional<bool> runs_on_matrix_units(std::string_view kernel_name) {
  const auto rule = std::ranges::find_if(all_rules(), [&](const NameRule& one) { return fits(one, kernel_name); });
  return rule == all_rules().end() ? std::nullopt : std::optional(rule->uses);
}

}  // namespace tracedb
