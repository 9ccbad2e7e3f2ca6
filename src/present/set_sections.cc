#include "present/set_sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/amounts.h"

namespace tracedb {
namespace {

Cell low_of(const std::optional<Interval>& range) { return range ? Cell(range->low) : Cell{}; }
Cell high_of(const std::optional<Interval>& range) { return range ? Cell(range->high) : Cell{}; }
Cell end_of(const std::optional<Interval>& range, double Interval::*end) {
  return range ? time_cell((*range).*end) : Cell{};
}

// ---- sets

struct SetLine {
  std::size_t side = 0;
  const RunSource& run;
};
const Fields<SetLine> kSetFields = DeclaredFields<SetLine>{
    "sets_sets",
    {
        {"side", [](const SetLine& line) { return std::string(kSideNames[line.side]); }},
        {"name", [](const SetLine& line) { return line.run.name; }},
        {"traces", [](const SetLine& line) { return static_cast<std::int64_t>(line.run.traces.size()); }},
        {"date",
         [](const SetLine& line) { return line.run.date_ns > 0 ? Cell(moment_text(line.run.date_ns)) : Cell{}; }},
        {"gpu", [](const SetLine& line) { return text_cell(line.run.gpu); }},
        {"left_out", [](const SetLine& line) { return static_cast<std::int64_t>(line.run.left_out ? 1 : 0); }},
        {"trace",
         [](const SetLine& line) { return text_cell(line.run.traces.empty() ? "" : line.run.traces.front()); }},
    }};

void set_lines(const SetsAnswer& answer, const AddLine<SetLine>& add) {
  for (std::size_t side = 0; side < 2; ++side) {
    for (const RunSource& run : answer.runs[side]) add({side, run});
  }
}

// ---- verdict

struct SetVerdictLine {
  const PhaseAnswer& phase;
  std::string metric;
  const SetMetric& of;
  bool is_told = true;  // speed of kernels, of a metric at equal speed

