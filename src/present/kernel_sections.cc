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

// Largest change first, then longest time.
template <class Line>
void add_by_change(const std::vector<Line>& lines, const AddLine<Line>& add) {
  std::vector<const Line*> order;
  for (const Line& line : lines) order.push_back(&line);
  std::ranges::stable_sort(order, {}, [](const Line* line) {
    return std::pair(-std::abs(line->change()), -line->baseline() - line->candidate());
  });
  for (const Line* line : order) add(*line);
}

Cell role_cell(Role role) { return role == Role::kNone ? Cell{} : Cell(std::string(to_string(role))); }

struct RoleSums : BothSums {
  BothSums in_layers;
  std::set<std::int32_t> layers;
};

struct RoleLine : SumsLine {
  Role role = Role::kNone;
  const RoleSums& own;

  // Of one layer; unknown where none has the role.
  [[nodiscard]] Cell of_layer(double per_unit) const {
    return own.layers.empty() ? Cell{} : Cell(per_unit / static_cast<double>(own.layers.size()));
  }
};

const Fields<RoleLine> kRoleFields = DeclaredFields<RoleLine>{
    "compare_roles", cells_of_sums<RoleLine>({
                         {"role", [](const auto& line) { return std::string(to_string(line.role)); }},
                         {"layers",
                          [](const auto& line) {
                            const auto layers = static_cast<std::int64_t>(line.own.layers.size());
                            return layers == 0 ? Cell{} : Cell(layers);
                          }},
                         {"baseline_layer",
                          [](const auto& line) {
                            return line.of_layer(line.group.baseline_per_unit(line.own.in_layers.baseline.time));
                          }},
                         {"candidate_layer",
                          [](const auto& line) {
                            return line.of_layer(line.group.candidate_per_unit(line.own.in_layers.candidate.time));
                          }},
                     })};

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

struct KernelLine : SumsLine {
  const KernelKey& key;
  const KernelSums& own;

  [[nodiscard]] std::string op() const {
    const auto name_of = [&](NameId name) {
      return in.kernel_names.op_name(group.levels.op_of(name, in.kernel_names));
    };
    const std::string first = name_of(key.name), second = name_of(key.in_candidate());
    return first == second ? first : std::min(first, second) + " / " + std::max(first, second);
  }
  [[nodiscard]] Cell kernel(const WorkSum& of, NameId name) const {
    return of.n == 0 ? Cell{} : Cell(in.kernel_names.entries()[name].name);
  }
  [[nodiscard]] std::string status() const {
    if (key.pairing == Pairing::kAligned) return key.name == *key.partner ? "same kernel" : "other kernel";
    if (own.baseline.n > 0 && own.candidate.n > 0) return "both";
    const std::int64_t n = own.baseline.n + own.candidate.n;
    if (own.fused == n) return "fused";
    if (own.companions == n) return "companion";
    std::string text = own.baseline.n == 0 ? "new" : "gone";
    return in.human_readable ? marked(std::move(text), change()) : text;
  }
};

const Fields<KernelLine> kKernelFields = DeclaredFields<KernelLine>{
    "compare_kernels",
    cells_of_sums<KernelLine>({
        {"role", [](const auto& line) { return role_cell(line.key.role); }},
        {"status", &KernelLine::status},
        {"op", &KernelLine::op},
        {"baseline_kernel", [](const auto& line) { return line.kernel(line.own.baseline, line.key.name); }},
        {"candidate_kernel", [](const auto& line) { return line.kernel(line.own.candidate, line.key.in_candidate()); }},
    })};

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

// The sections `alignment` and `fusion`: kernels of one trace and what corresponds to them in the other.

struct PairLine {
  const SectionInput& in;
  const GroupComparison& group;
  const AlignedSegment& segment;
  const KernelPair& pair;
  std::int64_t position = 0;

