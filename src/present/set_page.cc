// The page of two sets of runs (set_sections.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text/amounts.h"
#include "base/text/sentence.h"
#include "present/set_sections.h"

namespace tracedb {
namespace {

constexpr std::size_t kSetLines = 30, kSetReasons = 6, kSetPhases = 4, kSetRuns = 3, kSetWarnings = 4;

Sentence interval_words(const std::optional<Interval>& range) {
  if (!range) return {};
  return say("interval", "95 %: {low:+.1f} .. {high:+.1f} %", {{"low", range->low}, {"high", range->high}});
}

// "2.1 % slower", "the same within 2 %", "not decided: +1.1 %".
Sentence set_change_words(const SetMetric& metric, double budget) {
  switch (metric.verdict) {
    case Verdict::kWorse:
      return say("worse", "{pct:.1f} % slower", {{"pct", metric.change_pct}});
    case Verdict::kBetter:
      return say("better", "{pct:.1f} % faster", {{"pct", -metric.change_pct}});
    case Verdict::kSame:
      return say("same", "the same within {budget:g} %: {pct:+.1f} %",
                 {{"budget", budget}, {"pct", metric.change_pct}});
    case Verdict::kInconclusive:
      if (metric.devices)
        return say("mean", "{pct:+.1f} % in the mean of devices that changed apart", {{"pct", metric.change_pct}});
      return say("inconclusive", "{pct:+.1f} %, which may be chance", {{"pct", metric.change_pct}});
  }
  return {};
}

class SetsWriter : PageWriter {
 public:
  SetsWriter(const SetsAnswer& answer, std::size_t reasons) : answer_(answer), reasons_(reasons) {
    for (const PhaseAnswer& phase : answer.phases) phases_.push_back(&phase);
    const auto worst =
        std::ranges::max_element(phases_, {}, [](const PhaseAnswer* phase) { return surely_worse(*phase); });
    if (worst != phases_.end()) std::rotate(phases_.begin(), worst, worst + 1);
  }

  Page run() {
    if (phases_.empty()) {
      add_headline(say("sets.nothing", "Nothing to compare: no kind of steps is in runs of both sides."));
    } else {
      headline(*phases_.front());
    }
    if (answer_.gate) add_item(say("sets.gate", "{text}", {{"text", gate_text(answer_)}}));
    verdicts();
    for (const PhaseAnswer* phase : phases_) reasons(*phase);
    runs();
    warnings();
    more();
    return take();
  }

 private:
  // By how much, in percent; 0: that is not sure.
  static double surely_worse(const PhaseAnswer& phase) {
    double most = 0;
    for (const SetMetric* metric : {&phase.comparison.period, &phase.comparison.period_at_equal_speed}) {
      if (metric->verdict == Verdict::kWorse) most = std::max(most, metric->change_pct);
    }
    return most;
  }

  void headline(const PhaseAnswer& phase) {
    const SetMetric& period = phase.comparison.period;
    const SetMetric& equal = phase.comparison.period_at_equal_speed;
    if (!period.range) {
      add_headline(say("sets.not_judged", "{phase}: no verdict: {reason} ({a} and {b} runs).",
                       {{"phase", phase.phase.label},
                        {"reason", period.reason},
                        {"a", period.baseline_runs},
                        {"b", period.candidate_runs}}));
      return;
    }
    Sentence second;
    if (equal.range) {
      second = say("at_equal_speed", " At equal speed of the GPUs: {change} ({interval}).",
                   {{"change", set_change_words(equal, answer_.options.budget_pct)},
                    {"interval", interval_words(equal.range_pct)}});
    } else {
      second = say("no_speed", " Not known at equal speed of the GPUs: {why}.", {{"why", equal.reason}});
    }
    add_headline(say("sets.headline",
                     "{phase}: the candidate's {measure} is {change} ({interval}; {a} and {b} runs).{second}{rare}",
                     {{"phase", phase.phase.label},
                      {"measure", phase.measure()},
                      {"change", set_change_words(period, answer_.options.budget_pct)},
                      {"interval", interval_words(period.range_pct)},
                      {"a", period.baseline_runs},
                      {"b", period.candidate_runs},
                      {"second", second},
                      {"rare", rare_steps(phase)}}));
  }

  // The period is that of regular steps: what the others add must not go unsaid.
  static Sentence rare_steps(const PhaseAnswer& phase) {
    const SetComparison& one = phase.comparison;
    const double pct = one.rare_pct();
    if (pct == 0) return {};
    std::array<std::int64_t, 2> rare{}, all{};
    for (const SetRun& run : one.runs) {
      const auto side = static_cast<std::size_t>(run.side);
      rare[side] += run.rows.empty() ? 0 : run.rare_steps;
      all[side] += run.rows.empty() ? 0 : run.rare_steps + run.steps;
    }
    return say(
        "rare",
        " Without rare long steps, which add {pct:.1f} %{more} (the candidate has {b} of {b_all}, the baseline {a} of "
        "{a_all}).",
        {{"more", pct > 0 ? "" : " more to the baseline"},
         {"pct", std::abs(pct)},
         {"b", rare[1]},
         {"b_all", all[1]},
         {"a", rare[0]},
         {"a_all", all[0]}});
  }

