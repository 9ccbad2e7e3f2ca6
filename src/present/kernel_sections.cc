// The sections `roles` and `kernels`: where kernel time went, by what kernels are for in the model and by their names.
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

// Kernels and their time on both sides.
struct BothSums {
  WorkSum baseline, candidate;
};

// A row of either section.
struct SumsLine {
  const SectionInput& in;
  const GroupComparison& group;
  const BothSums& sums;

  [[nodiscard]] double baseline() const { return group.baseline_per_unit(sums.baseline.time); }
  [[nodiscard]] double candidate() const { return group.candidate_per_unit(sums.candidate.time); }
  [[nodiscard]] double change() const { return candidate() - baseline(); }
};

template <class Line>
Fields<Line> sum_fields() {
  return {
      {sum_column("baseline", "Baseline", Unit::kTime, "time per unit (step, token) of the baseline", Fit::kKept),
       [](const Line& line) { return line.baseline(); }},
      {sum_column("candidate", "Candidate", Unit::kTime, "time per unit of the candidate", Fit::kKept),
       [](const Line& line) { return line.candidate(); }},
      {sum_column("change", "Change", Unit::kTime, "candidate - baseline", Fit::kKept),
       [](const Line& line) { return line.change(); }},
      {sum_column("baseline_n", "n", Unit::kAny, "events per unit of the baseline"),
       [](const Line& line) {
         return count_cell(static_cast<double>(line.sums.baseline.n), line.group.baseline_units,
                           line.in.human_readable);
       }},
      {sum_column("candidate_n", "n'", Unit::kAny, "events per unit of the candidate"),
       [](const Line& line) {
         return count_cell(static_cast<double>(line.sums.candidate.n), line.group.candidate_units,
                           line.in.human_readable);
       }},
      {figure_column("ratio", "Ratio (<1 better)", Unit::kRatio, "candidate / baseline"),
       [](const Line& line) { return ratio_cell(line.baseline(), line.candidate()); }},
  };
}

// The lines as rows: largest change first, then longest time.
template <class Line>
void add_by_change(const std::vector<Line>& lines, const Fields<Line>& fields, std::vector<Row>& rows) {
  std::vector<const Line*> order;
  for (const Line& line : lines) order.push_back(&line);
  std::stable_sort(order.begin(), order.end(), [](const Line* x, const Line* y) {
    const auto rank = [](const Line& line) {
      return std::pair(-std::abs(line.change()), -line.baseline() - line.candidate());
    };
    return rank(*x) < rank(*y);
  });
  for (const Line* line : order) rows.push_back(row_of(fields, *line));
}

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

const Fields<RoleLine>& role_fields() {
  using Line = RoleLine;
  static const Fields<Line> kFields = [] {
    Fields<Line> fields = {
        phase_field<Line>(),
        {text_column("role", "Role", "role in the model (schema/METRICS.md 8), or [no role]", Fit{8}),
         [](const Line& line) { return std::string(to_string(line.role)); }}};
    for (Field<Line>& field : sum_fields<Line>()) fields.push_back(std::move(field));
    const Fields<Line> per_layer = {
        {figure_column("layers", "Layers", Unit::kCount, "layers that have the role", Fit{6}),
         [](const Line& line) {
           const auto layers = static_cast<std::int64_t>(line.own.layers.size());
           return layers == 0 ? Cell{} : Cell(layers);
         }},
        {figure_column("baseline_layer", "Layer", Unit::kTime, "time per unit and layer of the baseline", Fit{7}),
         [](const Line& line) {
           return line.of_layer(line.group.baseline_per_unit(line.own.in_layers.baseline.time));
         }},
        {figure_column("candidate_layer", "Layer'", Unit::kTime, "time per unit and layer of the candidate", Fit{7}),
         [](const Line& line) {
           return line.of_layer(line.group.candidate_per_unit(line.own.in_layers.candidate.time));
         }},
    };
    fields.insert(fields.end(), per_layer.begin(), per_layer.end());
    return fields;
  }();
  return kFields;
}

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
};