  [[nodiscard]] double baseline() const { return group.baseline_per_unit(pair.baseline.time); }
  [[nodiscard]] double candidate() const { return group.candidate_per_unit(pair.candidate.time); }
  [[nodiscard]] Cell op(const PairSide& side) const {
    return side.n > 0 ? Cell(in.kernel_names.op_name(in.kernel_names.op_of(side.name))) : Cell{};
  }
  [[nodiscard]] Cell role(const PairSide& side) const { return role_cell(group.role_levels.of(side.role)); }
  [[nodiscard]] Cell kernel(const PairSide& side) const {
    return side.n > 0 ? Cell(in.kernel_names.entries()[side.name].name) : Cell{};
  }
  [[nodiscard]] Cell count(const PairSide& side, std::int64_t units) const {
    return count_cell(static_cast<double>(side.n), units, in.human_readable);
  }
  [[nodiscard]] std::string status() const {
    if (pair.has_both()) return pair.baseline.name == pair.candidate.name ? "same kernel" : "other kernel";
    if (pair.fused) return "fused";
    if (pair.companion_of != kNoPartner) return fmt::format("companion of {}", pair.companion_of);
    return pair.baseline.n > 0 ? "only baseline" : "only candidate";
  }
  [[nodiscard]] double support() const {
    const auto share = [](std::int64_t following, std::int64_t all) {
      return all > 0 ? 100.0 * static_cast<double>(following) / static_cast<double>(all) : 100.0;
    };
    return std::min(share(segment.baseline_following, segment.baseline_instances),
                    share(segment.candidate_following, segment.candidate_instances));
  }
};

const Fields<PairLine> kPairFields = DeclaredFields<PairLine>{
    "compare_alignment",
    {
        {"phase", [](const auto& line) { return line.group.group.label; }},
        {"layers", [](const auto& line) { return layers_label(line.segment.layers, line.in.baseline.layers.stacks); }},
        {"place", &PairLine::position},
        {"change", [](const auto& line) { return line.candidate() - line.baseline(); }},
        {"baseline", &PairLine::baseline},
        {"candidate", &PairLine::candidate},
        {"status", &PairLine::status},
        {"baseline_n", [](const auto& line) { return line.count(line.pair.baseline, line.group.baseline_units); }},
        {"candidate_n", [](const auto& line) { return line.count(line.pair.candidate, line.group.candidate_units); }},
        {"support_pct", &PairLine::support},
        {"baseline_role", [](const auto& line) { return line.role(line.pair.baseline); }},
        {"candidate_role", [](const auto& line) { return line.role(line.pair.candidate); }},
        {"op", [](const auto& line) { return line.op(line.pair.baseline); }},
        {"candidate_op", [](const auto& line) { return line.op(line.pair.candidate); }},
        {"baseline_kernel", [](const auto& line) { return line.kernel(line.pair.baseline); }},
        {"candidate_kernel", [](const auto& line) { return line.kernel(line.pair.candidate); }},
    }};

struct FusionLine {
  const SectionInput& in;
  const GroupComparison& group;
  const Fusion& fusion;

  [[nodiscard]] bool by_baseline() const { return fusion.by == FusedBy::kBaseline; }
  [[nodiscard]] std::int64_t fused_units() const {
    return by_baseline() ? group.baseline_units : group.candidate_units;
  }
  [[nodiscard]] std::int64_t parts_units() const {
    return by_baseline() ? group.candidate_units : group.baseline_units;
  }
  [[nodiscard]] double fused_time() const {
    return static_cast<double>(fusion.fused.time) / static_cast<double>(fused_units());
  }
  // Of what the other side has instead, in its units.
  [[nodiscard]] double parts_sum(std::int64_t FusionKernel::*of, std::int64_t units) const {
    double sum = 0;
    for (const FusionKernel& part : fusion.parts) sum += static_cast<double>(part.*of) / static_cast<double>(units);
    return sum;
  }
  [[nodiscard]] double parts_time() const { return parts_sum(&FusionKernel::time, parts_units()); }
  // Of the layers in which the fusion was found, on the side that fuses against the other.
  [[nodiscard]] double layer_saving() const {
    double a = 0, b = 0;
    for (const LayerChange& layer : group.layers) {
      if (std::ranges::find(fusion.layers, layer.layer) == fusion.layers.end()) continue;
      a += group.baseline_per_unit(layer.baseline.time);
      b += group.candidate_per_unit(layer.candidate.time);
    }
    return by_baseline() ? b - a : a - b;
  }
  // `text_of` each part, joined.
  template <class TextOf>
  [[nodiscard]] std::string parts(const char* separator, TextOf text_of) const {
    std::vector<std::string> texts;
    for (const FusionKernel& part : fusion.parts) texts.push_back(text_of(part));
    return fmt::format("{}", fmt::join(texts, separator));
  }
};