  void verdicts() {
    if (phases_.empty()) return;
    add_heading("Verdict (regular steps, at equal load)");
    for (std::size_t i = 0; i < phases_.size() && i < kSetPhases; ++i) {
      const PhaseAnswer& phase = *phases_[i];
      verdict(phase, phase.comparison.period, phase.measure());
      if (phase.comparison.period_at_equal_speed.range) {
        verdict(phase, phase.comparison.period_at_equal_speed, phase.measure_at_equal_speed());
      }
    }
    add_more("sets.more_phases", "{n} more: --section verdict", answer_.phases.size(), kSetPhases);
  }

  void verdict(const PhaseAnswer& phase, const SetMetric& metric, const std::string& name) {
    if (!metric.range) {
      add_item(say("sets.no_verdict", "{phase}, {metric}: {reason}",
                   {{"phase", phase.phase.label}, {"metric", name}, {"reason", metric.reason}}));
      return;
    }
    Sentence needed;
    if (metric.devices) {
      needed = say("apart", "; spans of devices changed by {low:+.1f%} to {high:+.1f%}",
                   {{"low", metric.devices->low}, {"high", metric.devices->high}});
    } else if (metric.verdict == Verdict::kInconclusive) {
      const std::int64_t runs = metric.runs_needed.value_or(0);
      needed = runs > std::min(metric.baseline_runs, metric.candidate_runs)
                   ? say("needed", "; {n} runs a side would tell {budget:g} %",
                         {{"n", runs}, {"budget", answer_.options.budget_pct}})
                   : say("more_needed", "; only more runs can tell");
    }
    add_item(
        say("sets.verdict",
            "{phase}, {metric}: {verdict}, {baseline:time} -> {candidate:time} ({change:+.1f} %, {interval}); {what} "
            "vary by {sd:.2f} % (sd): changes from {detectable:.1f} % on are told{needed}",
            {{"phase", phase.phase.label},
             {"metric", name},
             {"verdict", to_string(metric.verdict)},
             {"baseline", metric.baseline},
             {"candidate", metric.candidate},
             {"change", metric.change_pct},
             {"interval", interval_words(metric.range_pct)},
             {"what", answer_.paired ? "differences of pairs" : "runs"},
             {"sd", metric.run_sd_pct.value_or(0)},
             {"detectable", metric.detectable_pct.value_or(0)},
             {"needed", needed}}));
  }

  // Of what makes the change, those that are sure; then what moves the whole run, sure or not.
  void reasons(const PhaseAnswer& phase) {
    const SetComparison& one = phase.comparison;
    if (!one.period.range) return;
    if (std::ranges::none_of(one.rows, [](const SetRow& row) { return row.range.has_value(); })) return;
    // Certain, of the whole run.
    const auto moves = [&](const SetRow& row) {
      return row.kind != SetRowKind::kPart && !row.uncertain() &&
             500 * std::abs(row.candidate - row.baseline) >= one.period.baseline;
    };
    const auto named = std::ranges::count_if(one.rows, [&](const SetRow& row) { return row.named || moves(row); });
    const std::string of = answer_.phases.size() > 1 ? fmt::format(" ({})", phase.phase.label) : "";
    add_heading(named > 0 ? fmt::format("Reasons{}", of)
                          : fmt::format("No part is sure to have changed by more than runs vary{}", of));
    const std::size_t most = &phase == phases_.front() ? reasons_ : 1;
    std::size_t said = 0, shown = 0;
    std::array<bool, 2> is_shown{};  // less, more: of work that moved to other parts both
    for (const SetRow& row : one.rows) {
      if (!row.named) continue;
      ++said;
      bool& way = is_shown[row.candidate > row.baseline ? 1 : 0];
      if (shown >= most && way) continue;
      way = true;
      ++shown;
      add_item(row_words(phase, row), fmt::format("{}.", said));
    }
    add_more("sets.more_reasons", "{n} more: --section reasons", said, shown);
    for (const SetRow& row : one.rows) {
      const bool matters = 1000 * std::abs(row.candidate - row.baseline) >= one.period.baseline;
      if (row.kind == SetRowKind::kPart || row.named || !matters) continue;
      add_item(row_words(phase, row));
    }
  }

