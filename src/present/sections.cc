#include "present/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/text/amounts.h"
#include "compare/table_changes.h"
#include "present/cells.h"
#include "present/gate.h"
#include "present/words.h"
#include "report/cell_text.h"

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

// ---- the section summary, which a reader sees first

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string time_text(const MeanDraws& of, std::size_t steps) {
  return steps > 0 ? fact_text(of.mean, Unit::kTime, TimeUnit::kAuto) : "unknown";
}

struct SummaryLine {
  std::string item, baseline, candidate;
  std::string verdict = {};
  Cell change = {}, low = {}, high = {};  // percent_text of the baseline
};

const Fields<SummaryLine> kSummaryFields = DeclaredFields<SummaryLine>{"compare_summary",
                                                                       {
                                                                           {"item", &SummaryLine::item},
                                                                           {"baseline", &SummaryLine::baseline},
                                                                           {"candidate", &SummaryLine::candidate},
                                                                           {"verdict", &SummaryLine::verdict},
                                                                           {"change_pct", &SummaryLine::change},
                                                                           {"low_pct", &SummaryLine::low},
                                                                           {"high_pct", &SummaryLine::high},
                                                                       }};

// For people: the change as a text before the verdict, which no narrow terminal leaves out as it does figures.
const Fields<SummaryLine> kReadableFields = [] {
  Fields<SummaryLine> fields = kSummaryFields;
  fields[4] = {text_column("change_pct", "Change", ""), [](const SummaryLine& line) {
                 const auto* percent_text = std::get_if<double>(&line.change);
                 return percent_text != nullptr ? fmt::format("{:+.1f} %", *percent_text) : std::string();
               }};
  std::swap(fields[3], fields[4]);
  fields[5].column.head = "95 % from (%)";
  fields[6].column.head = "to (%)";
  return fields;
}();

// Times are means over the regular steps of the device time of a step: "period" from its start to that of the next one,
// where steps of a kind follow each other, "period to KIND" where one of another kind comes next, "span" from its first
// kernel to the end of its last. Shares are of the kernel time: "aligned" has a partner in the other trace or is
// explained by a fusion, "compared" is in steps that both traces have, "same kernels" have name and launch
// configuration in common. "overall" is all kinds of steps, each as often as in the mean of both traces, by period
// where both have one, "overall: span" by span.
class Summary {
 public:
  explicit Summary(const SectionInput& in) : in_(in) {}

  Report take() {
    const Comparison& c = in_.comparison;
    add("trace", in_.baseline.description.label, in_.candidate.description.label);
    add("devices", in_.baseline.description.devices, in_.candidate.description.devices);
    for (const GroupComparison& group : c.groups) headline(group);
    for (const GroupComparison& group : c.groups) basis(group);
    add("compared", percent_text(c.baseline_share), percent_text(c.candidate_share));
    add("same kernels", percent_text(c.same.baseline_share), percent_text(c.same.candidate_share));
    add("figures", figures_of(in_.baseline), figures_of(in_.candidate));
    add_change("overall", c.overall);
    const bool by_period =
        std::ranges::any_of(c.groups, [](const GroupComparison& g) { return g.by_period() || g.by_transition(); });
    if (by_period) add_change("overall: span", c.overall_span);
    const Fields<SummaryLine>& fields = in_.human_readable ? kReadableFields : kSummaryFields;
    Report out{columns_of(fields), {}, {}, true};
    for (const SummaryLine& line : lines_) out.rows.push_back(row_of(fields, line));
    if (in_.human_readable) drop_empty_columns(out, {"low_pct", "high_pct"});
    return out;
  }

 private:
  SummaryLine& add(std::string item, std::string baseline, std::string candidate) {
    lines_.push_back({std::move(item), std::move(baseline), std::move(candidate)});
    return lines_.back();
  }

  // What a figure is of: a trace without steps is one whole.
  [[nodiscard]] std::string figures_of(const ComparedTrace& trace) const {
    const bool whole = in_.comparison.normalise == Normalise::kStep && trace.steps.steps.empty();
    if (whole) return "of the whole trace";
    const Normalise normalise = in_.comparison.normalise;
    return fmt::format("{}per {}", normalise == Normalise::kNone ? "" : "means ", to_string(normalise));
  }

