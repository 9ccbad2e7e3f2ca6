// The section `summary` of a comparison, which a reader sees first.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text/amounts.h"
#include "present/cells.h"
#include "present/sections.h"
#include "present/step_words.h"
#include "report/cell_text.h"

namespace tracedb {
namespace {

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

}  // namespace

const TableOf<SectionInput> kSummaryTable = {[] { return columns_of(kSummaryFields); },
                                             [](const SectionInput& input) { return Summary(input).take(); }};

}  // namespace tracedb
