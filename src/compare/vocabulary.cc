#include "compare/vocabulary.h"

#include "passes/kernel_identity.h"

namespace tracedb {
namespace {

constexpr std::uint32_t kMostIds = 1U << 27;  // of kernel_name: a hostile index must not make us fill the memory

}  // namespace

Vocabulary::Vocabulary() { enter("", "", "other"); }

OpId Vocabulary::op(std::string_view name) {
  const auto [entry, is_new] = op_ids_.try_emplace(std::string(name), static_cast<OpId>(ops_.size()));
  if (is_new) ops_.push_back(entry->first);
  return entry->second;
}

NameId Vocabulary::enter(std::string_view name, std::string_view short_name, std::string_view op_name) {
  const auto [entry, is_new] = name_ids_.try_emplace(normalised_name(name), static_cast<NameId>(names_.size()));
  if (is_new) names_.push_back({entry->first, std::string(short_name), op(op_name)});
  return entry->second;
}

std::vector<NameId> Vocabulary::enter_kernels(const Index& index) {
  std::vector<NameId> numbers;
  Statement rows(index.database(),
                 "SELECT k.id, k.name, k.short_name, coalesce(c.class, 'other') FROM kernel_name k "
                 "LEFT JOIN temp.kernel_class c ON c.name_id = k.id WHERE k.id > 0 ORDER BY k.id");
  while (rows.step()) {
    const std::int64_t id = rows.int64(0);
    if (id >= kMostIds) break;
    const auto place = static_cast<std::size_t>(id);
    if (place >= numbers.size()) numbers.resize(place + 1, 0);
    numbers[place] = enter(rows.text(1), rows.text(2), rows.text(3));
  }
  return numbers;
}

}  // namespace tracedb