const Fields<FusionLine> kFusionFields = DeclaredFields<FusionLine>{
    "compare_fusion",
    {
        {"phase", [](const auto& line) { return line.group.group.label; }},
        {"fused_by", [](const auto& line) { return std::string(line.by_baseline() ? "baseline" : "candidate"); }},
        {"layers", [](const auto& line) { return layers_label(line.fusion.layers, line.in.baseline.layers.stacks); }},
        {"saving", [](const auto& line) { return line.parts_time() - line.fused_time(); }},
        {"fused_n",
         [](const auto& line) {
           return count_cell(static_cast<double>(line.fusion.fused.n), line.fused_units(), line.in.human_readable);
         }},
        {"parts_n",
         [](const auto& line) {
           return count_cell(line.parts_sum(&FusionKernel::n, 1), line.parts_units(), line.in.human_readable);
         }},
        {"fused_time", &FusionLine::fused_time},
        {"parts_time", &FusionLine::parts_time},
        {"layer_saving", &FusionLine::layer_saving},
        {"support_pct", [](const auto& line) { return 100 * line.fusion.support; }},
        {"confidence_pct", [](const auto& line) { return 100 * line.fusion.confidence; }},
        {"kind",
         [](const auto& line) {
           return std::string(line.fusion.implied ? "implied" : line.fusion.partial ? "partial" : "whole");
         }},
        {"fused_op",
         [](const auto& line) {
           return line.in.kernel_names.op_name(line.in.kernel_names.op_of(line.fusion.fused.name));
         }},
        {"fused_kernel", [](const auto& line) { return line.in.kernel_names.entries()[line.fusion.fused.name].name; }},
        {"part_kernels",
         [](const auto& line) {
           return line.parts(" + ", [&](const FusionKernel& part) { return kernel_text(part.name, line.in); });
         }},
        {"fused_example", [](const auto& line) { return static_cast<std::int64_t>(line.fusion.fused.example) + 1; }},
        {"part_examples",
         [](const auto& line) {
           return line.parts(" ", [](const FusionKernel& part) { return std::to_string(part.example + 1); });
         }},
    }};

void role_lines(const SectionInput& in, const AddLine<RoleLine>& add) {
  for (const GroupComparison& group : in.comparison.groups) {
    const std::map<Role, RoleSums> sums = sums_by_role(group);
    if (sums.size() == 1 && sums.begin()->first == Role::kNone) continue;
    std::vector<RoleLine> lines;
    for (const auto& [role, own] : sums) lines.push_back({{in, group, own}, role, own});
    add_by_change(lines, add);
  }
}

void kernel_lines(const SectionInput& in, const AddLine<KernelLine>& add) {
  for (const GroupComparison& group : in.comparison.groups) {
    const SumsByKernel sums = sums_by_kernel(group);
    std::vector<KernelLine> lines;
    for (const auto& [key, own] : sums) lines.push_back({{in, group, own}, key, own});
    add_by_change(lines, add);
  }
}

void pair_lines(const SectionInput& in, const AddLine<PairLine>& add) {
  for (const GroupComparison& group : in.comparison.groups) {
    for (const AlignedSegment& segment : group.alignment.segments) {
      std::int64_t position = 0;
      for (const KernelPair& pair : segment.pairs) add({in, group, segment, pair, position++});
    }
  }
}

void fusion_lines(const SectionInput& in, const AddLine<FusionLine>& add) {
  for (const GroupComparison& group : in.comparison.groups) {
    for (const Fusion& fusion : group.fusions) add({in, group, fusion});
  }
}

}  // namespace

const TableOf<SectionInput> kRolesTable = kTableOfLines<SectionInput, kRoleFields, role_lines>;
const TableOf<SectionInput> kKernelsTable = kTableOfLines<SectionInput, kKernelFields, kernel_lines>;
const TableOf<SectionInput> kAlignmentTable = kTableOfLines<SectionInput, kPairFields, pair_lines>;
const TableOf<SectionInput> kFusionTable = kTableOfLines<SectionInput, kFusionFields, fusion_lines>;

}  // namespace tracedb