  static Sentence row_words(const PhaseAnswer& phase, const SetRow& row) {
    const SetComparison& one = phase.comparison;
    const double change = row.candidate - row.baseline;
    const double to_pct = one.period.baseline > 0 ? 100 / one.period.baseline : 0;
    std::string what;
    if (row.name == "[exposed communication]") what = ", with waiting for other ranks";  // each rank is read by itself
    if (row.kind == SetRowKind::kSpeed) what = row.named ? ": cannot be told apart" : ": the GPUs' speed";
    if (row.kind == SetRowKind::kLoad) what = fmt::format(": {} of a step", phase.phase.load);
    if (row.kind == SetRowKind::kRareSteps) what = ": steps that are too long to be regular";
    Sentence range;
    if (row.range) {
      range = say("range", ", 95 %: {low:+.2f} .. {high:+.2f} %",
                  {{"low", row.range->low * to_pct}, {"high", row.range->high * to_pct}});
    }
    Sentence evidence;
    if (row.named && row.kind == SetRowKind::kPart) {
      const double q = row.q_value.value_or(1);  // of small samples, tails are not known any further
      evidence = with(say("evidence", "; {agreeing} of {pairs} pairs of runs agree, q {shown}",
                          {{"agreeing", row.agreeing},
                           {"pairs", row.pairs},
                           {"shown", Sentence{q < 1e-6 ? "< 1e-6" : fmt::format("{:.2g}", q)}}}),
                      {"q", q});
    }
    return say("sets.reason",
               "{uncertain}{item}{what}: {change:+time} a step ({pct:+.2f} % of the {measure}{range}){evidence}",
               {{"uncertain", !row.named && row.uncertain() ? "uncertain: " : ""},
                {"item", row.name},
                {"what", what},
                {"change", change},
                {"pct", change * to_pct},
                {"measure", phase.measure()},
                {"range", range},
                {"evidence", evidence}});
  }

  void runs() {
    std::vector<Sentence> all, rare;  // rare steps last: any run may have some
    for (const PhaseAnswer* of : phases_) {
      const PhaseAnswer& phase = *of;
      for (const SetRun& run : phase.comparison.runs) {
        const std::string& note = run.bar.empty() ? run.note : run.bar;
        if (note.empty()) continue;
        (note.starts_with("[rare steps]") ? rare : all)
            .push_back(
                say("sets.run", "{side} {run}, {phase}: {note}",
                    {{"side", kSideNames[run.side]}, {"run", run.name}, {"phase", phase.phase.label}, {"note", note}}));
      }
    }
    all.insert(all.end(), rare.begin(), rare.end());
    if (!all.empty()) add_heading("Runs that stand out");
    for (std::size_t i = 0; i < all.size() && i < kSetRuns; ++i) add_item(all[i]);
    add_more("sets.more_runs", "{n} more: --runs", all.size(), kSetRuns);
  }

  void warnings() {
    if (answer_.warnings.empty()) return;
    add_heading("Warnings");
    for (std::size_t i = 0; i < answer_.warnings.size() && i < kSetWarnings; ++i) {
      add_item(say("sets.warning", "{text}", {{"text", answer_.warnings[i]}}));
    }
    add_more("sets.more_warnings", "{n} more: --json has all", answer_.warnings.size(), kSetWarnings);
  }

  // As words of a command: the trace, or of a job the folder that has its traces and those of no other run, else all.
  std::string words_of(const RunSource& run) const {
    if (run.traces.size() == 1) return shell_word(run.traces.front());
    const auto folder = [](const std::string& trace) { return std::filesystem::path(trace).parent_path(); };
    const std::filesystem::path own = folder(run.traces.front());
    const auto is_of = [&](const RunSource& of) {
      return std::ranges::count_if(of.traces, [&](const std::string& trace) { return folder(trace) == own; });
    };
    std::ptrdiff_t all = 0;
    for (const auto& side : answer_.runs) {
      for (const RunSource& one : side) all += is_of(one);
    }
    if (!own.empty() && is_of(run) == std::ssize(run.traces) && all == is_of(run)) return shell_word(own.string());
    std::string out;
    for (const std::string& trace : run.traces) out += (out.empty() ? "" : " ") + shell_word(trace);
    return out;
  }

  // Two runs in the middle of their sides: where a comparison kernel by kernel, or rank by rank, shows the usual
  // change.
  void more() {
    std::array<std::string, 2> typical;
    bool jobs = false;
    for (std::size_t side = 0; side < 2 && !phases_.empty(); ++side) {
      std::vector<const SetRun*> runs;
      for (const SetRun& run : phases_.front()->comparison.runs) {
        if (run.side == static_cast<int>(side) && !run.rows.empty()) runs.push_back(&run);
      }
      if (runs.empty()) return;
      std::ranges::sort(runs, {}, [](const SetRun* run) { return std::pair(run->period_at_equal_speed, run->name); });
      const std::string& name = runs[(runs.size() - 1) / 2]->name;
      for (const RunSource& source : answer_.runs[side]) {
        if (source.name != name || source.traces.empty()) continue;
        typical[side] = words_of(source);
        jobs = jobs || source.traces.size() > 1;
      }
    }
    if (typical[0].empty() || typical[1].empty()) return;
    add_heading(jobs ? "More (two typical jobs, rank by rank: waiting and transfer)"
                     : "More (two typical runs, kernel by kernel)");
    add_command(fmt::format("trace-query compare {}{} {}{}", jobs ? "--baseline " : "", typical[0],
                            jobs ? "--candidate " : "", typical[1]));
  }

  const SetsAnswer& answer_;
  std::vector<const PhaseAnswer*> phases_;  // that which is surely worse by most first
  std::size_t reasons_;
};

}  // namespace

Page sets_page(const SetsAnswer& answer, std::size_t width) {
  return fitting_page(kSetReasons, kSetLines, width, [&](std::size_t most) { return SetsWriter(answer, most).run(); });
}

}  // namespace tracedb
