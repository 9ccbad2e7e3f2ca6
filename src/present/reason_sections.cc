// The sections `verdict` and `reasons` of a comparison: what its page says, as data.
#include <fmt/format.h>

#include "compare/reasons.h"
#include "present/cells.h"
#include "present/page.h"
#include "present/reason_words.h"
#include "present/sections.h"
#include "report/sql_report.h"

namespace tracedb {
namespace {

struct VerdictLine {
  const SectionInput& in;
  std::string phase, measure;
  const Change& change;

  [[nodiscard]] bool has_interval() const {
    return std::min(change.baseline_steps, change.candidate_steps) >= VerdictRule{}.least_steps;
  }
};

const Fields<VerdictLine> kVerdictFields = {
    {label_column("trace", "Trace", "the candidate"),
     [](const auto& line) { return line.in.candidate.description.label; }},
    {text_column("phase", "Phase", "group of steps; [all] in the rows of all kinds of steps together"),
     &VerdictLine::phase},
    {text_column("metric", "Metric", "period or span of a step, or period to a step of another kind"),
     &VerdictLine::measure},
    {figure_column("baseline_steps", "n", Unit::kCount, "steps of the baseline that have the metric"),
     [](const auto& line) { return static_cast<std::int64_t>(line.change.baseline_steps); }},
    {figure_column("candidate_steps", "n'", Unit::kCount, "steps of the candidate that have it"),
     [](const auto& line) { return static_cast<std::int64_t>(line.change.candidate_steps); }},
    {figure_column("baseline", "Baseline", Unit::kTime, "mean over the regular steps of the baseline", Fit::kKept),
     [](const auto& line) { return line.change.baseline_steps > 0 ? Cell(line.change.baseline.mean) : Cell{}; }},
    {figure_column("candidate", "Candidate", Unit::kTime, "mean over the regular steps of the candidate", Fit::kKept),
     [](const auto& line) { return line.change.candidate_steps > 0 ? Cell(line.change.candidate.mean) : Cell{}; }},
    {figure_column("change_pct", "Change (%)", Unit::kPercent, "candidate - baseline, of the baseline", Fit{9}),
     [](const auto& line) { return share_cell(line.change.difference(), line.change.baseline.mean); }},
    {figure_column("low", "95 % from", Unit::kTime, "lower end of the 95 % interval of the change", Fit{6}),
     [](const auto& line) { return line.has_interval() ? Cell(line.change.interval.low) : Cell{}; }},
    {figure_column("high", "to", Unit::kTime, "upper end of that interval", Fit{6}),
     [](const auto& line) { return line.has_interval() ? Cell(line.change.interval.high) : Cell{}; }},
    {text_column("verdict", "Verdict", "better, worse, same or inconclusive", Fit{9}),
     [](const auto& line) { return std::string(to_string(line.change.verdict)); }},
    {text_column("reason", "Reason", "why it is inconclusive; what to keep in mind", Fit{7, true}),
     [](const auto& line) {
       const Change& change = line.change;
       const std::string& known = change.reason.empty() ? change.caveat : change.reason;
       return text_cell(known.empty() && !line.in.comparison.step ? kOneRun : std::string_view(known));
     }},
};

struct ReasonLine {
  const SectionInput& in;
  const GroupReasons& group;
  const Reason& reason;
  std::int64_t rank = 0;

