#include "present/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/text/amounts.h"
#include "present/gate.h"
#include "present/words.h"

namespace tracedb {
namespace {

void add_ledger(const SectionInput& in, Report& table) {
  for (const GroupComparison& group : in.comparison.groups) {
    const LedgerAccount account = ledger_of(group, in.kernel_names, in.ledger_by);
    const auto whole = static_cast<double>(account.totals.back().change.change);
    const auto add = [&](const LedgerItem& item, std::vector<Row>& rows) {
      const bool layered = is_by_layer(in.ledger_by) && !item.of_step;
      const auto count = [&](double n) {
        return item.baseline_n > 0 || item.candidate_n > 0 ? count_cell(n, 1, in.human_readable) : Cell{};
      };
      const LedgerChange& change = item.change;
      rows.push_back(
          row_of(table.columns, {{"phase", group.group.label},
                                 {"layer", layered ? Cell(layer_label(item.layer, in.baseline.layers.stacks)) : Cell{}},
                                 {"item", item.op},
                                 {"kernel", text_cell(item.kernel)},
                                 {"baseline_n", count(item.baseline_n)},
                                 {"candidate_n", count(item.candidate_n)},
                                 {"baseline", change.baseline},
                                 {"candidate", change.candidate},
                                 {"change", change.change},
                                 {"count_effect", change.count_effect},
                                 {"duration_effect", change.duration_effect},
                                 {"share_pct", share_cell(static_cast<double>(change.change), whole)}}));
    };
    for (const LedgerItem& item : account.items) add(item, table.rows);
    for (const LedgerItem& item : account.totals) add(item, table.footer);
  }
  drop_empty_columns(table, {"layer", "item", "kernel"});
}

// An operation or a layer.
void add_sums(const SumsLine& line, std::string_view key, const std::string& name, const Change& of_step,
              Report& table) {
  const bool is_new = line.sums.baseline.n == 0, is_gone = line.sums.candidate.n == 0;
  // Intervals are of steps, whatever the figures are per.
  const auto end = [&](double at) {
    if (line.in.comparison.normalise != Normalise::kStep) return Cell{};
    return is_new || is_gone ? Cell(at) : end_cell(of_step, at, line.in.human_readable);
  };
  std::string verdict(is_new ? "new" : is_gone ? "gone" : to_string(of_step.verdict));
  if (line.in.human_readable) verdict = marked(std::move(verdict), line.change());
  add_row(table, line.cells({{key, name},
                             {"low", end(of_step.interval.low)},
                             {"high", end(of_step.interval.high)},
                             {"verdict", std::move(verdict)}}));
}

void add_operations(const SectionInput& in, Report& table) {
  for (const GroupComparison& group : in.comparison.groups) {
    for (const OpChange& op : group.ops) {
      add_sums({in, group, {op.baseline, op.candidate}}, "op", in.kernel_names.op_name(op.op), op.change, table);
    }
  }
}

void add_layers(const SectionInput& in, Report& table) {
  for (const GroupComparison& group : in.comparison.groups) {
    const bool none =
        std::ranges::all_of(group.layers, [](const LayerChange& layer) { return layer.layer == kNoLayer; });
    if (none) continue;
    for (const LayerChange& layer : group.layers) {
      add_sums({in, group, {layer.baseline, layer.candidate}}, "layer",
               layer_label(layer.layer, in.baseline.layers.stacks), layer.change, table);
    }
  }
}

void add_same_kernels(const SectionInput& in, Report& table) {
  const auto mean = [](std::int64_t time, std::int64_t n) {
    return static_cast<double>(time) / static_cast<double>(n);
  };
  for (const auto& [name, config, times] : in.comparison.same.kernels) {
    add_row(table, {{"baseline_n", times.baseline_n},
                    {"candidate_n", times.candidate_n},
                    {"baseline_avg", mean(times.baseline_time, times.baseline_n)},
                    {"candidate_avg", mean(times.candidate_time, times.candidate_n)},
                    {"ratio", times.ratio() > 0 ? Cell(times.ratio()) : Cell{}},
                    {"baseline_time", times.baseline_time},
                    {"candidate_time", times.candidate_time},
                    {"launch", in.configs.text(config)},
                    {"op", in.kernel_names.op_name(in.kernel_names.op_of(name))},
                    {"name", in.kernel_names.entries()[name].name}});
  }
}

void add_steps(const SectionInput& in, Report& table) {
  for (const GroupComparison& group : in.comparison.groups) {
    for (std::size_t m = 0; m < kStepMetrics; ++m) {
      const Change& change = group.metrics[m];
      if (change.baseline_steps == 0 || change.candidate_steps == 0) continue;
      add_measure(group.group.label, std::string(to_string(static_cast<StepMetric>(m))), change, in.human_readable,
                  table);
    }
    for (const TransitionChange& transition : group.transitions) {
      add_measure(group.group.label, period_measure(transition.to), transition.change, in.human_readable, table);
    }
  }
}

void add_warnings(const SectionInput& in, Report& table) {
  for (const auto& [code, severity, side, text] : in.comparison.warnings) {
    add_row(table, {{"severity", severity}, {"code", code}, {"side", side}, {"text", text}});
  }
}

void add_gate(const SectionInput& in, Report& table) {
  if (in.gate != nullptr) table = gate_report(*in.gate, in.candidate.description.label);
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

// Times are means over the regular steps of the device time of a step: "period" from its start to that of the next one,
// where steps of a kind follow each other, "period to KIND" where one of another kind comes next, "span" from its first
// kernel to the end of its last. Shares are of the kernel time: "aligned" has a partner in the other trace or is
// explained by a fusion, "compared" is in steps that both traces have, "same kernels" have name and launch
// configuration in common. "overall" is all kinds of steps, each as often as in the mean of both traces, by period
// where both have one, "overall: span" by span.
class Summary {
 public:
  explicit Summary(const SectionInput& in) : in_(in) {}

  void run(Report& table) {
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
    table.whole = true;
    if (in_.human_readable) name_for_people(table.columns);
    for (const SummaryLine& line : lines_) {
      const auto* percent = std::get_if<double>(&line.change);
      const std::string change = percent != nullptr ? fmt::format("{:+.1f} %", *percent) : "";
      add_row(table, {{"item", line.item},
                      {"baseline", line.baseline},
                      {"candidate", line.candidate},
                      {"verdict", line.verdict},
                      {"change_pct", in_.human_readable ? change : line.change},
                      {"low_pct", line.low},
                      {"high_pct", line.high}});
    }
    if (in_.human_readable) drop_empty_columns(table, {"low_pct", "high_pct"});
  }

 private:
  // The change is a text before the verdict, which no narrow terminal leaves out as it does figures.
  static void name_for_people(std::vector<Column>& columns) {
    columns[4] = text_column("change_pct", "Change");
    std::swap(columns[3], columns[4]);
    columns[5].head = "95 % from (%)";
    columns[6].head = "to (%)";
  }

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
    const bool few = std::min(change.baseline_steps, change.candidate_steps) < kLeastSteps;
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

void add_operators(const SectionInput& in, Report& table) {
  const StepSet &before = in.baseline.steps, &after = in.candidate.steps;
  const bool by_step = !before.steps.empty() && !after.steps.empty();
  const ComparedOperators baseline{in.baseline_index, by_step ? &before : nullptr};
  const ComparedOperators candidate{in.candidate_index, by_step ? &after : nullptr};
  const double units_a = baseline.units(), units_b = candidate.units();
  const auto calls = [&](const OperatorSums& of, double units) {
    return count_cell(static_cast<double>(of.calls), std::llround(units), in.human_readable);
  };
  const auto time = [](std::int64_t sum, double units) { return time_cell(static_cast<double>(sum) / units); };
  for (const OperatorChange& change : operator_changes(baseline, candidate)) {
    add_row(table, {{"status", std::string(to_string(change.status))},
                    {"baseline_calls", calls(change.baseline, units_a)},
                    {"candidate_calls", calls(change.candidate, units_b)},
                    {"baseline_device", time(change.baseline.device, units_a)},
                    {"candidate_device", time(change.candidate.device, units_b)},
                    {"device_change", time_cell(change.device_change)},
                    {"baseline_host", time(change.baseline.host, units_a)},
                    {"candidate_host", time(change.candidate.host, units_b)},
                    {"host_change", time_cell(change.host_change)},
                    {"under", text_cell(change.under)},
                    {"operator", change.name}});
  }
}

void add_shapes(const SectionInput& in, Report& table) {
  if (in.shapes == nullptr) return;
  const auto roof = [](const ShapeChange::Side& side) { return side.share() ? Cell(100 * *side.share()) : Cell{}; };
  for (const ShapeChange& own : *in.shapes) {
    const std::optional<double> hardware = own.hardware();
    add_row(table, {{"baseline_calls", own.baseline.calls},
                    {"candidate_calls", own.candidate.calls},
                    {"baseline", time_cell(own.baseline.busy)},
                    {"candidate", time_cell(own.candidate.busy)},
                    {"change", time_cell(own.change())},
                    {"hardware", hardware ? time_cell(*hardware) : Cell{}},
                    {"efficiency", hardware ? time_cell(own.change() - *hardware) : Cell{}},
                    {"baseline_roof_pct", roof(own.baseline)},
                    {"candidate_roof_pct", roof(own.candidate)},
                    {"shape", own.shape},
                    {"types", own.types},
                    {"operator", own.operator_name}});
  }
}

void add_memory(const SectionInput& in, Report& table) {
  if (in.memory == nullptr) return;
  for (const MemoryChange& own : *in.memory) {
    add_row(table, {{"device", own.device},
                    {"baseline", own.baseline},
                    {"candidate", own.candidate},
                    {"change", own.candidate - own.baseline},
                    {"what", own.operator_name.empty() ? "[peak]" : own.operator_name}});
  }
}

}  // namespace

Cells SumsLine::cells(Cells more) const {
  const auto count = [&](const WorkSum& of, std::int64_t units) {
    return count_cell(static_cast<double>(of.n), units, in.human_readable);
  };
  more.merge(Cells{{"phase", group.group.label},
                   {"baseline", baseline()},
                   {"candidate", candidate()},
                   {"change", change()},
                   {"baseline_n", count(sums.baseline, group.baseline_units)},
                   {"candidate_n", count(sums.candidate, group.candidate_units)},
                   {"ratio", ratio_cell(baseline(), candidate())}});
  return more;
}

std::span<const Section> compare_sections() {
  using enum Section::Candidates;
  static constexpr Section kSections[] = {
      {"verdict", "how long steps take in either trace, and whether that is a change", "compare_verdict", add_verdicts,
       kStacked, true, true},
      {"reasons", "why: parts of the change in order of size, with evidence", "compare_reasons", add_reasons, kStacked,
       true, true},
      {"gate", "the outcome of --gate", "compare_gate", add_gate, kStacked, true, true},
      {"sentences", "what the page says in words, with the figures of each sentence by name; usual in JSON alone",
       "sentences", add_sentences, kStacked, true, true},
      {"summary", "devices, matched steps, coverage, verdict", "compare_summary",
       [](const SectionInput& in, Report& table) { Summary(in).run(table); }},
      {"warnings", "differences between the traces that limit conclusions", "compare_warnings", add_warnings, kApart,
       true},
      {"ledger", "the change of the step's period or span, as rows that add up; --by chooses the rows",
       "compare_ledger", add_ledger, kJoined},
      {"fusion", "work that one trace does in one kernel and the other in several", "compare_fusion", add_fusions,
       kApart, true},
      {"operations", "time and count per step by operation class", "compare_operations", add_operations, kJoined},
      {"layers", "the same by layer", "compare_layers", add_layers, kJoined},
      {"roles", "the same by role in the model: qkv_proj, gate_up ...; also printed with --by role", "compare_roles",
       add_roles, kJoined},
      {"kernels", "the same by pairs of aligned kernels, and by name where none is aligned", "compare_kernels",
       add_kernels},
      {"operators", "framework operators that are new, gone, called more often, or slower", "compare_operators",
       add_operators},
      {"roofline", "operators of the same shapes, and how near both traces come to the peaks of their devices",
       "compare_roofline", add_shapes},
      {"memory", "peaks of allocated memory, and which operators allocated it", "compare_memory", add_memory},
      {"steps", "distributions over steps, with 95 % intervals", "compare_steps", add_steps, kJoined},
      {"alignment", "pairs of kernels that do the same work in both traces", "compare_alignment", add_pairs},
      {"same-kernels", "kernels with the same name and launch configuration", "compare_same_kernels", add_same_kernels,
       kJoined}};
  return kSections;
}

}  // namespace tracedb