  void add_change(std::string item, const Change& change) {
    SummaryLine& line = add(std::move(item), time_text(change.baseline, change.baseline_steps),
                            time_text(change.candidate, change.candidate_steps));
    line.verdict = verdict_text(change, in_.human_readable);
    if (change.baseline_steps == 0 || change.candidate_steps == 0) return;
    line.change = share_cell(change.difference(), change.baseline.mean);
    const bool few = std::min(change.baseline_steps, change.candidate_steps) < VerdictRule{}.least_steps;
    if (few && in_.human_readable) return;  // no interval to go by
    line.low = share_cell(change.interval.low, change.baseline.mean);
    line.high = share_cell(change.interval.high, change.baseline.mean);
  }

  void headline(const GroupComparison& group) {
    const std::string& label = group.group.label;
    if (!group.group.whole_trace) {
      add(label + ": steps", std::to_string(group.baseline.steps), std::to_string(group.candidate.steps));
    }
    const std::string left_a = left_out_words(in_.baseline, group.group.baseline).text;
    const std::string left_b = left_out_words(in_.candidate, group.group.candidate).text;
    if (!left_a.empty() || !left_b.empty()) {
      add(label + ": left out", left_a.empty() ? "nothing" : left_a, left_b.empty() ? "nothing" : left_b);
    }
    if (group.group.baseline.by_period || group.group.candidate.by_period) {
      add_change(label + ": period", group.metric(StepMetric::kPeriod));
    }
    for (const TransitionChange& transition : group.transitions) {
      add_change(fmt::format("{}: {}", label, period_measure(transition.to)), transition.change);
    }
    add_change(label + (group.group.whole_trace ? ": time" : ": span"), group.metric(StepMetric::kSpan));
    tokens(group);
    recorded_calls(group);
  }

  void tokens(const GroupComparison& group) {
    const std::optional<double> a = group.baseline.periods.tokens_per_s();
    const std::optional<double> b = group.candidate.periods.tokens_per_s();
    if (!a && !b) return;
    const auto text = [](const std::optional<double>& rate) {
      return rate ? fmt::format("{:.{}f}", *rate, *rate < 100 ? 2 : 0) : "unknown";
    };
    SummaryLine& line = add(group.group.label + ": tokens/s", text(a), text(b));
    if (a && b) line.change = share_cell(*b - *a, *a);
  }

  // In gaps in which the device waits for a host that is slowed by recording them.
  void recorded_calls(const GroupComparison& group) {
    if (!group.baseline.waits.bound() && !group.candidate.waits.bound()) return;
    const auto text = [](const HostWaits& waits) {
      return waits.bound() ? fmt::format("{} in {}", waits.calls, counted(waits.gaps, "gap")) : "not bound by the host";
    };
    add(group.group.label + ": recorded calls", text(group.baseline.waits), text(group.candidate.waits));
  }

  // The tallies of few steps, in the row of the layers or of the alignment, or in a row of their own.
  void tell(const GroupComparison& group, std::string_view what) {
    for (const Tally& tally : group.tallies) {
      if (tally.what != what) continue;
      const std::string item = fmt::format("{}: {}", group.group.label, what == "aligned kernels" ? "aligned" : what);
      if (lines_.back().item != item) add(item, "", "");
      lines_.back().verdict = tally_sentence(tally).text;
      lines_.back().change = 100 * tally.median;
    }
  }

  void basis(const GroupComparison& group) {
    const std::string& label = group.group.label;
    if (group.alignment.by_layer) {
      add(label + ": layers", std::to_string(group.alignment.layers), std::to_string(group.alignment.layers));
    }
    tell(group, "layers");
    tell(group, "operations");
    const bool known = !group.alignment.too_long;
    add(label + ": aligned", known ? percent_text(group.alignment.baseline_share) : "unknown",
        known ? percent_text(group.alignment.candidate_share) : "unknown");
    tell(group, "aligned kernels");
  }

  const SectionInput& in_;
  std::vector<SummaryLine> lines_;
};

// ---- operators, roofline and memory

struct OperatorChangeLine {
  const SectionInput& in;
  const OperatorChange& change;
  double baseline_units, candidate_units;

  [[nodiscard]] Cell calls(const OperatorSums& of, double units) const {
    return count_cell(static_cast<double>(of.calls), std::llround(units), in.human_readable);
  }
  [[nodiscard]] static Cell time(std::int64_t sum, double units) { return time_cell(static_cast<double>(sum) / units); }
};

