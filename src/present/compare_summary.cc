#include "present/compare_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "present/compare_cells.h"

namespace tracedb {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string time_text(const MedianDraws& of, std::size_t steps) {
  return steps > 0 ? fact_text(of.median, Unit::kTime, TimeUnit::kAuto) : "unknown";
}

// For people: the change as a text before the verdict, which no narrow terminal leaves out as it does figures.
void put_change_first(Report& report) {
  const auto text = [](const Cell& percent) {
    const auto* value = std::get_if<double>(&percent);
    return value != nullptr ? fmt::format("{:+.1f} %", *value) : std::string();
  };
  for (Row& row : report.rows) row = {row[0], row[1], row[2], text(row[4]), row[3], row[5], row[6]};
  report.columns[4] = std::exchange(report.columns[3], {"change_pct", "Change", Unit::kText});
  report.columns[5].head = "95 % from (%)";
  report.columns[6].head = "to (%)";
}

// Times are medians of the device time of a step: "period" from its start to that of the next one, where steps of a
// kind follow each other, "period to KIND" where one of another kind comes next, "span" from its first kernel to the
// end of its last. Shares are of the kernel time: "aligned" has a partner on the other side or is accounted for by a
// fusion, "compared" is in steps that both sides have, "same kernels" have name and launch configuration in common.
// "overall" is all kinds of steps, each as often as both sides have it in the mean, by period where both sides have
// one, "overall: span" by span.
class Summary {
 public:
  explicit Summary(const SectionInput& in) : in_(in) {
    out_.columns = {{"item", "Item", Unit::kText, OthersAggregate::kLabel, Fit::kWrapped},
                    {"baseline", "Baseline", Unit::kText, OthersAggregate::kNone, Fit::kWrapped},
                    {"candidate", "Candidate", Unit::kText, OthersAggregate::kNone, Fit::kWrapped},
                    {"verdict", "Verdict", Unit::kText, OthersAggregate::kNone, Fit::kWrapped},
                    {"change_pct", "Change (%)", Unit::kPercent},
                    {"low_pct", "95 % from", Unit::kPercent},
                    {"high_pct", "to", Unit::kPercent}};
    out_.whole = true;
  }

  Report take() {
    const Comparison& c = in_.comparison;
    add("trace", in_.baseline.description.label, in_.candidate.description.label);
    add("devices", in_.baseline.description.devices, in_.candidate.description.devices);
    for (const GroupComparison& group : c.groups) headline(group);
    for (const GroupComparison& group : c.groups) basis(group);
    add("compared", percent(c.baseline_share), percent(c.candidate_share));
    add("same kernels", percent(c.same.baseline_share), percent(c.same.candidate_share));
    add("figures", fmt::format("per {}", to_string(c.normalise)), "");
    add_change("overall", c.overall);
    const bool by_period = std::any_of(c.groups.begin(), c.groups.end(),
                                       [](const GroupComparison& g) { return g.by_period() || g.by_transition(); });
    if (by_period) add_change("overall: span", c.overall_span);
    if (in_.human_readable) {
      put_change_first(out_);
      drop_empty_columns(out_, {"low_pct", "high_pct"});
    }
    return std::move(out_);
  }

 private:
  void add(std::string item, std::string a, std::string b) {
    out_.rows.push_back({std::move(item), std::move(a), std::move(b), std::string(), Cell{}, Cell{}, Cell{}});
  }

  void add_change(std::string item, const Change& change) {
    add(std::move(item), time_text(change.baseline, change.baseline_steps),
        time_text(change.candidate, change.candidate_steps));
    Row& row = out_.rows.back();
    row[3] = verdict_text(change, in_.human_readable);
    if (change.baseline_steps == 0 || change.candidate_steps == 0) return;
    row[4] = share_of(change.difference(), change.baseline.median);
    const bool few = std::min(change.baseline_steps, change.candidate_steps) < VerdictRule{}.least_steps;
    if (few && in_.human_readable) return;  // no interval to go by
    row[5] = share_of(change.interval.low, change.baseline.median);
    row[6] = share_of(change.interval.high, change.baseline.median);
  }

  void headline(const GroupComparison& group) {
    const std::string& label = group.group.label;
    if (!group.group.whole_trace) {
      add(label + ": steps", std::to_string(group.group.baseline.device_steps.size()),
          std::to_string(group.group.candidate.device_steps.size()));
    }
    if (group.baseline.periods.known() || group.candidate.periods.known()) {
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
    add(group.group.label + ": tokens/s", text(a), text(b));
    if (a && b) out_.rows.back()[4] = share_of(*b - *a, *a);
  }

  // In gaps in which the device waits for a host that is slowed by recording them.
  void recorded_calls(const GroupComparison& group) {
    if (!group.baseline.waits.bound() && !group.candidate.waits.bound()) return;
    const auto text = [](const HostWaits& waits) {
      return waits.bound() ? fmt::format("{} in {} gaps", waits.calls, waits.gaps) : "not bound by the host";
    };
    add(group.group.label + ": recorded calls", text(group.baseline.waits), text(group.candidate.waits));
  }

  // What few steps say, in the row of the layers or of what is aligned, or in one of its own.
  void tell(const GroupComparison& group, std::string_view what) {
    for (const Tally& tally : group.tallies) {
      if (tally.what != what) continue;
      const std::string item = fmt::format("{}: {}", group.group.label, what == "aligned kernels" ? "aligned" : what);
      if (std::get<std::string>(out_.rows.back()[0]) != item) add(item, "", "");
      out_.rows.back()[3] = to_string(tally);
      out_.rows.back()[4] = 100 * tally.median;
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
    add(label + ": aligned", known ? percent(group.alignment.baseline_share) : "unknown",
        known ? percent(group.alignment.candidate_share) : "unknown");
    tell(group, "aligned kernels");
  }

  const SectionInput& in_;
  Report out_;
};

}  // namespace

Report summary_section(const SectionInput& input) { return Summary(input).take(); }

}  // namespace tracedb
