#include "present/sections.h"

#include <algorithm>
#include <array>
#include <utility>

#include "present/gate.h"

namespace tracedb {
namespace {

struct LedgerLine {
  const SectionInput& in;
  const GroupComparison& group;
  const LedgerItem& item;
  const LedgerChange& whole;            // the change of which shares are
  const std::string* kernel = nullptr;  // null: rows are not of kernels

  [[nodiscard]] Cell count(double n) const {
    return item.baseline_n > 0 || item.candidate_n > 0 ? count_cell(n, 1, in.human_readable) : Cell{};
  }
};

const Fields<LedgerLine> kLedgerFields = {
    phase_field<LedgerLine>(),
    {text_column("layer", "Layer", "layer; unknown for rows of the whole step"),
     [](const auto& line) {
       const bool layered = is_by_layer(line.in.ledger_by) && !line.item.of_step;
       return layered ? Cell(layer_label(line.item.layer, line.in.baseline.layers.stacks)) : Cell{};
     }},
    {text_column("item", "Item",
                 "operation class or role, a fusion, a row of the whole step such as [idle], or a total"),
     [](const auto& line) { return line.item.op; }},
    {text_column("kernel", "Kernel", "kernel name, with --by kernel", Fit::kNames),
     [](const auto& line) { return line.kernel != nullptr ? Cell(*line.kernel) : Cell{}; }},
    {sum_column("baseline_n", "n", Unit::kAny, "kernels per unit (step, token) of the baseline"),
     [](const auto& line) { return line.count(line.item.baseline_n); }},
    {sum_column("candidate_n", "n'", Unit::kAny, "kernels per unit of the candidate"),
     [](const auto& line) { return line.count(line.item.candidate_n); }},
    {sum_column("baseline", "Baseline", Unit::kTime, "time per unit of the baseline", Fit::kKept),
     [](const auto& line) { return line.item.change.baseline; }},
    {sum_column("candidate", "Candidate", Unit::kTime, "time per unit of the candidate", Fit::kKept),
     [](const auto& line) { return line.item.change.candidate; }},
    {sum_column("change", "Change", Unit::kTime, "candidate - baseline; the rows add up to the totals", Fit::kKept),
     [](const auto& line) { return line.item.change.change; }},
    {sum_column("count_effect", "by Count", Unit::kTime, "part of the change that is due to more or fewer kernels"),
     [](const auto& line) { return line.item.change.count_effect; }},
    {sum_column("duration_effect", "by Time", Unit::kTime, "part that is due to longer or shorter kernels"),
     [](const auto& line) { return line.item.change.duration_effect; }},
    {sum_column("share_pct", "Share (%)", Unit::kPercent, "change as a share of the change of the last total"),
     [](const auto& line) {
       return share_cell(static_cast<double>(line.item.change.change), static_cast<double>(line.whole.change));
     }},
};

Report ledger(const SectionInput& in) {
  Report out{columns_of(kLedgerFields), {}};
  for (const GroupComparison& group : in.comparison.groups) {
    const LedgerAccount account = ledger_of(group, in.kernel_names, in.ledger_by);
    const auto add = [&](const std::vector<LedgerItem>& items, std::vector<Row>& rows) {
      for (const LedgerItem& item : items) {
        const std::string* kernel = item.kernel.empty() ? nullptr : &item.kernel;
        rows.push_back(row_of(kLedgerFields, {in, group, item, account.totals.back().change, kernel}));
      }
    };
    add(account.items, out.rows);
    add(account.totals, out.footer);
  }
  drop_empty_columns(out, {"layer", "item", "kernel"});
  return out;
}

// An operation or a layer.
struct SumLine : SumsLine {
  std::string name;
  const Change& change_of_step;

