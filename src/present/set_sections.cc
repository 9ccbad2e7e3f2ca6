#include "present/set_sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/amounts.h"

namespace tracedb {
namespace {

void add_sets(const SetsAnswer& answer, Report& table) {
  for (std::size_t side = 0; side < 2; ++side) {
    for (const RunSource& run : answer.runs[side]) {
      add_row(table, {{"side", kSideNames[side]},
                      {"name", run.name},
                      {"traces", static_cast<std::int64_t>(run.traces.size())},
                      {"date", run.date_ns > 0 ? Cell(moment_text(run.date_ns)) : Cell{}},
                      {"gpu", text_cell(run.gpu)},
                      {"left_out", std::int64_t{run.left_out}},
                      {"trace", text_cell(run.traces.empty() ? "" : run.traces.front())}});
    }
  }
}

// `is_told`: speed of kernels, of a metric at equal speed.
void add_verdict(const PhaseAnswer& phase, const std::string& name, const SetMetric& of, bool is_told, Report& table) {
  const auto mean = [&](std::int64_t runs, double time) { return is_told && runs > 0 ? time_cell(time) : Cell{}; };
  const bool judged = is_told && !phase.comparison.barred;
  add_row(table, {{"phase", phase.phase.label},
                  {"metric", name},
                  {"baseline_runs", of.baseline_runs},
                  {"candidate_runs", of.candidate_runs},
                  {"baseline", mean(of.baseline_runs, of.baseline)},
                  {"candidate", mean(of.candidate_runs, of.candidate)},
                  {"change_pct", judged ? Cell(of.change_pct) : Cell{}},
                  {"low", known_cell(of.range_pct, &Interval::low)},
                  {"high", known_cell(of.range_pct, &Interval::high)},
                  {"run_sd_pct", known_cell(of.run_sd_pct)},
                  {"detectable_pct", known_cell(of.detectable_pct)},
                  {"runs_needed", known_cell(of.runs_needed)},
                  {"verdict", std::string(to_string(of.verdict))},
                  {"reason", text_cell(of.reason)}});
}

void add_set_verdicts(const SetsAnswer& answer, Report& table) {
  for (const PhaseAnswer& phase : answer.phases) {
    const SetMetric& equal = phase.comparison.period_at_equal_speed;
    add_verdict(phase, phase.measure(), phase.comparison.period, true, table);
    add_verdict(phase, phase.measure_at_equal_speed(), equal, equal.range.has_value(), table);
  }
}

// Of the ledger, and of the reasons, which are without what is the same of all of them.
Row row_of(const PhaseAnswer& phase, const SetRow& row, const Report& table) {
  const auto if_known = [&](Cell cell) { return row.known ? std::move(cell) : Cell{}; };
  const double whole = phase.comparison.period.baseline;
  return row_of(table.columns,
                {{"phase", phase.phase.label},
                 {"item", row.name},
                 {"op", text_cell(row.op_class)},
                 {"baseline", if_known(time_cell(row.baseline))},
                 {"candidate", if_known(time_cell(row.candidate))},
                 {"change", if_known(row.change)},
                 {"change_pct", whole > 0 ? Cell(100 * static_cast<double>(row.change) / whole) : Cell{}},
                 {"low", row.range ? time_cell(row.range->low) : Cell{}},
                 {"high", row.range ? time_cell(row.range->high) : Cell{}},
                 {"q_value", known_cell(row.q_value)},
                 {"runs_agreeing", row.agreeing},
                 {"run_pairs", row.pairs},
                 {"named", std::int64_t{row.named}}});
}

void add_set_ledger(const SetsAnswer& answer, Report& table) {
  for (const PhaseAnswer& phase : answer.phases) {
    const SetComparison& one = phase.comparison;
    for (const SetRow& row : one.rows) table.rows.push_back(row_of(phase, row, table));
    if (one.rows.empty()) continue;
    SetRow total;
    total.name = "[all steps]";
    total.baseline = one.baseline;
    total.candidate = one.candidate;
    total.change = one.change;
    table.footer.push_back(row_of(phase, total, table));
  }
}

void add_set_reasons(const SetsAnswer& answer, Report& table) {
  for (const PhaseAnswer& phase : answer.phases) {
    for (const SetRow& row : phase.comparison.rows) {
      if (row.named) table.rows.push_back(row_of(phase, row, table));
    }
  }
}

void add_runs(const SetsAnswer& answer, Report& table) {
  for (const PhaseAnswer& phase : answer.phases) {
    for (const SetRun& run : phase.comparison.runs) {
      const bool has_level = !run.rows.empty();
      const bool has_speed = has_level && phase.comparison.no_speed.empty() && run.speed_pct;
      add_row(table, {{"phase", phase.phase.label},
                      {"side", kSideNames[run.side]},
                      {"name", run.name},
                      {"steps", run.steps},
                      {"rare_steps", run.rare_steps},
                      {"load", run.load > 0 ? Cell(run.load) : Cell{}},
                      {"speed_pct", has_speed ? Cell(*run.speed_pct) : Cell{}},
                      {"period", has_level ? time_cell(run.period) : Cell{}},
                      {"period_at_equal_speed", has_speed ? time_cell(run.period_at_equal_speed) : Cell{}},
                      {"note", text_cell(run.bar.empty() ? run.note : run.bar)}});
    }
  }
}

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

void add_set_gate(const SetsAnswer& answer, Report& table) {
  if (!answer.gate) return;
  const auto add = [&](const std::string& phase, GateOutcome outcome, std::optional<std::int64_t> runs_needed,
                       const std::string& reason) {
    add_row(table, {{"phase", phase},
                    {"budget_pct", answer.gate->percent},
                    {"outcome", std::string(to_string(outcome))},
                    {"runs_needed", known_cell(runs_needed)},
                    {"reason", text_cell(reason)}});
  };
  for (const PhaseAnswer& phase : answer.phases) {
    const SetComparison& one = phase.comparison;
    add(phase.phase.label, one.gate, one.gate_runs_needed, set_because(phase, answer.options.gate_metric));
  }
  add("[all]", answer.gate_failed() ? GateOutcome::kFail : answer.gate_outcome(), std::nullopt, all_because(answer));
}

void add_set_sentences(const SetsAnswer& answer, Report& table) {
  constexpr std::size_t kWidth = 80;  // of the page that compare prints
  table.whole = true;
  for (const Block& block : sets_page(answer, kWidth)) {
    add_sentence(table, "candidate", {block.text, block.id, block.figures});
  }
}

constexpr SetSection kSetSections[] = {
    {"sets", "runs of either side, their traces and dates", "sets_sets", add_sets},
    {"verdict", "period, and period at equal speed, of each phase: change, interval, verdict", "sets_verdict",
     add_set_verdicts},
    {"reasons", "what changed by more than varies from run to run", "sets_reasons", add_set_reasons},
    {"ledger", "all parts of the mean period; they add up to its change", "sets_ledger", add_set_ledger},
    {"runs", "level, load and speed of each run", "sets_runs", add_runs},
    {"gate", "outcome of --gate", "sets_gate", add_set_gate},
    {"sentences", "what the page says; JSON alone has it", "sentences", add_set_sentences},
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