struct KernelSums : BothSums {
  std::int64_t fused = 0, companions = 0;  // kernels of either side that a fusion, or a pair they belong to, explains
};

enum class Side { kBaseline, kCandidate };

struct KernelLine : SumsLine {
  const KernelKey& key;
  const KernelSums& own;

  [[nodiscard]] std::string op() const {
    const auto name_of = [&](NameId name) {
      return in.kernel_names.op_name(group.levels.op_of(name, in.kernel_names));
    };
    const std::string first = name_of(key.name), second = name_of(key.partner.value_or(key.name));
    return first == second ? first : std::min(first, second) + " / " + std::max(first, second);
  }
  [[nodiscard]] Cell kernel(Side side) const {
    if ((side == Side::kBaseline ? own.baseline.n : own.candidate.n) == 0) return {};
    return in.kernel_names.entries()[side == Side::kCandidate && key.partner ? *key.partner : key.name].name;
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

const Fields<KernelLine>& kernel_fields() {
  using Line = KernelLine;
  static const Fields<Line> kFields = [] {
    Fields<Line> fields = {phase_field<Line>()};
    for (Field<Line>& field : sum_fields<Line>()) fields.push_back(std::move(field));
    const Fields<Line> names = {
        {text_column("role", "Role", "role in the model; unknown where none is", Fit{7}),
         [](const Line& line) {
           return line.key.role == Role::kNone ? Cell{} : Cell(std::string(to_string(line.key.role)));
         }},
        {text_column(
             "status", "Status",
             "same kernel and other kernel: aligned; both: unaligned, but of one name; fused: a fusion explains "
             "it; companion: ends the work of an aligned one; new or gone",
             Fit{3}),
         [](const Line& line) { return line.status(); }},
        {text_column("op", "Operation", "operation class; both where the kernels have different ones"),
         [](const Line& line) { return line.op(); }},
        {text_column("baseline_kernel", "Kernel", "kernel name in the baseline, normalised; unknown where it has none",
                     Fit::kNames),
         [](const Line& line) { return line.kernel(Side::kBaseline); }},
        {text_column("candidate_kernel", "Kernel'", "kernel name in the candidate; unknown where it has none",
                     Fit::kNames),
         [](const Line& line) { return line.kernel(Side::kCandidate); }},
    };
    fields.insert(fields.end(), names.begin(), names.end());
    return fields;
  }();
  return kFields;
}

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
  for (const WorkCell& cell : group.baseline.cells) {
    out[{Pairing::kByName, Role::kNone, cell.name}].baseline.add(cell.sum);
  }
  for (const WorkCell& cell : group.candidate.cells) {
    out[{Pairing::kByName, Role::kNone, cell.name}].candidate.add(cell.sum);
  }
  pair_kernels(group, out);
  std::erase_if(out, [](const auto& entry) { return entry.second.baseline.n == 0 && entry.second.candidate.n == 0; });
  return out;
}

}  // namespace

std::vector<Column> roles_columns() { return columns_of(role_fields()); }

Report roles_section(const SectionInput& in) {
  Report out{roles_columns(), {}};
  for (const GroupComparison& group : in.comparison.groups) {
    const std::map<Role, RoleSums> sums = sums_by_role(group);
    if (sums.size() == 1 && sums.begin()->first == Role::kNone) continue;
    std::vector<RoleLine> lines;
    for (const auto& [role, own] : sums) lines.push_back({{in, group, own}, role, own});
    add_by_change(lines, role_fields(), out.rows);
  }
  return out;
}

std::vector<Column> kernels_columns() { return columns_of(kernel_fields()); }

Report kernels_section(const SectionInput& in) {
  Report out{kernels_columns(), {}};
  for (const GroupComparison& group : in.comparison.groups) {
    const SumsByKernel sums = sums_by_kernel(group);
    std::vector<KernelLine> lines;
    for (const auto& [key, own] : sums) lines.push_back({{in, group, own}, key, own});
    add_by_change(lines, kernel_fields(), out.rows);
  }
  return out;
}

}  // namespace tracedb
