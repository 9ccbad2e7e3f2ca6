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

const Fields<LedgerLine> kLedgerFields = DeclaredFields<LedgerLine>{
    "compare_ledger",
    {
        {"phase", [](const auto& line) { return line.group.group.label; }},
        {"layer",
         [](const auto& line) {
           const bool layered = is_by_layer(line.in.ledger_by) && !line.item.of_step;
           return layered ? Cell(layer_label(line.item.layer, line.in.baseline.layers.stacks)) : Cell{};
         }},
        {"item", [](const auto& line) { return line.item.op; }},
        {"kernel", [](const auto& line) { return line.kernel != nullptr ? Cell(*line.kernel) : Cell{}; }},
        {"baseline_n", [](const auto& line) { return line.count(line.item.baseline_n); }},
        {"candidate_n", [](const auto& line) { return line.count(line.item.candidate_n); }},
        {"baseline", [](const auto& line) { return line.item.change.baseline; }},
        {"candidate", [](const auto& line) { return line.item.change.candidate; }},
        {"change", [](const auto& line) { return line.item.change.change; }},
        {"count_effect", [](const auto& line) { return line.item.change.count_effect; }},
        {"duration_effect", [](const auto& line) { return line.item.change.duration_effect; }},
        {"share_pct",
         [](const auto& line) {
           return share_cell(static_cast<double>(line.item.change.change), static_cast<double>(line.whole.change));
         }},
    }};

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
    if (in.comparison.normalise != Normalise::kStep) return {};
    const bool known = sums.baseline.n == 0 || sums.candidate.n == 0;
    return known ? Cell(change_of_step.interval.*end)
                 : end_cell(change_of_step, change_of_step.interval.*end, in.human_readable);
  }
  [[nodiscard]] std::string status() const {
    std::string text(sums.baseline.n == 0 ? "new" : sums.candidate.n == 0 ? "gone" : to_string(change_of_step.verdict));
    return in.human_readable ? marked(std::move(text), change()) : text;
  }
};

Fields<SumLine> sum_fields(Text table, Text key) {
  return DeclaredFields<SumLine>{
      table, cells_of_sums<SumLine>({{key, &SumLine::name},
                                     {"low", [](const SumLine& line) { return line.end_of(&Interval::low); }},
                                     {"high", [](const SumLine& line) { return line.end_of(&Interval::high); }},
                                     {"verdict", &SumLine::status}})};
}

const Fields<SumLine> kOperationFields = sum_fields("compare_operations", "op");

const Fields<SumLine> kLayerFields = sum_fields("compare_layers", "layer");

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

const Fields<SameLine> kSameFields = DeclaredFields<SameLine>{
    "compare_same_kernels",
    {
        {"baseline_n", [](const auto& line) { return line.kernel.times.baseline_n; }},
        {"candidate_n", [](const auto& line) { return line.kernel.times.candidate_n; }},
        {"baseline_avg",
         [](const auto& line) { return mean_of(line.kernel.times.baseline_time, line.kernel.times.baseline_n); }},
        {"candidate_avg",
         [](const auto& line) { return mean_of(line.kernel.times.candidate_time, line.kernel.times.candidate_n); }},
        {"ratio",
         [](const auto& line) { return line.kernel.times.ratio() > 0 ? Cell(line.kernel.times.ratio()) : Cell{}; }},
        {"baseline_time", [](const auto& line) { return line.kernel.times.baseline_time; }},
        {"candidate_time", [](const auto& line) { return line.kernel.times.candidate_time; }},
        {"launch", [](const auto& line) { return line.in.configs.text(line.kernel.config); }},
        {"op",
         [](const auto& line) { return line.in.kernel_names.op_name(line.in.kernel_names.op_of(line.kernel.name)); }},
        {"name", [](const auto& line) { return line.in.kernel_names.entries()[line.kernel.name].name; }},
    }};

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

const Fields<CompareWarning> kWarningFields =
    DeclaredFields<CompareWarning>{"compare_warnings",
                                   {
                                       {"severity", &CompareWarning::severity},
                                       {"code", &CompareWarning::code},
                                       {"side", &CompareWarning::side},
                                       {"text", &CompareWarning::text},
                                   }};

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
