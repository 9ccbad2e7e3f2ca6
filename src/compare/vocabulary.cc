#include "compare/vocabulary.h"

#include <utility>

#include "passes/classify/kernel_identity.h"

namespace tracedb {
namespace {}  // namespace

Vocabulary::Vocabulary(ClassFamilies families) : families_(std::move(families)) { enter("", "", "other"); }

OpId Vocabulary::op(std::string_view name) {
  const auto [entry, is_new] = op_ids_.try_emplace(std::string(name), static_cast<OpId>(ops_.size()));
  const OpId id = entry->second;
  if (!is_new) return id;
  ops_.push_back(entry->first);
  family_.push_back(id);
  const OpId family = op(families_.family_of(name));
  family_[id] = family;
  return id;
}

NameId Vocabulary::enter(std::string_view name, std::string_view short_name, std::string_view op_name,
                         std::string_view rule) {
  const auto [entry, is_new] = name_ids_.try_emplace(normalised_name(name), static_cast<NameId>(names_.size()));
  if (is_new) {
    names_.push_back({entry->first, std::string(short_name), op(op_name), std::nullopt});
    if (const std::string_view host = families_.host_of(rule); !host.empty()) names_.back().host = family_[op(host)];
  }
  return entry->second;
}

std::vector<NameId> Vocabulary::enter_kernels(const Index& index) {
  std::vector<NameId> numbers;
  Statement rows(
      index.database(),
      "SELECT k.id, k.name, k.short_name, coalesce(c.class, 'other'), coalesce(c.rule, '') FROM kernel_name k "
      "LEFT JOIN temp.kernel_class c ON c.name_id = k.id ORDER BY k.id");
  while (rows.step()) {
    const std::size_t place = rows.id(0);
    if (place >= numbers.size()) numbers.resize(place + 1, 0);
    numbers[place] = enter(rows.text(1), rows.text(2), rows.text(3), rows.text(4));
  }
  return numbers;
}

}  // namespace tracedb
