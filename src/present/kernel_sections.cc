// The sections `roles` and `kernels`: where kernel time went, by what kernels are for in the model and by their names.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "present/cells.h"
#include "present/sections.h"

namespace tracedb {
namespace {

// Rows of sums: those of the largest change first, then those of the longest time.
class RowsByChange {
 public:
  explicit RowsByChange(Report& table) : table_(table) {}
  void add(const SumsLine& line, Cells more) {
    rows_.emplace(std::pair(-std::abs(line.change()), -line.baseline() - line.candidate()),
                  row_of(table_.columns, line.cells(std::move(more))));
  }
  void finish() {
    for (auto& [order, row] : rows_) table_.rows.push_back(std::move(row));
  }

 private:
  Report& table_;
  std::multimap<std::pair<double, double>, Row> rows_;
};

Cell role_cell(Role role) { return role == Role::kNone ? Cell{} : Cell(std::string(to_string(role))); }

struct RoleSums : BothSums {
  BothSums in_layers;
  std::set<std::int32_t> layers;
};

std::map<Role, RoleSums> sums_by_role(const GroupComparison& group) {
  std::map<Role, RoleSums> out;
  const auto add = [&](const GroupWork& work, WorkSum BothSums::*side) {
    for (const WorkCell& cell : work.cells) {
      RoleSums& own = out[group.role_levels.of(cell.role)];
      (own.*side).add(cell.sum);
      if (cell.layer < 0) continue;
      (own.in_layers.*side).add(cell.sum);
      own.layers.insert(cell.layer);
    }
  };
  add(group.baseline, &BothSums::baseline);
  add(group.candidate, &BothSums::candidate);
  return out;
}

// How the kernels of a row came together.
enum class Pairing { kAligned, kByName };

struct KernelKey {
  Pairing pairing = Pairing::kByName;
  Role role = Role::kNone;
  NameId name = 0;                     // of the baseline; of the candidate where the baseline has none
  std::optional<NameId> partner = {};  // of the candidate, where the kernels are aligned
  auto operator<=>(const KernelKey&) const = default;
  [[nodiscard]] NameId in_candidate() const { return partner.value_or(name); }
};

struct KernelSums : BothSums {
  std::int64_t fused = 0, companions = 0;  // kernels of either side that a fusion, or a pair they belong to, explains
};

// That of both, or of the one that has one; none where they differ.
Role common_role(Role a, Role b, const RoleLevels& levels) {
  if (a == Role::kNone || b == Role::kNone) return levels.of(a == Role::kNone ? b : a);
  return levels.of(a) == levels.of(b) ? levels.of(a) : Role::kNone;
}

using SumsByKernel = std::map<KernelKey, KernelSums>;

void take(WorkSum& from, const PairSide& side) {
  from.n -= side.named_n;
  from.time -= side.named_time;
}

// Moves the kernels of aligned pairs from the rows of their names to rows of their own.
void pair_kernels(const GroupComparison& group, SumsByKernel& sums) {
  for (const AlignedSegment& segment : group.alignment.segments) {
    for (const KernelPair& pair : segment.pairs) {
      KernelSums& a = sums[{Pairing::kByName, Role::kNone, pair.baseline.name}];
      KernelSums& b = sums[{Pairing::kByName, Role::kNone, pair.candidate.name}];
      if (!pair.has_both()) {
        KernelSums& only = pair.baseline.n > 0 ? a : b;
        const std::int64_t n = pair.baseline.named_n + pair.candidate.named_n;
        if (pair.fused) only.fused += n;
        if (pair.companion_of != kNoPartner) only.companions += n;
        continue;
      }
      take(a.baseline, pair.baseline);
      take(b.candidate, pair.candidate);
      const Role role = common_role(pair.baseline.role, pair.candidate.role, group.role_levels);
      KernelSums& own = sums[{Pairing::kAligned, role, pair.baseline.name, pair.candidate.name}];
      own.baseline.add({pair.baseline.named_n, pair.baseline.named_time, 0});
      own.candidate.add({pair.candidate.named_n, pair.candidate.named_time, 0});
    }
  }
}

SumsByKernel sums_by_kernel(const GroupComparison& group) {
  SumsByKernel out;
  const auto of = [&](const WorkCell& cell) -> KernelSums& { return out[{Pairing::kByName, Role::kNone, cell.name}]; };
  for (const WorkCell& cell : group.baseline.cells) of(cell).baseline.add(cell.sum);
  for (const WorkCell& cell : group.candidate.cells) of(cell).candidate.add(cell.sum);
  pair_kernels(group, out);
  std::erase_if(out, [](const auto& entry) { return entry.second.baseline.n == 0 && entry.second.candidate.n == 0; });
  return out;
}

std::string status_of(const KernelKey& key, const KernelSums& own) {
  if (key.pairing == Pairing::kAligned) return key.name == *key.partner ? "same kernel" : "other kernel";
  if (own.baseline.n > 0 && own.candidate.n > 0) return "both";
  const std::int64_t n = own.baseline.n + own.candidate.n;
  if (own.fused == n) return "fused";
  if (own.companions == n) return "companion";
  return own.baseline.n == 0 ? "new" : "gone";
}

std::string status_of(const KernelPair& pair) {
  if (pair.has_both()) return pair.baseline.name == pair.candidate.name ? "same kernel" : "other kernel";
  if (pair.fused) return "fused";
  if (pair.companion_of != kNoPartner) return fmt::format("companion of {}", pair.companion_of);
  return pair.baseline.n > 0 ? "only baseline" : "only candidate";
}

// Percent of the steps and layers that follow the usual sequences, on the side where these are fewer.
double support_of(const AlignedSegment& segment) {
  const auto share = [](std::int64_t following, std::int64_t all) {
    return all > 0 ? 100.0 * static_cast<double>(following) / static_cast<double>(all) : 100.0;
  };
  return std::min(share(segment.baseline_following, segment.baseline_instances),
                  share(segment.candidate_following, segment.candidate_instances));
}

void add_fusion(const SectionInput& in, const GroupComparison& group, const Fusion& fusion, Report& table) {
  const bool by_baseline = fusion.by == FusedBy::kBaseline;
  const std::int64_t units = by_baseline ? group.baseline_units : group.candidate_units;
  const std::int64_t other_units = by_baseline ? group.candidate_units : group.baseline_units;
  const FusionKernel& fused = fusion.fused;
  const double fused_time = static_cast<double>(fused.time) / static_cast<double>(units);
  double parts_n = 0, parts_time = 0;
  std::vector<std::string> names, examples;
  for (const FusionKernel& part : fusion.parts) {
    const KernelNameEntry& entry = in.kernel_names.entries()[part.name];
    parts_n += static_cast<double>(part.n);
    parts_time += static_cast<double>(part.time) / static_cast<double>(other_units);
    names.push_back(in.human_readable && !entry.short_name.empty() ? entry.short_name : entry.name);
    examples.push_back(std::to_string(part.example + 1));
  }
  double a = 0, b = 0;  // of the layers in which it was found
  for (const LayerChange& layer : group.layers) {
    if (std::ranges::find(fusion.layers, layer.layer) == fusion.layers.end()) continue;
    a += group.baseline_per_unit(layer.baseline.time);
    b += group.candidate_per_unit(layer.candidate.time);
  }
  add_row(table, {{"phase", group.group.label},
                  {"fused_by", by_baseline ? "baseline" : "candidate"},
                  {"layers", layers_label(fusion.layers, in.baseline.layers.stacks)},
                  {"saving", parts_time - fused_time},
                  {"fused_n", count_cell(static_cast<double>(fused.n), units, in.human_readable)},
                  {"parts_n", count_cell(parts_n, other_units, in.human_readable)},
                  {"fused_time", fused_time},
                  {"parts_time", parts_time},
                  {"layer_saving", by_baseline ? b - a : a - b},
                  {"support_pct", 100 * fusion.support},
                  {"confidence_pct", 100 * fusion.confidence},
                  {"kind", fusion.implied   ? "implied"
                           : fusion.partial ? "partial"
                                            : "whole"},
                  {"fused_op", in.kernel_names.op_name(in.kernel_names.op_of(fused.name))},
                  {"fused_kernel", in.kernel_names.entries()[fused.name].name},
                  {"part_kernels", fmt::format("{}", fmt::join(names, " + "))},
                  {"fused_example", static_cast<std::int64_t>(fused.example) + 1},
                  {"part_examples", fmt::format("{}", fmt::join(examples, " "))}});
}

}  // namespace

void add_roles(const SectionInput& in, Report& table) {
  for (const GroupComparison& group : in.comparison.groups) {
    const std::map<Role, RoleSums> sums = sums_by_role(group);
    if (sums.size() == 1 && sums.begin()->first == Role::kNone) continue;
    RowsByChange rows(table);
    for (const auto& [role, own] : sums) {
      const auto layers = static_cast<std::int64_t>(own.layers.size());
      // Unknown where none has the role.
      const auto of_layer = [layers](double per_unit) {
        return layers == 0 ? Cell{} : Cell(per_unit / static_cast<double>(layers));
      };
      rows.add({in, group, own},
               {{"role", std::string(to_string(role))},
                {"layers", layers == 0 ? Cell{} : Cell(layers)},
                {"baseline_layer", of_layer(group.baseline_per_unit(own.in_layers.baseline.time))},
                {"candidate_layer", of_layer(group.candidate_per_unit(own.in_layers.candidate.time))}});
    }
    rows.finish();
  }
}

void add_kernels(const SectionInput& in, Report& table) {
  const auto kernel = [&](const WorkSum& of, NameId name) {
    return of.n == 0 ? Cell{} : Cell(in.kernel_names.entries()[name].name);
  };
  for (const GroupComparison& group : in.comparison.groups) {
    const auto op_of = [&](NameId name) { return in.kernel_names.op_name(group.levels.op_of(name, in.kernel_names)); };
    RowsByChange rows(table);
    for (const auto& [key, own] : sums_by_kernel(group)) {
      const SumsLine line{in, group, own};
      const auto [first, second] = std::minmax({op_of(key.name), op_of(key.in_candidate())});
      std::string status = status_of(key, own);
      if (in.human_readable) status = marked(std::move(status), line.change());
      rows.add(line, {{"role", role_cell(key.role)},
                      {"status", std::move(status)},
                      {"op", first == second ? first : first + " / " + second},
                      {"baseline_kernel", kernel(own.baseline, key.name)},
                      {"candidate_kernel", kernel(own.candidate, key.in_candidate())}});
    }
    rows.finish();
  }
}

void add_pairs(const SectionInput& in, Report& table) {
  const auto op = [&](const PairSide& side) {
    return side.n > 0 ? Cell(in.kernel_names.op_name(in.kernel_names.op_of(side.name))) : Cell{};
  };
  const auto kernel = [&](const PairSide& side) {
    return side.n > 0 ? Cell(in.kernel_names.entries()[side.name].name) : Cell{};
  };
  const auto count = [&](const PairSide& side, std::int64_t units) {
    return count_cell(static_cast<double>(side.n), units, in.human_readable);
  };
  for (const GroupComparison& group : in.comparison.groups) {
    for (const AlignedSegment& segment : group.alignment.segments) {
      std::int64_t position = 0;
      for (const KernelPair& pair : segment.pairs) {
        const double a = group.baseline_per_unit(pair.baseline.time);
        const double b = group.candidate_per_unit(pair.candidate.time);
        add_row(table, {{"phase", group.group.label},
                        {"layers", layers_label(segment.layers, in.baseline.layers.stacks)},
                        {"place", position++},
                        {"change", b - a},
                        {"baseline", a},
                        {"candidate", b},
                        {"status", status_of(pair)},
                        {"baseline_n", count(pair.baseline, group.baseline_units)},
                        {"candidate_n", count(pair.candidate, group.candidate_units)},
                        {"support_pct", support_of(segment)},
                        {"baseline_role", role_cell(group.role_levels.of(pair.baseline.role))},
                        {"candidate_role", role_cell(group.role_levels.of(pair.candidate.role))},
                        {"op", op(pair.baseline)},
                        {"candidate_op", op(pair.candidate)},
                        {"baseline_kernel", kernel(pair.baseline)},
                        {"candidate_kernel", kernel(pair.candidate)}});
      }
    }
  }
}

void add_fusions(const SectionInput& in, Report& table) {
  for (const GroupComparison& group : in.comparison.groups) {
    for (const Fusion& fusion : group.fusions) add_fusion(in, group, fusion, table);
  }
}

}  // namespace tracedb
