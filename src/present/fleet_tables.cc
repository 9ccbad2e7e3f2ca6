#include "present/fleet_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/statistics.h"
#include "base/text/amounts.h"
#include "present/cells.h"

namespace tracedb {

std::string date_text(std::int64_t ns_since_epoch) {
  constexpr std::size_t kToMinutes = 16;
  return moment_text(ns_since_epoch).substr(0, kToMinutes);
}

namespace {

Cell text_cell(const std::optional<std::string>& text) { return text ? Cell(*text) : Cell(); }
Cell number_cell(const std::optional<std::int64_t>& number) { return number ? Cell(*number) : Cell(); }

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

std::vector<Column> catalogue_columns() {
  return {
      {"name", "Name", Unit::kText, Others::kLabel, Fit{9},
       "file of the trace, or of an index whose trace is not there"},
      {"state", "State", Unit::kText, Others::kNone, Fit{3},
       "indexed, no trace (the index alone is there), out of date, not indexed, unusable"},
      {"vendor", "Vendor", Unit::kText, Others::kNone, Fit{2}, "of the devices"},
      {"gpu", "GPU", Unit::kText, Others::kNone, Fit{6}, "model of the device; unknown: the trace does not say"},
      {"framework", "Framework", Unit::kText, Others::kNone, Fit{3}, "by its Python code or its step marks; a guess"},
      {"model", "Model", Unit::kText, Others::kNone, Fit{3},
       "class of the outermost module, else what the kernels look like; a guess"},
      {"rank", "Rank", Unit::kCount, Others::kNone, Fit{10}, "of the job"},
      {"world_size", "World Size", Unit::kCount, Others::kNone, Fit{2}, "ranks of the job"},
      {"steps", "Steps", Unit::kCount, Others::kSum, Fit{7}, "steps"},
      {"phase", "Phase", Unit::kText, Others::kNone, Fit{2}, "kind of step with most kernel time"},
      {"period", "Med Period", Unit::kTime, Others::kNone, Fit{8}, "median of that kind, as phases has it"},
      {"span", "Med Span", Unit::kTime, Others::kNone, Fit{2},
       "median time from first kernel to end of the last of a step of that kind"},
      {"kernels", "Kernels", Unit::kCount, Others::kSum, Fit{7}, "kernels"},
      {"gpu_time", "GPU Time", Unit::kTime, Others::kSum, Fit{7},
       "sum of the kernel times; unknown of AI Engines, which count cycles"},
      {"date", "Date (UTC)", Unit::kText, Others::kNone, Fit{4},
       "first event of the trace, to the minute; unknown: its clock has no date"},
      {"date_ns", "Date (ns)", Unit::kCount, Others::kNone, Fit{1}, "the same in ns since 1970"},
      {"format", "Format", Unit::kText, Others::kNone, Fit{2}, "what wrote the trace"},
      {"complete", "Complete", Unit::kCount, Others::kNone, Fit{1}, "0: the trace is cut short"},
      {"bytes", "Bytes", Unit::kBytes, Others::kSum, Fit{1}, "size of the index, or of a trace without one"},
      {"trace", "Trace", Unit::kText, Others::kNone, Fit{1}, "path of the trace"},
      {"index_path", "Index", Unit::kText, Others::kNone, Fit{1}, "path of the index"},
  };
}

Row catalogue_row(const CatalogueEntry& entry) {
  const TraceSummary& one = entry.summary;
  const bool known = entry.state != CatalogueState::kNotIndexed && entry.state != CatalogueState::kUnusable;
  const PhaseSummary* phase = one.main_phase();
  const std::filesystem::path& named = entry.trace.empty() ? entry.index : entry.trace;
  const auto if_known = [known](Cell cell) { return known ? std::move(cell) : Cell(); };
  return {named.filename().string(),
          std::string(to_string(entry.state)),
          text_cell(one.vendor),
          text_cell(one.gpu),
          text_cell(one.framework),
          text_cell(one.model),
          number_cell(one.rank),
          number_cell(one.world_size),
          if_known(one.steps()),
          phase == nullptr ? Cell() : Cell(phase->phase),
          phase == nullptr ? Cell() : number_cell(phase->period),
          phase == nullptr ? Cell() : number_cell(phase->span),
          if_known(one.kernels),
          one.format == "aie" ? Cell() : if_known(one.kernel_time),
          one.date_ns ? Cell(date_text(*one.date_ns)) : Cell(),
          number_cell(one.date_ns),
          text_cell(one.format),
          if_known(std::int64_t{one.complete}),
          static_cast<std::int64_t>(entry.bytes),
          entry.trace.empty() ? Cell() : Cell(entry.trace.string()),
          entry.index.empty() ? Cell() : Cell(entry.index.string())};
}

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