const Fields<OperatorChangeLine> kOperatorChangeFields = DeclaredFields<OperatorChangeLine>{
    "compare_operators",
    {
        {"status", [](const auto& line) { return std::string(to_string(line.change.status)); }},
        {"baseline_calls", [](const auto& line) { return line.calls(line.change.baseline, line.baseline_units); }},
        {"candidate_calls", [](const auto& line) { return line.calls(line.change.candidate, line.candidate_units); }},
        {"baseline_device",
         [](const auto& line) { return line.time(line.change.baseline.device, line.baseline_units); }},
        {"candidate_device",
         [](const auto& line) { return line.time(line.change.candidate.device, line.candidate_units); }},
        {"device_change", [](const auto& line) { return time_cell(line.change.device_change); }},
        {"baseline_host", [](const auto& line) { return line.time(line.change.baseline.host, line.baseline_units); }},
        {"candidate_host",
         [](const auto& line) { return line.time(line.change.candidate.host, line.candidate_units); }},
        {"host_change", [](const auto& line) { return time_cell(line.change.host_change); }},
        {"under", [](const auto& line) { return text_cell(line.change.under); }},
        {"operator", [](const auto& line) { return line.change.name; }},
    }};

const Fields<MemoryChange> kMemoryFields = DeclaredFields<MemoryChange>{
    "compare_memory",
    {
        {"device", &MemoryChange::device},
        {"baseline", &MemoryChange::baseline},
        {"candidate", &MemoryChange::candidate},
        {"change", [](const auto& line) { return line.candidate - line.baseline; }},
        {"what",
         [](const auto& line) { return line.operator_name.empty() ? std::string("[peak]") : line.operator_name; }},
    }};

Cell roof_share(const ShapeChange::Side& side) { return side.share() ? Cell(100 * *side.share()) : Cell{}; }

const Fields<ShapeChange> kShapeFields = DeclaredFields<ShapeChange>{
    "compare_roofline",
    {
        {"baseline_calls", [](const auto& line) { return line.baseline.calls; }},
        {"candidate_calls", [](const auto& line) { return line.candidate.calls; }},
        {"baseline", [](const auto& line) { return time_cell(line.baseline.busy); }},
        {"candidate", [](const auto& line) { return time_cell(line.candidate.busy); }},
        {"change", [](const auto& line) { return time_cell(line.change()); }},
        {"hardware", [](const auto& line) { return line.hardware() ? time_cell(*line.hardware()) : Cell{}; }},
        {"efficiency",
         [](const auto& line) { return line.hardware() ? time_cell(line.change() - *line.hardware()) : Cell{}; }},
        {"baseline_roof_pct", [](const auto& line) { return roof_share(line.baseline); }},
        {"candidate_roof_pct", [](const auto& line) { return roof_share(line.candidate); }},
        {"shape", &ShapeChange::shape},
        {"types", &ShapeChange::types},
        {"operator", &ShapeChange::operator_name},
    }};

void shape_lines(const SectionInput& in, const AddLine<ShapeChange>& add) {
  if (in.shapes != nullptr) std::ranges::for_each(*in.shapes, add);
}

void operator_lines(const SectionInput& in, const AddLine<OperatorChangeLine>& add) {
  const StepSet &before = in.baseline.steps, &after = in.candidate.steps;
  const bool by_step = !before.steps.empty() && !after.steps.empty();
  const ComparedOperators baseline{in.baseline_index, by_step ? &before : nullptr};
  const ComparedOperators candidate{in.candidate_index, by_step ? &after : nullptr};
  for (const OperatorChange& change : operator_changes(baseline, candidate))
    add({in, change, baseline.units(), candidate.units()});
}

void memory_lines(const SectionInput& in, const AddLine<MemoryChange>& add) {
  if (in.memory != nullptr) std::ranges::for_each(*in.memory, add);
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
      {"summary",
       "devices, matched steps, coverage, verdict",
       {[] { return columns_of(kSummaryFields); }, [](const SectionInput& input) { return Summary(input).take(); }}},
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
      {"operators", "framework operators that are new, gone, called more often, or slower",
       kTableOfLines<SectionInput, kOperatorChangeFields, operator_lines>},
      {"roofline", "operators of the same shapes, and how near both traces come to the peaks of their devices",
       kTableOfLines<SectionInput, kShapeFields, shape_lines>},
      {"memory", "peaks of allocated memory, and which operators allocated it",
       kTableOfLines<SectionInput, kMemoryFields, memory_lines>},
      {"steps", "distributions over steps, with 95 % intervals",
       kTableOfLines<SectionInput, kMeasuredChangeFields, step_lines>, kJoined},
      {"alignment", "pairs of kernels that do the same work in both traces", kAlignmentTable},
      {"same-kernels", "kernels with the same name and launch configuration",
       kTableOfLines<SectionInput, kSameFields, same_lines>, kJoined},
  }};
  return kSections;
}

}  // namespace tracedb
