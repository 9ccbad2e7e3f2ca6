// The sections `verdict` and `reasons` of a comparison: what its page says, as data.
#include <fmt/format.h>

#include "compare/reasons.h"
#include "present/cells.h"
#include "present/sections.h"
#include "present/words.h"
#include "report/sql_report.h"

namespace tracedb {
namespace {

Cell place_cell(const SectionInput& in, const Reason& reason) {
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

void add_reason(const SectionInput& in, const GroupReasons& group, const Reason& reason, std::int64_t rank,
                Report& table) {
  const auto layers = [&](std::size_t number) {
    return reason.place.compared > 0 ? Cell(static_cast<std::int64_t>(number)) : Cell{};
  };
  const auto kernel = [&](NameId ChangedPair::*side) {
    return known_cell(reason.pair, [&](const ChangedPair& pair) { return in.kernel_names.entries()[pair.*side].name; });
  };
  const auto percent = [](double share) { return 100 * share; };
  const auto host_percent = [](const HostFrame& host) { return 100 * host.share; };
  const LedgerChange& change = reason.change;
  const NextStep next = next_step_of(group, reason, in);
  add_row(table, {{"trace", in.candidate.description.label},
                  {"phase", group.group->group.label},
                  {"rank", rank},
                  {"cause", std::string(to_string(reason.cause))},
                  {"op", text_cell(reason.op)},
                  {"role", text_cell(reason.role)},
                  {"member", text_cell(reason.member)},
                  {"place", place_cell(in, reason)},
                  {"layers_moved", layers(reason.place.moved)},
                  {"layers", layers(reason.place.compared)},
                  {"baseline", change.baseline},
                  {"candidate", change.candidate},
                  {"change", change.change},
                  {"share_pct", known_cell(reason.share, percent)},
                  {"count_effect", change.count_effect},
                  {"duration_effect", change.duration_effect},
                  {"baseline_n", count_cell(reason.baseline_n, 1, in.human_readable)},
                  {"candidate_n", count_cell(reason.candidate_n, 1, in.human_readable)},
                  {"low", known_cell(reason.interval, &Interval::low)},
                  {"high", known_cell(reason.interval, &Interval::high)},
                  {"baseline_kernel", kernel(&ChangedPair::baseline)},
                  {"candidate_kernel", kernel(&ChangedPair::candidate)},
                  {"host", known_cell(reason.host, &HostFrame::frame)},
                  {"host_pct", known_cell(reason.host, host_percent)},
                  {"host_calls", known_cell(reason.host, &HostFrame::calls)},
                  {"path", known_cell(reason.path, &PathWithout::length)},
                  {"path_without", known_cell(reason.path, &PathWithout::without)},
                  {"path_certainty", known_cell(reason.path,
                                                [](const PathWithout& path) {
                                                  return path.is_inferred ? "inferred" : "by the releases";
                                                })},
                  {"next", shell_text(next)},
                  {"next_step", in.human_readable ? Cell{} : json_text(next)}});
}

}  // namespace

void add_verdicts(const SectionInput& in, Report& table) {
  table.whole = true;
  const auto add = [&](const std::string& phase, const std::string& measure, const Change& change) {
    const bool few = std::min(change.baseline_steps, change.candidate_steps) < kLeastSteps;
    const auto end = [&](double at) { return few ? Cell{} : end_cell(change, at, in.human_readable); };
    const std::string& known = change.reason.empty() ? change.caveat : change.reason;
    add_row(table, cells_of_change(phase, measure, change,
                                   {{"trace", in.candidate.description.label},
                                    {"change_pct", share_cell(change.difference(), change.baseline.mean)},
                                    {"low", end(change.interval.low)},
                                    {"high", end(change.interval.high)},
                                    {"verdict", std::string(to_string(change.verdict))},
                                    {"reason", text_cell(known.empty() && !in.comparison.step ? kOneRun : known)}}));
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
}

void add_reasons(const SectionInput& in, Report& table) {
  table.whole = true;
  for (const GroupReasons& group : find_reasons(in.comparison, in.sources())) {
    std::int64_t rank = 0;
    for (const Reason& reason : group.reasons) add_reason(in, group, reason, ++rank, table);
  }
  if (in.human_readable) drop_empty_columns(table, {"next_step"});
}

void add_sentences(const SectionInput& in, Report& table) {
  constexpr std::size_t kWidth = 80;  // of the page that compare prints
  table.whole = true;
  const std::vector<GroupReasons> reasons = find_reasons(in.comparison, in.sources());
  for (const Block& block : compare_page({in, reasons, "A", "B"}, kWidth)) {
    add_sentence(table, in.candidate.description.label, {block.text, block.id, block.figures});
  }
}

}  // namespace tracedb
