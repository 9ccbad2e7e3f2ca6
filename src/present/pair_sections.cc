// The sections `alignment` and `fusion`: kernels of one trace and what corresponds to them in the other.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "present/cells.h"
#include "present/sections.h"

namespace tracedb {
namespace {

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
  [[nodiscard]] Cell role(const PairSide& side) const {
    return side.role == Role::kNone ? Cell{} : Cell(std::string(to_string(group.role_levels.of(side.role))));
  }
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

const Fields<PairLine>& pair_fields() {
  using Line = PairLine;
  static const Fields<Line> kFields = {
      phase_field<Line>(),
      {text_column("layers", "Layers", "layers with the same two sequences of kernels", Fit{8}),
       [](const Line& line) { return layers_label(line.segment.layers, line.in.baseline.layers.stacks); }},
      {figure_column("place", "#", Unit::kCount, "index of the pair in the alignment of these layers"),
       [](const Line& line) { return line.position; }},
      {sum_column("change", "Change", Unit::kTime, "candidate - baseline", Fit{8}),
       [](const Line& line) { return line.candidate() - line.baseline(); }},
      {sum_column("baseline", "Baseline", Unit::kTime, "time per unit (step, token) of the baseline", Fit{7}),
       [](const Line& line) { return line.baseline(); }},
      {sum_column("candidate", "Candidate", Unit::kTime, "time per unit of the candidate", Fit{7}),
       [](const Line& line) { return line.candidate(); }},
      {text_column("status", "Status",
                   "same kernel, other kernel, fused (unpaired, but explained by a fusion), companion of a pair, only "
                   "baseline or only candidate"),
       [](const Line& line) { return line.status(); }},
      {sum_column("baseline_n", "n", Unit::kAny, "kernels per unit of the baseline"),
       [](const Line& line) { return line.count(line.pair.baseline, line.group.baseline_units); }},
      {sum_column("candidate_n", "n'", Unit::kAny, "kernels per unit of the candidate"),
       [](const Line& line) { return line.count(line.pair.candidate, line.group.candidate_units); }},
      {figure_column("support_pct", "Support (%)", Unit::kPercent,
                     "share of the steps and layers that follow the usual sequence exactly"),
       [](const Line& line) { return line.support(); }},
      {text_column("baseline_role", "Role", "role in the model, in the baseline; unknown where none is"),
       [](const Line& line) { return line.role(line.pair.baseline); }},
      {text_column("candidate_role", "Role'", "role in the candidate"),
       [](const Line& line) { return line.role(line.pair.candidate); }},
      {text_column("op", "Operation", "operation class in the baseline"),
       [](const Line& line) { return line.op(line.pair.baseline); }},
      {text_column("candidate_op", "Operation'", "operation class in the candidate"),
       [](const Line& line) { return line.op(line.pair.candidate); }},
      {text_column("baseline_kernel", "Baseline Kernel", "kernel name in the baseline; unknown where unpaired",
                   Fit::kNames),
       [](const Line& line) { return line.kernel(line.pair.baseline); }},
      {text_column("candidate_kernel", "Candidate Kernel", "kernel name in the candidate; unknown where unpaired",
                   Fit::kNames),
       [](const Line& line) { return line.kernel(line.pair.candidate); }},
  };
  return kFields;
}

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
  [[nodiscard]] double parts_time() const {
    double time = 0;
    for (const FusionKernel& part : fusion.parts)
      time += static_cast<double>(part.time) / static_cast<double>(parts_units());
    return time;
  }
  [[nodiscard]] double parts_n() const {
    double n = 0;
    for (const FusionKernel& part : fusion.parts) n += static_cast<double>(part.n);
    return n;
  }
  // Of the layers in which the fusion was found, on the side that fuses against the other.
  [[nodiscard]] double layer_saving() const {
    double a = 0, b = 0;
    for (const LayerChange& layer : group.layers) {
      if (std::find(fusion.layers.begin(), fusion.layers.end(), layer.layer) == fusion.layers.end()) continue;
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

const Fields<FusionLine>& fusion_fields() {
  using Line = FusionLine;
  static const Fields<Line> kFields = {
      phase_field<Line>(),
      {text_column("fused_by", "Fused by", "the trace with one kernel: baseline or candidate"),
       [](const Line& line) { return std::string(line.by_baseline() ? "baseline" : "candidate"); }},
      {text_column("layers", "Layers", "where it was found"),
       [](const Line& line) { return layers_label(line.fusion.layers, line.in.baseline.layers.stacks); }},
      {sum_column("saving", "Saving", Unit::kTime, "time of the parts - time of the fused kernel, per unit", Fit{8}),
       [](const Line& line) { return line.parts_time() - line.fused_time(); }},
      {sum_column("fused_n", "n fused", Unit::kAny, "fused kernels per unit (step, token)"),
       [](const Line& line) {
         return count_cell(static_cast<double>(line.fusion.fused.n), line.fused_units(), line.in.human_readable);
       }},
      {sum_column("parts_n", "n parts", Unit::kAny, "kernels per unit that do the same work in the other trace"),
       [](const Line& line) { return count_cell(line.parts_n(), line.parts_units(), line.in.human_readable); }},
      {sum_column("fused_time", "Fused", Unit::kTime, "time per unit of the fused kernel"),
       [](const Line& line) { return line.fused_time(); }},
      {sum_column("parts_time", "Parts", Unit::kTime, "time per unit of the parts"),
       [](const Line& line) { return line.parts_time(); }},
      {figure_column("layer_saving", "Layers Save", Unit::kTime,
                     "by how much the layers of the finding take less time in the trace that fuses"),
       [](const Line& line) { return line.layer_saving(); }},
      {figure_column("support_pct", "Support (%)", Unit::kPercent,
                     "share of the steps and layers that follow the usual sequences exactly"),
       [](const Line& line) { return 100 * line.fusion.support; }},
      {figure_column("confidence_pct", "Confidence (%)", Unit::kPercent,
                     "support x share of the kernel time that is explained; half of it where implied", Fit{4}),
       [](const Line& line) { return 100 * line.fusion.confidence; }},
      {text_column("kind", "Kind", "whole; partial: some parts are fused already; implied: no name says so"),
       [](const Line& line) {
         return std::string(line.fusion.implied ? "implied" : line.fusion.partial ? "partial" : "whole");
       }},
      {text_column("fused_op", "Operation", "operation class of the fused kernel"),
       [](const Line& line) {
         return line.in.kernel_names.op_name(line.in.kernel_names.op_of(line.fusion.fused.name));
       }},
      {text_column("fused_kernel", "Fused Kernel", "its name", Fit::kNames),
       [](const Line& line) { return line.in.kernel_names.entries()[line.fusion.fused.name].name; }},
      {text_column("part_kernels", "Instead of", "names of the parts, in their order", Fit{6}),
       [](const Line& line) {
         return line.parts(" + ", [&](const FusionKernel& part) { return kernel_text(part.name, line.in); });
       }},
      {figure_column("fused_example", "Kernel Id", Unit::kAny, "id in kernel of one fused kernel"),
       [](const Line& line) { return static_cast<std::int64_t>(line.fusion.fused.example) + 1; }},
      {text_column("part_examples", "Part Ids", "ids of one kernel of each part, in the other trace's index"),
       [](const Line& line) {
         return line.parts(" ", [](const FusionKernel& part) { return std::to_string(part.example + 1); });
       }},
  };
  return kFields;
}

}  // namespace

std::vector<Column> alignment_columns() { return columns_of(pair_fields()); }

Report alignment_section(const SectionInput& in) {
  Report out{alignment_columns(), {}};
  for (const GroupComparison& group : in.comparison.groups) {
    for (const AlignedSegment& segment : group.alignment.segments) {
      std::int64_t position = 0;
      for (const KernelPair& pair : segment.pairs) {
        out.rows.push_back(row_of(pair_fields(), {in, group, segment, pair, position++}));
      }
    }
  }
  return out;
}

std::vector<Column> fusion_columns() { return columns_of(fusion_fields()); }

Report fusion_section(const SectionInput& in) {
  Report out{fusion_columns(), {}};
  for (const GroupComparison& group : in.comparison.groups) {
    for (const Fusion& fusion : group.fusions) out.rows.push_back(row_of(fusion_fields(), {in, group, fusion}));
  }
  return out;
}

}  // namespace tracedb
