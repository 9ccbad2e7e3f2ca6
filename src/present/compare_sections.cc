#include "present/compare_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "present/compare_cells.h"
#include "present/compare_summary.h"

namespace tracedb {
namespace {

Report ledger(const SectionInput& in) {
  Report out{{{"phase", "Phase", Unit::kText, OthersAggregate::kLabel},
              {"layer", "Layer", Unit::kText},
              {"item", "Item", Unit::kText},
              {"kernel", "Kernel", Unit::kText},
              {"baseline_n", "n", Unit::kAny, OthersAggregate::kSum},
              {"candidate_n", "n'", Unit::kAny, OthersAggregate::kSum},
              {"baseline", "Baseline", Unit::kTime, OthersAggregate::kSum, Fit::kKept},
              {"candidate", "Candidate", Unit::kTime, OthersAggregate::kSum, Fit::kKept},
              {"change", "Change", Unit::kTime, OthersAggregate::kSum, Fit::kKept},
              {"count_effect", "by Count", Unit::kTime, OthersAggregate::kSum},
              {"duration_effect", "by Time", Unit::kTime, OthersAggregate::kSum},
              {"share_pct", "Share (%)", Unit::kPercent, OthersAggregate::kSum}},
             {}};
  std::unordered_map<std::string_view, std::string_view> short_name;
  if (in.human_readable && in.ledger_by == LedgerBy::kKernel) short_name = short_names(in.kernel_names);
  const LayerStacks& stacks = in.baseline.layers.stacks;
  for (const GroupComparison& group : in.comparison.groups) {
    LedgerAccount account = ledger_of(group, in.kernel_names, in.ledger_by);
    const LedgerChange whole_change = account.totals.back().change;
    const std::size_t items = account.items.size();
    account.items.insert(account.items.end(), account.totals.begin(), account.totals.end());
    for (std::size_t i = 0; i < account.items.size(); ++i) {
      const LedgerItem& item = account.items[i];
      std::vector<Row>& rows = i < items ? out.rows : out.footer;
      const LedgerChange& c = item.change;
      const bool layered = in.ledger_by != LedgerBy::kOp && !item.of_step;
      const bool counted = item.baseline_n > 0 || item.candidate_n > 0;
      rows.push_back({group.group.label, layered ? Cell(layer_label(item.layer, stacks)) : Cell{}, item.op,
                      item.kernel.empty()
                          ? Cell{}
                          : Cell(in.human_readable ? std::string(short_name.at(item.kernel)) : item.kernel),
                      counted ? count_cell(item.baseline_n, group.baseline_units, in.human_readable) : Cell{},
                      counted ? count_cell(item.candidate_n, group.candidate_units, in.human_readable) : Cell{},
                      c.baseline, c.candidate, c.change, c.count_effect, c.duration_effect,
                      share_of(static_cast<double>(c.change), static_cast<double>(whole_change.change))});
    }
  }
  drop_empty_columns(out, {"layer", "item", "kernel"});
  return out;
}

std::vector<Column> change_columns(std::vector<Column> first) {
  const Column more[] = {{"baseline_n", "n", Unit::kAny, OthersAggregate::kSum},
                         {"candidate_n", "n'", Unit::kAny, OthersAggregate::kSum},
                         {"baseline", "Baseline", Unit::kTime, OthersAggregate::kSum, Fit::kKept},
                         {"candidate", "Candidate", Unit::kTime, OthersAggregate::kSum, Fit::kKept},
                         {"change", "Change", Unit::kTime, OthersAggregate::kSum, Fit::kKept},
                         {"ratio", "Ratio (<1 better)", Unit::kRatio},
                         {"low", "95 % from", Unit::kTime},
                         {"high", "to", Unit::kTime},
                         {"verdict", "Verdict", Unit::kText}};
  first.insert(first.end(), std::begin(more), std::end(more));
  return first;
}

// What operations and layers have in common: sums per unit, the interval of the medians.
template <class Item>
void append_change(Row& row, const GroupComparison& group, const Item& item, const SectionInput& in) {
  const bool human_readable = in.human_readable;
  const bool per_step = in.comparison.normalise == Normalise::kStep;  // which is what intervals are of
  const auto na = static_cast<double>(group.baseline_units);
  const auto nb = static_cast<double>(group.candidate_units);
  const double a = static_cast<double>(item.baseline.time) / na;
  const double b = static_cast<double>(item.candidate.time) / nb;
  for (Cell cell :
       {count_cell(static_cast<double>(item.baseline.n), group.baseline_units, human_readable),
        count_cell(static_cast<double>(item.candidate.n), group.candidate_units, human_readable), Cell(a), Cell(b),
        Cell(b - a), a > 0 && b > 0 ? Cell(b / a) : Cell{}, per_step ? Cell(item.change.interval.low) : Cell{},
        per_step ? Cell(item.change.interval.high) : Cell{}}) {
    row.push_back(std::move(cell));
  }
  std::string verdict = std::string(to_string(item.change.verdict));
  if (item.baseline.n == 0) verdict = "new";
  if (item.candidate.n == 0) verdict = "gone";
  row.emplace_back(human_readable ? marked(verdict, b - a) : verdict);
}

Report operations(const SectionInput& in) {
  Report out{
      change_columns({{"phase", "Phase", Unit::kText, OthersAggregate::kLabel}, {"op", "Operation", Unit::kText}}), {}};
  for (const GroupComparison& group : in.comparison.groups) {
    for (const OpChange& op : group.ops) {
      Row row{group.group.label, in.kernel_names.op_name(op.op)};
      append_change(row, group, op, in);
      out.rows.push_back(std::move(row));
    }
  }
  return out;
}

Report layers(const SectionInput& in) {
  Report out{
      change_columns({{"phase", "Phase", Unit::kText, OthersAggregate::kLabel}, {"layer", "Layer", Unit::kText}}), {}};
  for (const GroupComparison& group : in.comparison.groups) {
    const bool none = std::all_of(group.layers.begin(), group.layers.end(),
                                  [](const LayerChange& layer) { return layer.layer == kNoLayer; });
    if (none) continue;
    for (const LayerChange& layer : group.layers) {
      Row row{group.group.label, layer_label(layer.layer, in.baseline.layers.stacks)};
      append_change(row, group, layer, in);
      out.rows.push_back(std::move(row));
    }
  }
  return out;
}

Report kernels(const SectionInput& in) {
  Report out{{{"phase", "Phase", Unit::kText, OthersAggregate::kLabel},
              {"baseline", "Baseline", Unit::kTime, OthersAggregate::kSum, Fit::kKept},
              {"candidate", "Candidate", Unit::kTime, OthersAggregate::kSum, Fit::kKept},
              {"change", "Change", Unit::kTime, OthersAggregate::kSum, Fit::kKept},
              {"baseline_n", "n", Unit::kAny, OthersAggregate::kSum},
              {"candidate_n", "n'", Unit::kAny, OthersAggregate::kSum},
              {"ratio", "Ratio (<1 better)", Unit::kRatio},
              {"status", "Status", Unit::kText},
              {"op", "Operation", Unit::kText},
              {"name", "Name", Unit::kText}},
             {}};
  for (const GroupComparison& group : in.comparison.groups) {
    for (const NamedSums& sums : sums_by_name(group, in.kernel_names)) {
      const double a = static_cast<double>(sums.baseline.time) / static_cast<double>(group.baseline_units);
      const double b = static_cast<double>(sums.candidate.time) / static_cast<double>(group.candidate_units);
      const std::string status = sums.baseline.n == 0 ? "new" : sums.candidate.n == 0 ? "gone" : "both";
      out.rows.push_back({group.group.label, a, b, b - a,
                          count_cell(static_cast<double>(sums.baseline.n), group.baseline_units, in.human_readable),
                          count_cell(static_cast<double>(sums.candidate.n), group.candidate_units, in.human_readable),
                          a > 0 && b > 0 ? Cell(b / a) : Cell{}, in.human_readable ? marked(status, b - a) : status,
                          in.kernel_names.op_name(in.kernel_names.op_of(sums.name)),
                          in.kernel_names.entries()[sums.name].name});
    }
  }
  return out;
}

Report alignment(const SectionInput& in) {
  Report out{{{"phase", "Phase", Unit::kText, OthersAggregate::kLabel},
              {"layers", "Layers", Unit::kText},
              {"place", "#", Unit::kCount},
              {"change", "Change", Unit::kTime, OthersAggregate::kSum, Fit::kKept},
              {"baseline", "Baseline", Unit::kTime, OthersAggregate::kSum, Fit::kKept},
              {"candidate", "Candidate", Unit::kTime, OthersAggregate::kSum, Fit::kKept},
              {"status", "Status", Unit::kText},
              {"baseline_n", "n", Unit::kAny, OthersAggregate::kSum},
              {"candidate_n", "n'", Unit::kAny, OthersAggregate::kSum},
              {"support_pct", "Support (%)", Unit::kPercent},
              {"op", "Operation", Unit::kText},
              {"candidate_op", "Operation'", Unit::kText},
              {"baseline_kernel", "Baseline Kernel", Unit::kText},
              {"candidate_kernel", "Candidate Kernel", Unit::kText}},
             {}};
  for (const GroupComparison& group : in.comparison.groups) {
    for (const AlignedSegment& segment : group.alignment.segments) {
      std::int64_t place = 0;
      for (const KernelPair& pair : segment.pairs) {
        out.rows.push_back(pair_row(in, group, segment, pair, place++));
      }
    }
  }
  return out;
}

Report fusion(const SectionInput& in) {
  Report out{{{"phase", "Phase", Unit::kText, OthersAggregate::kLabel},
              {"fused_by", "Fused by", Unit::kText},
              {"layers", "Layers", Unit::kText},
              {"saving", "Saving", Unit::kTime, OthersAggregate::kSum},
              {"fused_n", "n fused", Unit::kAny, OthersAggregate::kSum},
              {"parts_n", "n parts", Unit::kAny, OthersAggregate::kSum},
              {"fused_time", "Fused", Unit::kTime, OthersAggregate::kSum},
              {"parts_time", "Parts", Unit::kTime, OthersAggregate::kSum},
              {"layer_saving", "Layers Save", Unit::kTime},
              {"support_pct", "Support (%)", Unit::kPercent},
              {"confidence_pct", "Confidence (%)", Unit::kPercent},
              {"kind", "Kind", Unit::kText},
              {"fused_op", "Operation", Unit::kText},
              {"fused_kernel", "Fused Kernel", Unit::kText},
              {"part_kernels", "Instead of", Unit::kText},
              {"fused_example", "Kernel Id", Unit::kAny},
              {"part_examples", "Part Ids", Unit::kText}},
             {}};
  for (const GroupComparison& group : in.comparison.groups) {
    for (const Fusion& fusion : group.fusions) out.rows.push_back(fusion_row(in, group, fusion));
  }
  return out;
}

Report same(const SectionInput& in) {
  Report out{{{"baseline_n", "n", Unit::kCount, OthersAggregate::kSum},
              {"candidate_n", "n'", Unit::kCount, OthersAggregate::kSum},
              {"baseline_avg", "Baseline Avg", Unit::kTime},
              {"candidate_avg", "Candidate Avg", Unit::kTime},
              {"ratio", "Ratio (<1 better)", Unit::kRatio},
              {"baseline_time", "Baseline Time", Unit::kTime, OthersAggregate::kSum},
              {"candidate_time", "Candidate Time", Unit::kTime, OthersAggregate::kSum},
              {"launch", "Grid, Block", Unit::kText},
              {"op", "Operation", Unit::kText},
              {"name", "Name", Unit::kText, OthersAggregate::kLabel}},
             {}};
  for (const SameKernel& kernel : in.comparison.same.kernels) {
    const SameTimes& times = kernel.times;
    const auto avg = [](std::int64_t time, std::int64_t n) {
      return static_cast<double>(time) / static_cast<double>(n);
    };
    out.rows.push_back({times.baseline_n, times.candidate_n, avg(times.baseline_time, times.baseline_n),
                        avg(times.candidate_time, times.candidate_n), times.ratio() > 0 ? Cell(times.ratio()) : Cell{},
                        times.baseline_time, times.candidate_time, in.configs.text(kernel.config),
                        in.kernel_names.op_name(in.kernel_names.op_of(kernel.name)),
                        in.kernel_names.entries()[kernel.name].name});
  }
  return out;
}

Report steps(const SectionInput& in) {
  Report out{change_row_columns(), {}};
  for (const GroupComparison& group : in.comparison.groups) {
    for (std::size_t m = 0; m < kStepMetrics; ++m) {
      const Change& change = group.metrics[m];
      if (change.baseline_steps == 0 || change.candidate_steps == 0) continue;
      out.rows.push_back(
          change_row(group.group.label, std::string(to_string(static_cast<StepMetric>(m))), change, in.human_readable));
    }
    for (const TransitionChange& transition : group.transitions) {
      out.rows.push_back(
          change_row(group.group.label, period_measure(transition.to), transition.change, in.human_readable));
    }
  }
  return out;
}

Report warnings(const SectionInput& in) {
  Report out{{{"severity", "Severity", Unit::kText},
              {"code", "Code", Unit::kText},
              {"side", "Side", Unit::kText},
              {"text", "Text", Unit::kText, OthersAggregate::kLabel, Fit::kWrapped}},
             {}};
  for (const CompareWarning& warning : in.comparison.warnings) {
    out.rows.push_back({warning.severity, warning.code, warning.side, warning.text});
  }
  return out;
}

}  // namespace

std::span<const Section> compare_sections() {
  static constexpr std::array<Section, 10> kSections = {{
      {"summary", "devices, matched steps, coverage, verdict", summary_section},
      {"warnings", "differences between the traces that limit conclusions", warnings},
      {"ledger", "the change of the step's period or span, as rows that add up; --by chooses the rows", ledger, true},
      {"fusion", "work that one trace does in one kernel and the other in several", fusion},
      {"operations", "time and count per step by class of kernel", operations, true},
      {"layers", "the same by layer", layers, true},
      {"kernels", "the same by kernel name", kernels, true},
      {"steps", "distributions over steps, with 95 % intervals", steps, true},
      {"alignment", "pairs of kernels that do the same work in both traces", alignment, false, false},
      {"same-kernels", "kernels with the same name and launch configuration", same, true, false},
  }};
  return kSections;
}

}  // namespace tracedb
