#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/text/amounts.h"
#include "present/cells.h"
#include "present/words.h"
#include "report_page/html/safe_text.h"
#include "report_page/report_page.h"

namespace tracedb {
namespace {

constexpr std::size_t kTextWidth = 200;  // a window breaks lines itself; this decides how much is said

// ---- two sets of runs

constexpr std::size_t kMostSetPhases = 3, kMostDotRows = 5, kMostSetRows = 16;

std::int64_t whole(double ns) { return std::llround(ns); }

// A measure of the runs: the dots of either side, and the interval of the change.
void add_dots(DataWriter& data, std::string_view label, const SetComparison& one, double baseline, double candidate,
              const std::optional<Interval>& range, const std::function<double(const SetRun&)>& value) {
  data.open('{').member("label", label);
  data.member("means", std::vector{whole(baseline), whole(candidate)});
  if (range) data.member("low", whole(range->low)).member("high", whole(range->high));
  for (int side = 0; side < 2; ++side) {
    std::vector<std::string> names;
    std::vector<std::int64_t> values;
    for (const SetRun& run : one.runs) {
      if (run.side != side || run.rows.empty()) continue;
      names.push_back(run.name);
      values.push_back(whole(value(run)));
    }
    data.member(side == 0 ? "a" : "b", values).member(side == 0 ? "a_names" : "b_names", names);
  }
  data.close('}');
}

Picture dots(const PhaseAnswer& phase) {
  const SetComparison& one = phase.comparison;
  DataWriter data;
  data.member("unit", "ns").key("rows").open('[');
  add_dots(data, phase.measure(), one, one.period.baseline, one.period.candidate, one.period.range,
           [](const SetRun& run) { return run.period; });
  const SetMetric& equal = one.period_at_equal_speed;
  if (equal.range) {
    add_dots(data, phase.measure_at_equal_speed(), one, equal.baseline, equal.candidate, equal.range,
             [](const SetRun& run) { return run.period_at_equal_speed; });
  }
  std::size_t said = 0;
  for (std::size_t i = 0; i < one.rows.size() && said < kMostDotRows; ++i) {
    const SetRow& row = one.rows[i];
    if (!row.named) continue;
    ++said;
    add_dots(data, row.name, one, row.baseline, row.candidate, row.range,
             [i](const SetRun& run) { return run.rows[i]; });
  }
  return {id_of("dots", phase.phase.label), "dots", fmt::format("Runs of {}", phase.phase.label),
          "One mark a run, at equal load; the bar is the 95 % interval of the change, drawn from the baseline's mean.",
          data.close(']').take()};
}

// Both ends are mean periods over all steps; the rows add up to their difference.
Picture waterfall_of_sets(const PhaseAnswer& phase) {
  const SetComparison& one = phase.comparison;
  DataWriter data;
  const std::int64_t start = whole(one.baseline);
  data.member("unit", "ns").member("phase", phase.phase.label);
  data.key("start").open('{').member("label", "baseline").member("value", start).close('}').key("rows").open('[');
  std::int64_t rest = one.change;
  std::size_t shown = 0, left = 0;
  for (const SetRow& row : one.rows) {
    if (row.change == 0) continue;
    if (shown == kMostSetRows) {
      ++left;
      continue;
    }
    ++shown;
    rest -= row.change;
    const bool is_sure = row.named || (row.kind != SetRowKind::kPart && !row.uncertain());
    data.open('{').member("label", row.name).member("value", row.change).member("class", is_sure ? "compute" : "rest");
    if (row.range) data.member("low", whole(row.range->low)).member("high", whole(row.range->high));
    data.member("detail", is_sure     ? "more than what varies from run to run"
                          : row.range ? "no more than what varies from run to run"
                                      : "not judged");
    data.close('}');
  }
  if (rest != 0) {
    data.open('{').member("label", "[others]").member("value", rest).member("class", "rest");
    data.member("detail", fmt::format("{} more rows", left)).close('}');
  }
  data.close(']').key("end").open('{').member("label", "candidate").member("value", start + one.change).close('}');
  return {
      id_of("waterfall", phase.phase.label), "waterfall", fmt::format("What changes the mean of {}", phase.phase.label),
      "Means over runs, parts at equal load and speed; the rows add up to the change to the nanosecond. Whiskers are "
      "95 % intervals; pale rows are no more than what varies from run to run, or not judged.",
      data.take()};
}

}  // namespace

ReportPage comparison_page(const ComparisonPageInput& input) {
  const SectionInput& in = input.in;
  const TraceDescription& a = in.baseline.description;
  const TraceDescription& b = in.candidate.description;
  const SideNames names = side_names(a.devices, b.devices, a.label, b.label);
  ReportPage page;
  page.kind = page.command = "compare";
  page.title = fmt::format("{} and {}: compare", a.label, b.label);
  page.sides = {{"a", names.baseline, a.label, a.devices}, {"b", names.candidate, b.label, b.devices}};
  const auto reasons = find_reasons(in.comparison, in.sources());
  page.text = compare_page({in, reasons, input.baseline, input.candidate}, kTextWidth);
  const PictureInput pictures = {{&in.baseline, &in.candidate},
                                 {&in.baseline_index, &in.candidate_index},
                                 {names.baseline, names.candidate},
                                 in.kernel_names,
                                 in.comparison};
  add_pictures(pictures, page);
  for (const Section* section : input.tables) {
    Report report = section->table_of(in);
    drop_column(report, "trace");
    if (CycleWords::active()) name_cycles(report);
    page.tables.push_back(table_of(section->name, section->summary, std::move(report)));
  }
  return page;
}

ReportPage sets_report_page(const SetsAnswer& answer, std::span<const SetSection* const> tables) {
  ReportPage page;
  page.kind = "compare";
  page.command = "compare_sets";
  page.title = "Sets of runs: compare";
  for (std::size_t side = 0; side < 2; ++side) {
    const auto& runs = answer.runs[side];
    page.sides.push_back(
        {side == 0 ? "a" : "b", kSideNames[side], counted(runs.size(), "run"), runs.empty() ? "" : runs.front().gpu});
  }
  page.text = sets_page(answer, kTextWidth);
  for (std::size_t i = 0; i < answer.phases.size() && i < kMostSetPhases; ++i) {
    if (answer.phases[i].comparison.rows.empty()) continue;
    page.pictures.push_back(dots(answer.phases[i]));
    page.pictures.push_back(waterfall_of_sets(answer.phases[i]));
  }
  for (const SetSection* section : tables) {
    page.tables.push_back(table_of(section->name, section->summary, section->table_of(answer)));
  }
  return page;
}

}  // namespace tracedb
