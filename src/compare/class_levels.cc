#include "compare/class_levels.h"

#include <algorithm>
#include <optional>

namespace tracedb {
namespace {

// The family that a companion counts as; nullopt for other kernels, and for companions of their host's own family.
std::optional<OpId> host_of(const KernelNameEntry& entry, const KernelNameTable& kernel_names) {
  return entry.host && *entry.host != kernel_names.family_of(entry.op) ? entry.host : std::nullopt;
}

// Classes that the alignment pairs with another one of their family.
std::set<OpId> taken_for_others(const GroupAlignment& alignment, const KernelNameTable& kernel_names) {
  std::set<OpId> out;
  for (const AlignedSegment& segment : alignment.segments) {
    for (const KernelPair& pair : segment.pairs) {
      if (!pair.has_both()) continue;
      const OpId a = kernel_names.op_of(pair.baseline.name);
      const OpId b = kernel_names.op_of(pair.candidate.name);
      if (a != b && kernel_names.family_of(a) == kernel_names.family_of(b)) out.insert({a, b});
    }
  }
  return out;
}

std::vector<OpId> missing_in(const std::set<OpId>& other, const std::set<OpId>& own, OpId family,
                             const KernelNameTable& kernel_names) {
  std::vector<OpId> out;
  for (const OpId op : own) {
    if (kernel_names.family_of(op) == family && !other.contains(op)) out.push_back(op);
  }
  return out;
}

}  // namespace

std::set<OpId> classes_of(const ComparedTrace& trace, const GroupSide& group, const KernelNameTable& kernel_names) {
  const auto names = trace.events.kernels.ids("name_id");
  std::vector<bool> met(kernel_names.entries().size(), false);
  for (const std::uint32_t step : group.device_steps) {
    for (const std::uint32_t row : trace.work.kernels(trace.work.steps[step])) met[trace.name(names[row])] = true;
  }
  std::set<OpId> out;
  for (NameId name = 0; name < met.size(); ++name) {
    if (met[name] && !host_of(kernel_names.entries()[name], kernel_names)) out.insert(kernel_names.op_of(name));
  }
  return out;
}

ClassLevels::ClassLevels(const std::set<OpId>& a, const std::set<OpId>& b, const GroupAlignment& alignment,
                         const KernelNameTable& kernel_names) {
  std::set<OpId> coarse = taken_for_others(alignment, kernel_names);
  std::set<OpId> families;
  for (const OpId op : a) families.insert(kernel_names.family_of(op));
  for (const OpId op : b) families.insert(kernel_names.family_of(op));
  for (const OpId family : families) {
    const std::vector<OpId> only_a = missing_in(b, a, family, kernel_names);
    const std::vector<OpId> only_b = missing_in(a, b, family, kernel_names);
    const bool is_shown = std::ranges::any_of(coarse, [&](OpId op) { return kernel_names.family_of(op) == family; });
    // A class without a counterpart in the other trace is new or gone.
    if (!only_b.empty() || b.contains(family) || is_shown) coarse.insert(only_a.begin(), only_a.end());
    if (!only_a.empty() || a.contains(family) || is_shown) coarse.insert(only_b.begin(), only_b.end());
  }
  for (const KernelNameEntry& entry : kernel_names.entries()) {
    const OpId own = coarse.contains(entry.op) ? kernel_names.family_of(entry.op) : entry.op;
    of_name_.push_back(host_of(entry, kernel_names).value_or(own));
  }
}

ClassLevels ClassLevels::coarsest(const KernelNameTable& kernel_names) {
  ClassLevels levels;
  for (const KernelNameEntry& entry : kernel_names.entries()) {
    levels.of_name_.push_back(host_of(entry, kernel_names).value_or(kernel_names.family_of(entry.op)));
  }
  return levels;
}

RoleLevels::RoleLevels(const std::set<Role>& baseline, const std::set<Role>& candidate) {
  const auto add = [&](const std::set<Role>& own, const std::set<Role>& other) {
    for (const Role role : own) {
      if (!other.contains(role)) coarse_.insert(info_of(role).family);
    }
  };
  add(baseline, candidate);
  add(candidate, baseline);
}

}  // namespace tracedb
