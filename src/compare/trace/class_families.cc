#include "compare/trace/class_families.h"

#include <algorithm>

namespace tracedb {

ClassFamilies::ClassFamilies(const RuleSet& rules) {
  for (const ClassRelation& relation : rules.families) family_[relation.second] = relation.first;
  for (const ClassRelation& relation : rules.companions) host_[relation.first] = relation.second;
  for (const ClassRelation& relation : rules.unnamed) unnamed_.emplace(relation.second, relation.first);
  for (const std::string& name : rules.classes) order_.emplace(name, order_.size());
}

std::string ClassFamilies::family_of(std::string_view op) const {
  std::vector<std::string_view> parts = op_parts(op);
  for (std::string_view& part : parts) {
    if (const auto coarser = family_.find(part); coarser != family_.end()) part = coarser->second;
  }
  const std::vector<std::string_view> named = parts;
  std::erase_if(parts, [&](std::string_view part) {
    return std::any_of(named.begin(), named.end(),
                       [&](std::string_view beside) { return may_do_unnamed(beside, part); });
  });
  const auto position = [&](std::string_view part) {
    const auto found = order_.find(part);
    return found == order_.end() ? order_.size() : found->second;
  };
  std::stable_sort(parts.begin(), parts.end(), [&](auto a, auto b) { return position(a) < position(b); });
  std::string family;
  for (const std::string_view part : parts) family.append(family.empty() ? "" : "+").append(part);
  return family;
}

std::string_view ClassFamilies::host_of(std::string_view rule) const {
  const auto found = host_.find(rule);
  return found == host_.end() ? std::string_view() : std::string_view(found->second);
}

bool ClassFamilies::may_do_unnamed(std::string_view part, std::string_view unnamed) const {
  const auto [begin, end] = unnamed_.equal_range(part);
  return std::any_of(begin, end, [&](const auto& entry) { return entry.second == unnamed; });
}

std::vector<std::string_view> op_parts(std::string_view op) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= op.size();) {
    const std::size_t end = std::min(op.find('+', begin), op.size());
    parts.push_back(op.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace tracedb
