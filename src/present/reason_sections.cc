// The sections `verdict` and `reasons` of a comparison: what its page says, as data.
#include <fmt/format.h>

#include "compare/reasons.h"
#include "present/cells.h"
#include "present/sections.h"
#include "present/words.h"
#include "report/sql_report.h"

namespace tracedb {
namespace {

struct VerdictLine {
  const SectionInput& in;
  std::string phase, measure;
  const Change& change;

  [[nodiscard]] Cell end_of(double Interval::*end) const {
    if (std::min(change.baseline_steps, change.candidate_steps) < VerdictRule{}.least_steps) return {};
    return end_cell(change, change.interval.*end, in.human_readable);
  }
};

const Fields<VerdictLine> kVerdictFields = DeclaredFields<VerdictLine>{
    "compare_verdict",
    {
        {"trace", [](const auto& line) { return line.in.candidate.description.label; }},
        {"phase", &VerdictLine::phase},
        {"metric", &VerdictLine::measure},
        {"baseline_steps", [](const auto& line) { return static_cast<std::int64_t>(line.change.baseline_steps); }},
        {"candidate_steps", [](const auto& line) { return static_cast<std::int64_t>(line.change.candidate_steps); }},
        {"baseline", [](const auto& line) { return mean_cell(line.change.baseline, line.change.baseline_steps); }},
        {"candidate", [](const auto& line) { return mean_cell(line.change.candidate, line.change.candidate_steps); }},
        {"change_pct",
         [](const auto& line) { return share_cell(line.change.difference(), line.change.baseline.mean); }},
        {"low", [](const auto& line) { return line.end_of(&Interval::low); }},
        {"high", [](const auto& line) { return line.end_of(&Interval::high); }},
        {"verdict", [](const auto& line) { return std::string(to_string(line.change.verdict)); }},
        {"reason",
         [](const auto& line) {
           const Change& change = line.change;
           const std::string& known = change.reason.empty() ? change.caveat : change.reason;
           return text_cell(known.empty() && !line.in.comparison.step ? kOneRun : std::string_view(known));
         }},
    }};

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

const Fields<ReasonLine> kReasonFields = DeclaredFields<ReasonLine>{
    "compare_reasons",
    {
        {"trace", [](const auto& line) { return line.in.candidate.description.label; }},
        {"phase", [](const auto& line) { return line.group.group->group.label; }},
        {"rank", &ReasonLine::rank},
        {"cause", [](const auto& line) { return std::string(to_string(line.reason.cause)); }},
        {"op", [](const auto& line) { return text_cell(line.reason.op); }},
        {"role", [](const auto& line) { return text_cell(line.reason.role); }},
        {"member", [](const auto& line) { return text_cell(line.reason.member); }},
        {"place", &ReasonLine::place},
        {"layers_moved", [](const auto& line) { return line.layers(line.reason.place.moved); }},
        {"layers", [](const auto& line) { return line.layers(line.reason.place.compared); }},
        {"baseline", [](const auto& line) { return line.reason.change.baseline; }},
        {"candidate", [](const auto& line) { return line.reason.change.candidate; }},
        {"change", [](const auto& line) { return line.reason.change.change; }},
        {"share_pct", [](const auto& line) { return line.reason.share ? Cell(100 * *line.reason.share) : Cell{}; }},
        {"count_effect", [](const auto& line) { return line.reason.change.count_effect; }},
        {"duration_effect", [](const auto& line) { return line.reason.change.duration_effect; }},
        {"baseline_n", [](const auto& line) { return count_cell(line.reason.baseline_n, 1, line.in.human_readable); }},
        {"candidate_n",
         [](const auto& line) { return count_cell(line.reason.candidate_n, 1, line.in.human_readable); }},
        {"low", [](const auto& line) { return line.reason.interval ? Cell(line.reason.interval->low) : Cell{}; }},
        {"high", [](const auto& line) { return line.reason.interval ? Cell(line.reason.interval->high) : Cell{}; }},
        {"baseline_kernel", [](const auto& line) { return line.kernel(&ChangedPair::baseline); }},
        {"candidate_kernel", [](const auto& line) { return line.kernel(&ChangedPair::candidate); }},
        {"host", [](const auto& line) { return line.reason.host ? Cell(line.reason.host->frame) : Cell{}; }},
        {"host_pct", [](const auto& line) { return line.reason.host ? Cell(100 * line.reason.host->share) : Cell{}; }},
        {"host_calls", [](const auto& line) { return line.reason.host ? Cell(line.reason.host->calls) : Cell{}; }},
        {"path", [](const auto& line) { return line.reason.path ? Cell(line.reason.path->length) : Cell{}; }},
        {"path_without", [](const auto& line) { return line.reason.path ? Cell(line.reason.path->without) : Cell{}; }},
        {"path_certainty",
         [](const auto& line) { return line.reason.path ? Cell(certainty(*line.reason.path)) : Cell{}; }},
        {"next", [](const auto& line) { return shell_text(next_step_of(line.group, line.reason, line.in)); }},
        {"next_step",
         [](const auto& line) {
           return line.in.human_readable ? Cell{} : json_text(next_step_of(line.group, line.reason, line.in));
         }},
    }};

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