  [[nodiscard]] Cell layers(std::size_t number) const {
    return reason.place.compared > 0 ? Cell(static_cast<std::int64_t>(number)) : Cell{};
  }
  [[nodiscard]] Cell kernel(NameId ChangedPair::*side) const {
    return reason.pair ? Cell(in.kernel_names.entries()[(*reason.pair).*side].name) : Cell{};
  }
  [[nodiscard]] Cell place() const {
    switch (reason.place.kind) {
      case PlaceKind::kStepHead:
        return std::string("[head]");
      case PlaceKind::kStepTail:
        return std::string("[tail]");
      case PlaceKind::kStep:
        if (reason.cause == Cause::kTransition) return fmt::format("[before {}]", reason.to);
        [[fallthrough]];
      default:
        return text_cell(layers_label(reason.place.layers, in.baseline.layers.stacks));
    }
  }
};

std::string certainty(const PathWithout& path) {
  std::string text = path.is_upper_bound ? "at most" : path.is_lower_bound ? "at least" : "";
  if (path.is_inferred) text += text.empty() ? "inferred" : ", inferred";
  return text.empty() ? "by the releases" : text;
}

const Fields<ReasonLine> kReasonFields = {
    {label_column("trace", "Trace", "the candidate"),
     [](const auto& line) { return line.in.candidate.description.label; }},
    {text_column("phase", "Phase", "group of steps: their kind, with the batch where the mixes differ"),
     [](const auto& line) { return line.group.group->group.label; }},
    {figure_column("rank", "#", Unit::kCount, "1: the largest change of the phase"), &ReasonLine::rank},
    {text_column("cause", "Cause",
                 "between_steps, recording (the traces record differently: no change of the program), transition "
                 "(time before a step of another kind), idle, communication, copies, operation, fusion, "
                 "concurrency, other_steps (overlapping steps run in each other's time), clocks or load",
                 Fit{9}),
     [](const auto& line) { return std::string(to_string(line.reason.cause)); }},
    {text_column("op", "Operation", "operation class; unknown where it is of several, or none", Fit{9}),
     [](const auto& line) { return text_cell(line.reason.op); }},
    {text_column("role", "Role", "role of the kernels that changed, where they have one in common", Fit{3}),
     [](const auto& line) { return text_cell(line.reason.role); }},
    {text_column("member", "Member", "which role, operator or kernels, where others of the class moved against them",
                 Fit{3}),
     [](const auto& line) { return text_cell(line.reason.member); }},
    {text_column("place", "Place", "the few layers that it is about, [head], [tail] or [before KIND]; unknown: all",
                 Fit{8}),
     &ReasonLine::place},
    {figure_column("layers_moved", "Moved", Unit::kCount, "layers that changed as the reason does"),
     [](const auto& line) { return line.layers(line.reason.place.moved); }},
    {figure_column("layers", "Layers", Unit::kCount, "of so many that it is about"),
     [](const auto& line) { return line.layers(line.reason.place.compared); }},
    {figure_column("baseline", "Baseline", Unit::kTime,
                   "time per unit (step, token; a transition: of one) of the baseline", Fit::kKept),
     [](const auto& line) { return line.reason.change.baseline; }},
    {figure_column("candidate", "Candidate", Unit::kTime, "time per unit of the candidate", Fit::kKept),
     [](const auto& line) { return line.reason.change.candidate; }},
    {figure_column("change", "Change", Unit::kTime, "candidate - baseline", Fit{9}),
     [](const auto& line) { return line.reason.change.change; }},
    {figure_column("share_pct", "Share (%)", Unit::kPercent,
                   "change as a share of that of the step's period, or of its span where periods are not compared",
                   Fit{8}),
     [](const auto& line) { return line.reason.share ? Cell(100 * *line.reason.share) : Cell{}; }},
    {figure_column("count_effect", "by Count", Unit::kTime, "part of the change that is due to more or fewer kernels"),
     [](const auto& line) { return line.reason.change.count_effect; }},
    {figure_column("duration_effect", "by Time", Unit::kTime, "part that is due to longer or shorter kernels"),
     [](const auto& line) { return line.reason.change.duration_effect; }},
    {figure_column("baseline_n", "n", Unit::kAny,
                   "kernels per unit of the baseline; of a transition: how many there are"),
     [](const auto& line) { return count_cell(line.reason.baseline_n, 1, line.in.human_readable); }},
    {figure_column("candidate_n", "n'", Unit::kAny, "kernels per unit of the candidate"),
     [](const auto& line) { return count_cell(line.reason.candidate_n, 1, line.in.human_readable); }},
    {figure_column("low", "95 % from", Unit::kTime, "lower end of the 95 % interval of the change of a step"),
     [](const auto& line) { return line.reason.interval ? Cell(line.reason.interval->low) : Cell{}; }},
    {figure_column("high", "to", Unit::kTime, "upper end of that interval"),
     [](const auto& line) { return line.reason.interval ? Cell(line.reason.interval->high) : Cell{}; }},
    {text_column("baseline_kernel", "Baseline Kernel", "of the pair of kernels that changed most", Fit{4, false, true}),
     [](const auto& line) { return line.kernel(&ChangedPair::baseline); }},
    {text_column("candidate_kernel", "Candidate Kernel", "its partner in the candidate", Fit{4, false, true}),
     [](const auto& line) { return line.kernel(&ChangedPair::candidate); }},
    {text_column("host", "Host", "frame, operator or call at which the host is mostly, in the trace that waits longer",
                 Fit{5}),
     [](const auto& line) { return line.reason.host ? Cell(line.reason.host->frame) : Cell{}; }},
    {figure_column("host_pct", "of it (%)", Unit::kPercent, "share of the waiting time in which it is there"),
     [](const auto& line) { return line.reason.host ? Cell(100 * line.reason.host->share) : Cell{}; }},
    {figure_column("host_calls", "Calls", Unit::kCount, "python calls that it makes there meanwhile"),
     [](const auto& line) { return line.reason.host ? Cell(line.reason.host->calls) : Cell{}; }},
    {figure_column("path", "Path", Unit::kTime,
                   "critical path of a step of the candidate, mean over at most 32 of them", Fit{2}),
     [](const auto& line) { return line.reason.path ? Cell(line.reason.path->length) : Cell{}; }},
    {figure_column("path_without", "without it", Unit::kTime, "the same without this reason alone", Fit{2}),
     [](const auto& line) { return line.reason.path ? Cell(line.reason.path->without) : Cell{}; }},
    {text_column("path_certainty", "Certainty",
                 "of the latter: by the releases; at least: a delay that matters was never observed; at most: much "
                 "of what it waits for is not known, and stays as it was; inferred: what "
                 "the path waits for is not all recorded",
                 Fit{1}),
     [](const auto& line) { return line.reason.path ? Cell(certainty(*line.reason.path)) : Cell{}; }},
    {text_column("next", "Next",
                 "a command that shows more; $A is the baseline, $B the candidate; of one step $T the trace",
                 Fit{3, true}),
     [](const auto& line) { return shell_text(next_step_of(line.group, line.reason, line.in)); }},
    {json_column("next_step", "Next Step", "that command as a value"),
     [](const auto& line) {
       return line.in.human_readable ? Cell{} : json_text(next_step_of(line.group, line.reason, line.in));
     }},
};

Report verdict_section(const SectionInput& in) {
  Report out{columns_of(kVerdictFields), {}, {}, true};
  const auto add = [&](const std::string& phase, const std::string& measure, const Change& change) {
    out.rows.push_back(row_of(kVerdictFields, {in, phase, measure, change}));
  };
  for (const GroupComparison& group : in.comparison.groups) {
    const std::string& label = group.group.label;
    if (group.has_period()) add(label, "period", group.metric(StepMetric::kPeriod));
    for (const TransitionChange& transition : group.transitions) {
      add(label, period_measure(transition.to), transition.change);
    }
    add(label, "span", group.metric(StepMetric::kSpan));
  }
  add("[all]", "period or span", in.comparison.overall);
  add("[all]", "span", in.comparison.overall_span);
  return out;
}

Report reason_section(const SectionInput& in) {
  Report out{columns_of(kReasonFields), {}, {}, true};
  for (const GroupReasons& group : find_reasons(in.comparison, in.sources())) {
    std::int64_t rank = 0;
    for (const Reason& reason : group.reasons) {
      out.rows.push_back(row_of(kReasonFields, {in, group, reason, ++rank}));
    }
  }
  if (in.human_readable) drop_empty_columns(out, {"next_step"});
  return out;
}

Report sentence_section(const SectionInput& in) {
  constexpr std::size_t kWidth = 80;  // of the page that compare prints
  Report out{sentence_columns(), {}, {}, true};
  const std::vector<GroupReasons> reasons = find_reasons(in.comparison, in.sources());
  for (const Block& block : compare_page({in, reasons, "A", "B"}, kWidth)) {
    add_sentence(out, in.candidate.description.label, {block.text, block.id, block.figures});
  }
  return out;
}

}  // namespace

const TableOf<SectionInput> kVerdictTable = {[] { return columns_of(kVerdictFields); }, verdict_section};
const TableOf<SectionInput> kReasonTable = {[] { return columns_of(kReasonFields); }, reason_section};
const TableOf<SectionInput> kSentenceTable = {sentence_columns, sentence_section};

}  // namespace tracedb
