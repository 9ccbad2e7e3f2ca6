#include "compare/trace/kernel_name_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text/split.h"
#include "passes/columns/event_columns.h"

namespace tracedb {
KernelNameTable::KernelNameTable(ClassFamilies families) : families_(std::move(families)) { intern("", "", "other"); }

OpId KernelNameTable::op(std::string_view name) {
  const auto [entry, is_new] = op_ids_.try_emplace(std::string(name), static_cast<OpId>(ops_.size()));
  const OpId id = entry->second;
  if (!is_new) return id;
  ops_.push_back(entry->first);
  family_.push_back(id);
  const OpId family = op(families_.family_of(name));
  family_[id] = family;
  return id;
}

NameId KernelNameTable::intern(std::string_view name, std::string_view short_name, std::string_view op_name,
                               std::string_view rule) {
  const auto [entry, is_new] = name_ids_.try_emplace(normalised_name(name), static_cast<NameId>(entries_.size()));
  if (is_new) {
    entries_.push_back({entry->first, std::string(short_name), op(op_name), std::nullopt});
    if (const std::string_view host = families_.host_of(rule); !host.empty()) entries_.back().host = family_[op(host)];
  }
  return entry->second;
}

std::vector<NameId> KernelNameTable::intern_kernels(const Index& index, const KernelClasses& classes) {
  return by_id<NameId>(index, kKernelTexts, [&](const Statement& row) {
    const std::uint32_t id = row.id(0);
    return intern(row.text(1), row.text(2), classes.class_of(id), classes.of(id).rule);
  });
}

std::vector<std::uint32_t> LaunchConfigTable::intern(const Index& index) {
  return by_id<std::uint32_t>(
      index,
      "SELECT id, grid_x, grid_y, grid_z, block_x, block_y, block_z FROM launch_config WHERE "
      "grid_x IS NOT NULL AND block_x IS NOT NULL ORDER BY id",
      [&](const Statement& row) {
        return texts_.number(fmt::format("[{},{},{}] [{},{},{}]", row.int64(1), row.int64(2), row.int64(3),
                                         row.int64(4), row.int64(5), row.int64(6)));
      });
}

TraceNumbers number_trace(const Index& index, const KernelClasses& classes, KernelNameTable& kernel_names,
                          LaunchConfigTable& configs) {
  TraceNumbers out;
  out.names = kernel_names.intern_kernels(index, classes);
  out.memcpy = kernel_names.intern("[memcpy]", "[memcpy]", "memcpy");
  out.memset = kernel_names.intern("[memset]", "[memset]", "memset");
  out.configs = configs.intern(index);
  return out;
}

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
    return std::ranges::any_of(named, [&](std::string_view beside) { return may_do_unnamed(beside, part); });
  });
  const auto position = [&](std::string_view part) {
    const auto found = order_.find(part);
    return found == order_.end() ? order_.size() : found->second;
  };
  std::ranges::stable_sort(parts, [&](auto a, auto b) { return position(a) < position(b); });
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

std::vector<std::string_view> op_parts(std::string_view op) { return split_text(op, '+'); }

}  // namespace tracedb
