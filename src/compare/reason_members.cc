#include "compare/reason_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace tracedb {
namespace {

constexpr std::size_t kMostNamed = 3;

using Layers = std::map<std::int32_t, LayerPart>;

// By which members are told apart: the first that both traces have and that tells what moved against each other.
enum class Level { kRoleAndOperator, kOperator, kRole, kKernel };

std::string member_of(Level level, Role role, const WorkCell& cell, const KernelNameTable& kernel_names) {
  if (level == Level::kKernel) return kernel_names.entries()[cell.name].name;
  const std::string own(role == Role::kNone || level == Level::kOperator ? "" : to_string(role));
  std::string_view launcher = level == Level::kRole ? "" : cell.launcher;
  if (launcher.starts_with("aten::")) launcher.remove_prefix(6);
  return own.empty() || launcher.empty() ? own + std::string(launcher) : fmt::format("{} {}", own, launcher);
}

void count(LayerPart& to, const LayerPart& part) {
  add(to.change, part.change);
  to.baseline_n += part.baseline_n;
  to.candidate_n += part.candidate_n;
}

// Of the kernels of an operation, by member and layer; ns and kernels per unit.
std::map<std::string, Layers> members_by(Level level, const GroupComparison& group, const std::string& op,
                                         const KernelNameTable& kernel_names) {
  std::map<std::string, Layers> members;
  for (const bool candidate : {false, true}) {
    const double per_unit = candidate ? group.candidate_per_unit(1) : group.baseline_per_unit(1);
    for (const WorkCell& cell : (candidate ? group.candidate : group.baseline).cells) {
      if (cell.work != Work::kCompute) continue;
      if (kernel_names.op_name(group.levels.op_of(cell.name, kernel_names)) != op) continue;
      LayerPart& to = members[member_of(level, group.role_levels.of(cell.role), cell, kernel_names)][cell.layer];
      to.layer = cell.layer;
      (candidate ? to.change.candidate : to.change.baseline) +=
          per_unit * static_cast<double>(cell.sum.accounted(cell.work));
      (candidate ? to.candidate_n : to.baseline_n) += per_unit * static_cast<double>(cell.sum.n);
    }
  }
  for (auto& [name, layers] : members) {
    for (auto& [layer, part] : layers)
      part.change.change = part.change.duration_effect = std::llround(part.change.candidate - part.change.baseline);
  }
  return members;
}

// The members that moved one way, as one part.
struct Direction {
  LayerPart sum;
  Layers layers;
  std::size_t members = 0;
  std::vector<std::pair<std::int64_t, std::string>> names;  // of those that moved by as much as a reason needs
};

MemberPart part_of(const Reason& whole, Direction direction) {
  MemberPart out{whole, {}};
  std::sort(direction.names.rbegin(), direction.names.rend());
  for (std::size_t i = 0; i < std::min(kMostNamed, direction.names.size()); ++i)
    out.reason.member += (i == 0 ? "" : ", ") + direction.names[i].second;
  if (direction.members > std::min(kMostNamed, direction.names.size())) out.reason.member += " and others";
  out.reason.change = direction.sum.change;
  out.reason.baseline_n = direction.sum.baseline_n;
  out.reason.candidate_n = direction.sum.candidate_n;
  out.reason.whole_row = false;
  out.reason.interval.reset();
  for (const auto& [layer, part] : direction.layers) out.layers.push_back(part);
  return out;
}

}  // namespace

Reason all_kernels(const GroupComparison& group, const LedgerAccount& account) {
  Reason out;
  out.whole_row = false;
  for (const LedgerItem& item : account.items) {
    if (item.of_step) continue;
    add(out.change, item.change);
    out.baseline_n += item.baseline_n / static_cast<double>(group.baseline_units);
    out.candidate_n += item.candidate_n / static_cast<double>(group.candidate_units);
  }
  return out;
}

std::vector<MemberPart> split_by_member(const GroupComparison& group, const KernelNameTable& kernel_names,
                                        const Reason& whole, double least) {
  for (const Level level : {Level::kRoleAndOperator, Level::kOperator, Level::kRole, Level::kKernel}) {
    Direction slower, faster;
    bool in_both = true;
    for (const auto& [name, layers] : members_by(level, group, whole.op, kernel_names)) {
      LayerPart sum;
      for (const auto& [layer, part] : layers) count(sum, part);
      Direction& to = sum.change.change > 0 ? slower : faster;
      const std::int64_t size = std::abs(sum.change.change);
      if (static_cast<double>(size) >= least) {
        in_both = in_both && !name.empty() && sum.baseline_n > 0 && sum.candidate_n > 0;
        to.names.emplace_back(size, name);
      }
      count(to.sum, sum);
      ++to.members;
      for (const auto& [layer, part] : layers)
        count(to.layers.try_emplace(layer, LayerPart{layer, {}, 0, 0}).first->second, part);
    }
    // What rounding misses of the row, or what a fusion has of it.
    const std::int64_t rest = whole.change.change - slower.sum.change.change - faster.sum.change.change;
    if (!in_both || slower.names.empty() || faster.names.empty() || 2 * std::abs(static_cast<double>(rest)) > least)
      continue;
    faster.sum.change.change += rest;
    faster.sum.change.duration_effect += rest;
    std::vector<MemberPart> parts;
    parts.push_back(part_of(whole, std::move(slower)));
    parts.push_back(part_of(whole, std::move(faster)));
    if (!group.alignment.by_layer) parts[0].layers = parts[1].layers = {};
    return parts;
  }
  return {};
}

}  // namespace tracedb