  [[nodiscard]] Cell mean(std::int64_t runs, double time) const {
    return is_told && runs > 0 ? time_cell(time) : Cell{};
  }
};
const Fields<SetVerdictLine> kSetVerdictFields = DeclaredFields<SetVerdictLine>{
    "sets_verdict",
    {
        {"phase", [](const auto& line) { return line.phase.phase.label; }},
        {"metric", &SetVerdictLine::metric},
        {"baseline_runs", [](const auto& line) { return line.of.baseline_runs; }},
        {"candidate_runs", [](const auto& line) { return line.of.candidate_runs; }},
        {"baseline", [](const auto& line) { return line.mean(line.of.baseline_runs, line.of.baseline); }},
        {"candidate", [](const auto& line) { return line.mean(line.of.candidate_runs, line.of.candidate); }},
        {"change_pct",
         [](const auto& line) {
           return line.is_told && !line.phase.comparison.barred ? Cell(line.of.change_pct) : Cell{};
         }},
        {"low", [](const auto& line) { return low_of(line.of.range_pct); }},
        {"high", [](const auto& line) { return high_of(line.of.range_pct); }},
        {"run_sd_pct", [](const auto& line) { return known_cell(line.of.run_sd_pct); }},
        {"detectable_pct", [](const auto& line) { return known_cell(line.of.detectable_pct); }},
        {"runs_needed", [](const auto& line) { return known_cell(line.of.runs_needed); }},
        {"verdict", [](const auto& line) { return std::string(to_string(line.of.verdict)); }},
        {"reason", [](const auto& line) { return text_cell(line.of.reason); }},
    }};

void set_verdict_lines(const SetsAnswer& answer, const AddLine<SetVerdictLine>& add) {
  for (const PhaseAnswer& phase : answer.phases) {
    add({phase, phase.measure(), phase.comparison.period});
    const SetMetric& equal = phase.comparison.period_at_equal_speed;
    add({phase, phase.measure_at_equal_speed(), equal, equal.range.has_value()});
  }
}

// ---- reasons and ledger

struct SetRowLine {
  const PhaseAnswer& phase;
  const SetRow& row;
  [[nodiscard]] Cell if_known(Cell cell) const { return row.known ? std::move(cell) : Cell{}; }
};
const Fields<SetRowLine> kSetLedgerFields = DeclaredFields<SetRowLine>{
    "sets_ledger",
    {
        {"phase", [](const auto& line) { return line.phase.phase.label; }},
        {"item", [](const auto& line) { return line.row.name; }},
        {"op", [](const auto& line) { return text_cell(line.row.op_class); }},
        {"baseline", [](const auto& line) { return line.if_known(time_cell(line.row.baseline)); }},
        {"candidate", [](const auto& line) { return line.if_known(time_cell(line.row.candidate)); }},
        {"change", [](const auto& line) { return line.if_known(Cell(line.row.change)); }},
        {"low", [](const auto& line) { return end_of(line.row.range, &Interval::low); }},
        {"high", [](const auto& line) { return end_of(line.row.range, &Interval::high); }},
        {"q_value", [](const auto& line) { return known_cell(line.row.q_value); }},
        {"runs_agreeing", [](const auto& line) { return Cell(line.row.agreeing); }},
        {"run_pairs", [](const auto& line) { return Cell(line.row.pairs); }},
        {"named", [](const auto& line) { return static_cast<std::int64_t>(line.row.named ? 1 : 0); }},
    }};
// As the ledger's, and without what is the same of all.
const Fields<SetRowLine> kSetReasonFields = [] {
  Fields<SetRowLine> fields = kSetLedgerFields;
  fields.pop_back();
  fields.insert(fields.begin() + 6,
                {figure_column("change_pct", "Change (%)", Unit::kPercent, "of the baseline's period"),
                 [](const SetRowLine& line) {
                   const double whole = line.phase.comparison.period.baseline;
                   return whole > 0 ? Cell(100 * static_cast<double>(line.row.change) / whole) : Cell{};
                 }});
  return fields;
}();

Report set_ledger_report(const SetsAnswer& answer) {
  Report out{columns_of(kSetLedgerFields), {}};
  for (const PhaseAnswer& phase : answer.phases) {
    for (const SetRow& row : phase.comparison.rows) out.rows.push_back(row_of(kSetLedgerFields, {phase, row}));
    if (phase.comparison.rows.empty()) continue;
    SetRow total;
    total.name = "[all steps]";
    total.baseline = phase.comparison.baseline;
    total.candidate = phase.comparison.candidate;
    total.change = phase.comparison.change;
    out.footer.push_back(row_of(kSetLedgerFields, {phase, total}));
  }
  return out;
}

void set_reason_lines(const SetsAnswer& answer, const AddLine<SetRowLine>& add) {
  for (const PhaseAnswer& phase : answer.phases) {
    for (const SetRow& row : phase.comparison.rows) {
      if (row.named) add({phase, row});
    }
  }
}

// ---- runs

struct SetRunLine {
  const PhaseAnswer& phase;
  const SetRun& run;
};
bool has_level(const SetRunLine& line) { return !line.run.rows.empty(); }
bool has_speed(const SetRunLine& line) {
  return has_level(line) && line.phase.comparison.no_speed.empty() && line.run.speed_pct;
}
const Fields<SetRunLine> kSetRunFields = DeclaredFields<SetRunLine>{
    "sets_runs",
    {
        {"phase", [](const auto& line) { return line.phase.phase.label; }},
        {"side", [](const auto& line) { return std::string(kSideNames[static_cast<std::size_t>(line.run.side)]); }},
        {"name", [](const auto& line) { return line.run.name; }},
        {"steps", [](const auto& line) { return line.run.steps; }},
        {"rare_steps", [](const auto& line) { return line.run.rare_steps; }},
        {"load", [](const auto& line) { return line.run.load > 0 ? Cell(line.run.load) : Cell{}; }},
        {"speed_pct", [](const auto& line) { return has_speed(line) ? Cell(*line.run.speed_pct) : Cell{}; }},
        {"period", [](const auto& line) { return has_level(line) ? time_cell(line.run.period) : Cell{}; }},
        {"period_at_equal_speed",
         [](const auto& line) { return has_speed(line) ? time_cell(line.run.period_at_equal_speed) : Cell{}; }},
        {"note", [](const auto& line) { return text_cell(line.run.bar.empty() ? line.run.note : line.run.bar); }},
    }};

void set_run_lines(const SetsAnswer& answer, const AddLine<SetRunLine>& add) {
  for (const PhaseAnswer& phase : answer.phases) {
    for (const SetRun& run : phase.comparison.runs) add({phase, run});
  }
}

// ---- gate

struct SetGateLine {
  std::string phase;
  GateOutcome outcome = GateOutcome::kInconclusive;
  std::optional<std::int64_t> runs_needed;
  std::string reason;
  double percent = 0;
};
const Fields<SetGateLine> kSetGateFields = DeclaredFields<SetGateLine>{
    "sets_gate",
    {
        {"phase", &SetGateLine::phase},
        {"budget_pct", &SetGateLine::percent},
        {"outcome", [](const SetGateLine& line) { return std::string(to_string(line.outcome)); }},
        {"runs_needed", [](const SetGateLine& line) { return known_cell(line.runs_needed); }},
        {"reason", [](const SetGateLine& line) { return text_cell(line.reason); }},
    }};

// "decode, period: +3.10 %"; of the metric that fails, or is furthest from passing.
std::string set_because(const PhaseAnswer& phase, GateMetric judged) {
  const SetComparison& one = phase.comparison;
  const SetMetric* metric = &one.period;
  std::string name = phase.measure();
  const SetMetric& equal = one.period_at_equal_speed;
  const auto weight = [&](const SetMetric& of) {
    return one.gate == GateOutcome::kFail ? (of.range_pct->low > 0 ? of.change_pct : -100) : of.range_pct->high;
  };
  const bool either = judged == GateMetric::kBoth && equal.range_pct;
  if (judged == GateMetric::kPeriodAtEqualSpeed ||
      (either && (!metric->range_pct || weight(equal) > weight(*metric)))) {
    metric = &equal;
    name = phase.measure_at_equal_speed();
  }
  std::string text = fmt::format("{}, {}", phase.phase.label, name);
  if (metric->range_pct) {
    text += fmt::format(": {:+.2f} % (95 %: {:+.2f} .. {:+.2f} %)", metric->change_pct, metric->range_pct->low,
                        metric->range_pct->high);
  } else {
    text += ": " + metric->reason;
  }
  if (const double rare = one.rare_pct(); rare != 0)
    text += fmt::format("; without rare long steps, which add {:+.2f} %", rare);
  if (one.gate == GateOutcome::kInconclusive && one.gate_runs_needed) {
    const bool more = *one.gate_runs_needed > std::min(metric->baseline_runs, metric->candidate_runs);
    text += more ? fmt::format("; {} runs a side would tell", *one.gate_runs_needed) : "; only more runs can tell";
  }
  return text;
}

const PhaseAnswer* deciding(const SetsAnswer& answer) {
  const GateOutcome outcome = answer.gate_outcome();
  const auto found =
      std::ranges::find_if(answer.phases, [&](const PhaseAnswer& phase) { return phase.comparison.gate == outcome; });
  return found == answer.phases.end() ? nullptr : &*found;
}

std::string all_because(const SetsAnswer& answer) {
  const PhaseAnswer* phase = deciding(answer);
  return phase == nullptr ? "nothing was compared" : set_because(*phase, answer.options.gate_metric);
}

void set_gate_lines(const SetsAnswer& answer, const AddLine<SetGateLine>& add) {
  if (!answer.gate) return;
  for (const PhaseAnswer& phase : answer.phases) {
    add({phase.phase.label, phase.comparison.gate, phase.comparison.gate_runs_needed,
         set_because(phase, answer.options.gate_metric), answer.gate->percent});
  }
  const GateOutcome whole = answer.gate_failed() ? GateOutcome::kFail : answer.gate_outcome();
  add({"[all]", whole, std::nullopt, all_because(answer), answer.gate->percent});
}

Report set_sentences(const SetsAnswer& answer) {
  constexpr std::size_t kWidth = 80;  // of the page that compare prints
  Report out{sentence_columns(), {}, {}, true};
  for (const Block& block : sets_page(answer, kWidth)) {
    add_sentence(out, "candidate", {block.text, block.id, block.figures});
  }
  return out;
}

constexpr SetSection kSetSections[] = {
    {"sets", "runs of either side, their traces and dates", kTableOfLines<SetsAnswer, kSetFields, set_lines>},
    {"verdict", "period, and period at equal speed, of each phase: change, interval, verdict",
     kTableOfLines<SetsAnswer, kSetVerdictFields, set_verdict_lines>},
    {"reasons", "what changed by more than varies from run to run",
     kTableOfLines<SetsAnswer, kSetReasonFields, set_reason_lines>},
    {"ledger",
     "all parts of the mean period; they add up to its change",
     {[] { return columns_of(kSetLedgerFields); }, set_ledger_report}},
    {"runs", "level, load and speed of each run", kTableOfLines<SetsAnswer, kSetRunFields, set_run_lines>},
    {"gate", "outcome of --gate", kTableOfLines<SetsAnswer, kSetGateFields, set_gate_lines>},
    {"sentences", "what the page says; JSON alone has it", {sentence_columns, set_sentences}},
};

}  // namespace

GateOutcome SetsAnswer::gate_outcome() const {
  return outcome_of_all(phases, [](const PhaseAnswer& phase) { return phase.comparison.gate; });
}

// Too few runs only leave it open.
bool SetsAnswer::gate_is_idle() const {
  const bool of_speed = options.gate_metric == GateMetric::kPeriodAtEqualSpeed;
  return std::ranges::all_of(phases, [&](const PhaseAnswer& phase) {
    return phase.comparison.barred || (of_speed && !phase.phase.sums.no_speed.empty());
  });
}

std::string gate_text(const SetsAnswer& answer) {
  return gate_text(*answer.gate, answer.gate_outcome(), answer.gate_is_idle(), all_because(answer));
}

std::span<const SetSection> set_sections() { return kSetSections; }

}  // namespace tracedb