  // Intervals are of steps, whatever the figures are per.
  [[nodiscard]] Cell end_of(double Interval::*end) const {
    return in.comparison.normalise == Normalise::kStep ? Cell(change_of_step.interval.*end) : Cell{};
  }
  [[nodiscard]] std::string status() const {
    std::string text(sums.baseline.n == 0 ? "new" : sums.candidate.n == 0 ? "gone" : to_string(change_of_step.verdict));
    return in.human_readable ? marked(std::move(text), change()) : text;
  }
};

Fields<SumLine> sum_fields(Text key, Text head, Text meaning) {
  using Line = SumLine;
  return joined_fields<Line>(
      {{phase_field<Line>(), {text_column(key, head, meaning), &Line::name}},
       counts_of_sums<Line>("events per unit (step, token) of the baseline"),
       times_of_sums<Line>("time per unit of the baseline"),
       {ratio_of_sums<Line>(),
        {figure_column("low", "95 % from", Unit::kTime, "lower end of the 95 % interval of the change of a step"),
         [](const Line& line) { return line.end_of(&Interval::low); }},
        {figure_column("high", "to", Unit::kTime, "upper end of that interval"),
         [](const Line& line) { return line.end_of(&Interval::high); }},
        {text_column("verdict", "Verdict", "better, worse, same, inconclusive, new or gone"), &Line::status}}});
}

const Fields<SumLine> kOperationFields = sum_fields("op", "Operation", "operation class");

const Fields<SumLine> kLayerFields = sum_fields("layer", "Layer", "layer, [head], [tail] ...");

void operation_lines(const SectionInput& in, const AddLine<SumLine>& add) {
  for (const GroupComparison& group : in.comparison.groups) {
    for (const OpChange& op : group.ops) {
      add({{in, group, {op.baseline, op.candidate}}, in.kernel_names.op_name(op.op), op.change});
    }
  }
}

void layer_lines(const SectionInput& in, const AddLine<SumLine>& add) {
  for (const GroupComparison& group : in.comparison.groups) {
    const bool none =
        std::ranges::all_of(group.layers, [](const LayerChange& layer) { return layer.layer == kNoLayer; });
    if (none) continue;
    for (const LayerChange& layer : group.layers) {
      add({{in, group, {layer.baseline, layer.candidate}},
           layer_label(layer.layer, in.baseline.layers.stacks),
           layer.change});
    }
  }
}

struct SameLine {
  const SectionInput& in;
  const SameKernel& kernel;
};

double mean_of(std::int64_t time, std::int64_t n) { return static_cast<double>(time) / static_cast<double>(n); }

const Fields<SameLine> kSameFields = {
    {sum_column("baseline_n", "n", Unit::kCount, "launches in the baseline"),
     [](const auto& line) { return line.kernel.times.baseline_n; }},
    {sum_column("candidate_n", "n'", Unit::kCount, "launches in the candidate"),
     [](const auto& line) { return line.kernel.times.candidate_n; }},
    {figure_column("baseline_avg", "Baseline Avg", Unit::kTime, "mean duration in the baseline"),
     [](const auto& line) { return mean_of(line.kernel.times.baseline_time, line.kernel.times.baseline_n); }},
    {figure_column("candidate_avg", "Candidate Avg", Unit::kTime, "mean duration in the candidate"),
     [](const auto& line) { return mean_of(line.kernel.times.candidate_time, line.kernel.times.candidate_n); }},
    {figure_column("ratio", "Ratio (<1 better)", Unit::kRatio, "of the means, candidate / baseline"),
     [](const auto& line) { return line.kernel.times.ratio() > 0 ? Cell(line.kernel.times.ratio()) : Cell{}; }},
    {sum_column("baseline_time", "Baseline Time", Unit::kTime, "sum of durations in the baseline"),
     [](const auto& line) { return line.kernel.times.baseline_time; }},
    {sum_column("candidate_time", "Candidate Time", Unit::kTime, "sum of durations in the candidate"),
     [](const auto& line) { return line.kernel.times.candidate_time; }},
    {text_column("launch", "Grid, Block", "launch configuration"),
     [](const auto& line) { return line.in.configs.text(line.kernel.config); }},
    {text_column("op", "Operation", "operation class"),
     [](const auto& line) { return line.in.kernel_names.op_name(line.in.kernel_names.op_of(line.kernel.name)); }},
    {label_column("name", "Name", "kernel name, normalised", Fit::kNames),
     [](const auto& line) { return line.in.kernel_names.entries()[line.kernel.name].name; }},
};

void same_lines(const SectionInput& in, const AddLine<SameLine>& add) {
  for (const SameKernel& kernel : in.comparison.same.kernels) add({in, kernel});
}

void step_lines(const SectionInput& in, const AddLine<MeasuredChange>& add) {
  for (const GroupComparison& group : in.comparison.groups) {
    for (std::size_t m = 0; m < kStepMetrics; ++m) {
      const Change& change = group.metrics[m];
      if (change.baseline_steps == 0 || change.candidate_steps == 0) continue;
      add({group.group.label, std::string(to_string(static_cast<StepMetric>(m))), change, in.human_readable});
    }
    for (const TransitionChange& transition : group.transitions) {
      add({group.group.label, period_measure(transition.to), transition.change, in.human_readable});
    }
  }
}

const Fields<CompareWarning> kWarningFields = {
    {text_column("severity", "Severity", "warning or info"), &CompareWarning::severity},
    {text_column("code", "Code", "what kind of difference"), &CompareWarning::code},
    {text_column("side", "Side", "baseline, candidate or both"), &CompareWarning::side},
    {label_column("text", "Text", "what differs, and what that means for the figures", Fit::kWrapped),
     &CompareWarning::text},
};

void warning_lines(const SectionInput& in, const AddLine<CompareWarning>& add) {
  std::ranges::for_each(in.comparison.warnings, add);
}

Report gate(const SectionInput& in) {
  return in.gate != nullptr ? gate_report(*in.gate, in.candidate.description.label) : Report{gate_columns(), {}};
}

}  // namespace

const std::string& kernel_text(NameId name, const SectionInput& input) {
  const KernelNameEntry& entry = input.kernel_names.entries()[name];
  return input.human_readable && !entry.short_name.empty() ? entry.short_name : entry.name;
}

std::span<const Section> compare_sections() {
  using enum Section::Candidates;
  static const std::array<Section, 18> kSections = {{
      {"verdict", "how long steps take in either trace, and whether that is a change", kVerdictTable, kStacked, true,
       true},
      {"reasons", "why: parts of the change in order of size, with evidence", kReasonTable, kStacked, true, true},
      {"gate", "the outcome of --gate", {gate_columns, gate}, kStacked, true, true},
      {"sentences", "what the page says in words, with the figures of each sentence by name; usual in JSON alone",
       kSentenceTable, kStacked, true, true},
      {"summary", "devices, matched steps, coverage, verdict", kSummaryTable},
      {"warnings", "differences between the traces that limit conclusions",
       kTableOfLines<SectionInput, kWarningFields, warning_lines>, kApart, true},
      {"ledger",
       "the change of the step's period or span, as rows that add up; --by chooses the rows",
       {[] { return columns_of(kLedgerFields); }, ledger},
       kJoined},
      {"fusion", "work that one trace does in one kernel and the other in several", kFusionTable, kApart, true},
      {"operations", "time and count per step by operation class",
       kTableOfLines<SectionInput, kOperationFields, operation_lines>, kJoined},
      {"layers", "the same by layer", kTableOfLines<SectionInput, kLayerFields, layer_lines>, kJoined},
      {"roles", "the same by role in the model: qkv_proj, gate_up ...; also printed with --by role", kRolesTable,
       kJoined},
      {"kernels", "the same by pairs of aligned kernels, and by name where none is aligned", kKernelsTable},
      {"operators", "framework operators that are new, gone, called more often, or slower", kOperatorsTable},
      {"roofline", "operators of the same shapes, and how near both traces come to the peaks of their devices",
       kRooflineTable},
      {"memory", "peaks of allocated memory, and which operators allocated it", kMemoryTable},
      {"steps", "distributions over steps, with 95 % intervals",
       kTableOfLines<SectionInput, kMeasuredChangeFields, step_lines>, kJoined},
      {"alignment", "pairs of kernels that do the same work in both traces", kAlignmentTable},
      {"same-kernels", "kernels with the same name and launch configuration",
       kTableOfLines<SectionInput, kSameFields, same_lines>, kJoined},
  }};
  return kSections;
}

}  // namespace tracedb
