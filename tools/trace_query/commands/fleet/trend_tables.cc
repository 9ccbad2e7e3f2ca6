#include "trace_query/commands/fleet/trend_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/statistics.h"
#include "base/text/amounts.h"
#include "present/cells.h"
#include "trace_query/commands/fleet/catalogue_input.h"

namespace tracedb {
namespace {

using Others = OthersAggregate;

// Three significant digits in the unit of the larger.
std::string times_text(double before, double after) {
  const double size = std::max(std::abs(before), std::abs(after));
  const double unit = size < 1e3 ? 1 : size < 1e6 ? 1e3 : size < 1e9 ? 1e6 : 1e9;
  const char* name = size < 1e3 ? "ns" : size < 1e6 ? "us" : size < 1e9 ? "ms" : "s";
  return fmt::format("{:.3g} -> {:.3g} {}", before / unit, after / unit, name);
}

std::optional<double> percent(double before, double after) {
  if (before == 0) return std::nullopt;
  return 100 * (after - before) / before;
}

// The point of the n-th value.
const TrendPoint& point_at(const TrendSeries& series, std::size_t value) {
  std::size_t seen = 0;
  for (const TrendPoint& point : series.points) {
    if (point.value && seen++ == value) return point;
  }
  return series.points.back();
}

std::string date_of(const TrendPoint& point) { return date_text(point.date_ns); }

double middle_of(std::vector<double> values) { return median(std::span(values)); }

std::string listed(std::span<const double> values) {
  std::string out;
  for (const double value : values) out += (out.empty() ? "" : ", ") + short_duration_text(value);
  return out;
}

// What happens at a point.
Cell change_cell(const TrendSeries& series, const TrendPoint& point) {
  if (!point.change) return {};
  const ChangePoint& here = series.changes[point.segment - 1];
  const auto by = percent(here.before, here.after);
  const std::string_view mark = here.after > here.before ? kWorseMark : kBetterMark;
  return fmt::format("{}{}{}", mark, by ? fmt::format("{:+.1f} %: ", *by) : "", times_text(here.before, here.after));
}

std::vector<Column> series_columns() {
  return {
      {"series", "Series", Unit::kText, Others::kLabel, Fit{6}, "what its traces have in common"},
      {"metric", "Metric", Unit::kText, Others::kNone, Fit{3},
       "period, span (medians over the steps of a trace), op:CLASS or kernel:NAME, in ns of a step"},
      {"headline", "Headline", Unit::kText, Others::kNone, Fit::kWrapped, "the last change of the level"},
      {"runs", "Runs", Unit::kCount, Others::kSum, Fit{6}, "traces that have the metric"},
      {"unknown", "Unknown", Unit::kCount, Others::kSum, Fit{2}, "traces that do not"},
      {"changes", "Changes", Unit::kCount, Others::kSum, Fit{7}, "changes of the level"},
      {"first", "First (UTC)", Unit::kText, Others::kNone, Fit{3}, "date of the first trace"},
      {"last", "Last (UTC)", Unit::kText, Others::kNone, Fit{3}, "date of the last trace"},
      {"changed_at", "Changed At (UTC)", Unit::kText, Others::kNone, Fit{6},
       "date of the first trace of the newest level"},
      {"before", "Before", Unit::kTime, Others::kNone, Fit{7}, "median of the level before the newest"},
      {"now", "Now", Unit::kTime, Others::kNone, Fit{8}, "median of the newest level"},
      {"change_pct", "Change (%)", Unit::kPercent, Others::kNone, Fit{8}, "of the newest level against the one before"},
      {"p", "p", Unit::kAny, Others::kNone, Fit{2}, "share of random orders of the runs with a change as large"},
  };
}

std::vector<Column> point_columns() {
  return {
      {"series", "Series", Unit::kText, Others::kNone, Fit{10}, "what its traces have in common"},
      {"run", "Run", Unit::kCount, Others::kNone, Fit{6}, "number in its series, in order of time"},
      {"date", "Date (UTC)", Unit::kText, Others::kNone, Fit{8},
       "first event of the trace, or when its file was changed last"},
      {"dated_by", "Dated By", Unit::kText, Others::kNone, Fit{1}, "trace or file"},
      {"value", "Value", Unit::kTime, Others::kNone, Fit{9}, "the metric; unknown: the trace does not have it"},
      {"change", "Change", Unit::kText, Others::kNone, Fit{8}, "where the level changes: from which median to which"},
      {"level", "Level", Unit::kCount, Others::kNone, Fit{3}, "number of changes before it"},
      {"name", "Name", Unit::kText, Others::kLabel, Fit{7}, "file of the trace"},
  };
}

}  // namespace

std::optional<double> last_change_pct(const TrendSeries& series) {
  if (series.changes.empty()) return std::nullopt;
  return percent(series.changes.back().before, series.changes.back().after);
}

Sentence trend_headline(const TrendSeries& series, const std::string& metric) {
  const std::vector<double> values = series.values();
  const Figure what{"what", series.phase.empty() ? metric : series.phase + " " + metric};
  if (values.empty()) return say("trend.unknown", "{what}: not known of any run", {what});
  if (values.size() == 1) {
    return say("trend.one", "{what}: {value:duration} in its only run", {what, {"value", values.front()}});
  }
  if (!series.is_long) {
    return say("trend.few", "{what}: {values} in {runs:# run}: too few to tell a change",
               {what, {"values", listed(values)}, {"runs", values.size()}});
  }
  if (series.changes.empty()) {
    const double before = middle_of({values.begin(), values.end() - 1});
    return say(
        "trend.even",
        "{what}: no change shown in {runs:# run}: {last:duration} in the last, {before:duration} before (median)",
        {what, {"runs", values.size()}, {"last", values.back()}, {"before", before}});
  }
  const ChangePoint& last = series.changes.back();
  const auto change = last_change_pct(series);
  const Sentence by = change ? say("", "{how} {change:.1f%}",
                                   {{"how", *change < 0 ? "fell" : "rose"}, {"change", std::abs(*change) / 100}})
                             : say("", "{how}", {{"how", "rose"}});
  return say(
      "trend.change", "{what} {by} at {date} (run {run} of {runs}): {level}{more}",
      {what,
       {"by", by},
       {"date", date_of(point_at(series, last.at))},
       {"run", last.at + 1},
       {"runs", values.size()},
       {"level", Sentence{times_text(last.before, last.after), "", {{"before", last.before}, {"after", last.after}}}},
       {"more", series.changes.size() > 1
                    ? say("", "; the last of {changes} changes", {{"changes", series.changes.size()}})
                    : Sentence{}}});
}

Report trend_series(std::span<const TrendSeries> series, const std::string& metric) {
  Report out{series_columns(), {}};
  for (const TrendSeries& one : series) {
    const std::vector<double> values = one.values();
    const bool changed = !one.changes.empty();
    const auto change = last_change_pct(one);
    out.rows.push_back({one.label, metric, trend_headline(one, metric).text, static_cast<std::int64_t>(values.size()),
                        static_cast<std::int64_t>(one.points.size() - values.size()),
                        static_cast<std::int64_t>(one.changes.size()), date_of(one.points.front()),
                        date_of(one.points.back()),
                        changed ? Cell(date_of(point_at(one, one.changes.back().at))) : Cell(),
                        changed ? time_cell(one.changes.back().before) : Cell(),
                        changed          ? time_cell(one.changes.back().after)
                        : values.empty() ? Cell()
                                         : time_cell(middle_of(values)),
                        change ? Cell(*change) : Cell(), changed ? Cell(one.changes.back().p) : Cell()});
  }
  return out;
}

Report trend_points(std::span<const TrendSeries> series, const std::string& metric) {
  Report out{point_columns(), {}};
  const auto value = std::find_if(out.columns.begin(), out.columns.end(), [](auto& one) { return one.key == "value"; });
  if (metric == "period" || metric == "span") value->head = metric == "period" ? "Med Period" : "Med Span";
  for (const TrendSeries& one : series) {
    std::int64_t run = 0;
    for (const TrendPoint& point : one.points) {
      run += point.value ? 1 : 0;
      const std::filesystem::path& named = point.entry->trace.empty() ? point.entry->index : point.entry->trace;
      out.rows.push_back({one.label, point.value ? Cell(run) : Cell(), date_of(point), point.dated ? "trace" : "file",
                          point.value ? time_cell(*point.value) : Cell(), change_cell(one, point),
                          static_cast<std::int64_t>(point.segment), named.filename().string()});
    }
  }
  return out;
}

}  // namespace tracedb
