#include "present/fleet_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "base/statistics.h"
#include "base/text/amounts.h"
#include "compare/runs/set_statistics.h"
#include "present/cells.h"

namespace tracedb {

namespace {

// Three significant digits in the unit of the larger.
std::string times_text(double before, double after) {
  const double size = std::max(std::abs(before), std::abs(after));
  const double unit = size < 999.5 ? 1 : size < 999.5e3 ? 1e3 : size < 999.5e6 ? 1e6 : 1e9;
  const char* name = unit == 1 ? "ns" : unit == 1e3 ? "us" : unit == 1e6 ? "ms" : "s";
  return fmt::format("{:.3g} -> {:.3g} {}", before / unit, after / unit, name);
}

constexpr double kNewWork = std::numeric_limits<double>::infinity();  // percent more than none

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
  return fmt::format("{}{}{}{}", mark, by ? fmt::format("{:+.1f} %: ", *by) : "", times_text(here.before, here.after),
                     here.steady ? " steadily" : "");
}

// Of the load that the value grows by at the most.
double power_of(const TrendSeries& series) { return std::ranges::max(series.points, {}, &TrendPoint::power).power; }

// Of the runs of the values from `at` on, as long as their load does not change, against those from `begin`.
LoadDifference load_between(const TrendSeries& series, std::size_t begin, std::size_t at) {
  const std::size_t end = series.load_change && series.load_change->at > at ? series.load_change->at : SIZE_MAX;
  std::vector<double> before, after;
  std::size_t place = 0;
  for (const TrendPoint& point : series.points) {
    if (!point.value) continue;
    if (place >= begin && place < end) (place < at ? before : after).push_back(point.load);
    ++place;
  }
  return {middle_of(before), middle_of(after), false, power_of(series)};
}

// Where it is a considerable part of a change of that many percent.
Sentence load_words(const LoadDifference& load, double change) {
  if (!is_considerable(load.share(), change / 100)) return {};
  return say("load", ", at {share:.1f%} {how} load a step",
             {{"share", std::abs(load.share())}, {"how", load.share() > 0 ? "more" : "less"}});
}

// How much more (percent) the newest level is than the one before; unknown: the level never changed, or was 0.
std::optional<double> last_change_pct(const TrendSeries& series) {
  if (series.changes.empty()) return std::nullopt;
  return percent(series.changes.back().before, series.changes.back().after);
}

// Of the runs of the level before the newest, and of these; 0: it is not known, or taken out.
LoadDifference last_load(const TrendSeries& series) {
  const ChangePoint& last = series.changes.back();
  if (last.steady) {  // between its halves it changes half as much
    LoadDifference out = load_between(series, last.at - 1, (last.at + series.values().size()) / 2);
    out.candidate += out.candidate - out.baseline;
    return out;
  }
  return load_between(series, series.changes.size() > 1 ? series.changes[series.changes.size() - 2].at : 0, last.at);
}

// Within the newest level; 0: it does not change.
LoadDifference load_in_level(const TrendSeries& series) {
  if (!series.load_change) return {};
  return {series.load_change->before, series.load_change->after, false, power_of(series)};
}

struct SetOfRuns {
  std::string name;
  std::vector<double> values, loads;
};

// In the order in which they first occur.
std::vector<SetOfRuns> sets_of(const TrendSeries& series, const SetOfPoint& set_of) {
  std::vector<SetOfRuns> out;
  for (const TrendPoint& point : series.points) {
    if (!point.value) continue;
    const std::string name = set_of(point);
    auto known = std::ranges::find(out, name, &SetOfRuns::name);
    if (known == out.end()) known = out.insert(out.end(), {name, {}, {}});
    known->values.push_back(*point.value);
    known->loads.push_back(point.load);
  }
  return out;
}

}  // namespace

std::string date_text(std::int64_t ns_since_epoch) {
  constexpr std::size_t kToMinutes = 16;
  return moment_text(ns_since_epoch).substr(0, kToMinutes);
}

Row catalogue_row(const CatalogueEntry& entry) {
  const TraceSummary& one = entry.summary;
  const bool known = entry.state != CatalogueState::kNotIndexed && entry.state != CatalogueState::kUnusable;
  const PhaseSummary* phase = one.main_phase();
  const auto if_known = [known](Cell cell) { return known ? std::move(cell) : Cell(); };
  return {entry.named().filename().string(),
          std::string(to_string(entry.state)),
          known_cell(one.vendor),
          known_cell(one.gpu),
          known_cell(one.framework),
          known_cell(one.model),
          known_cell(one.rank),
          known_cell(one.world_size),
          if_known(one.steps()),
          phase == nullptr ? Cell() : Cell(phase->phase),
          phase == nullptr ? Cell() : known_cell(phase->period),
          phase == nullptr || !phase->period ? Cell() : Cell(phase->on_host ? "host" : "device"),
          phase == nullptr ? Cell() : known_cell(phase->span),
          if_known(one.kernels),
          one.format == "aie" ? Cell() : if_known(one.kernel_time),
          one.date_ns ? Cell(date_text(*one.date_ns)) : Cell(),
          known_cell(one.date_ns),
          known_cell(one.format),
          if_known(std::int64_t{one.complete}),
          entry.is_folder() ? Cell() : Cell(static_cast<std::int64_t>(entry.bytes)),
          entry.trace.empty() ? Cell() : Cell(entry.trace.string()),
          entry.index.empty() ? Cell() : Cell(entry.index.string()),
          entry.reason};
}

// How many kernels the traces have before and behind a change, where all have as many steps, and all of one side more
// kernels than all of the other: then other work is part of it.
Sentence work_words(const TrendSeries& series, std::size_t begin, std::size_t at) {
  std::array<std::vector<double>, 2> sides;
  std::set<std::int64_t> steps;
  std::size_t place = 0;
  for (const TrendPoint& point : series.points) {
    if (!point.value) continue;
    const TraceSummary& one = point.run.front()->summary;
    if (place >= begin && one.complete) {
      sides[place < at ? 0 : 1].push_back(static_cast<double>(one.kernels));
      steps.insert(one.steps());
    }
    ++place;
  }
  if (sides[0].empty() || sides[1].empty() || steps.size() > 1) return {};
  const auto [least, most] = std::ranges::minmax(sides[0]);
  const auto [least_new, most_new] = std::ranges::minmax(sides[1]);
  constexpr double kConsiderable = 1.01;
  if (least_new < most * kConsiderable && least < most_new * kConsiderable) return {};
  return say("work", "; kernels of a trace of {steps:# step}: {before:.6g} -> {after:.6g}",
             {{"steps", *steps.begin()}, {"before", middle_of(sides[0])}, {"after", middle_of(sides[1])}});
}

double newest_pct(const TrendSeries& series) {
  if (series.newest == 0) return 0;
  const std::vector<double> values = series.values();
  const auto newest = values.end() - static_cast<std::ptrdiff_t>(series.newest);
  const std::size_t begin = series.changes.empty() ? 0 : series.changes.back().at;
  return percent(middle_of({values.begin() + static_cast<std::ptrdiff_t>(begin), newest}),
                 middle_of({newest, values.end()}))
      .value_or(kNewWork);
}

std::vector<LevelChange> level_changes(const TrendSeries& series) {
  std::vector<LevelChange> out;
  const auto change = last_change_pct(series);
  if (change) out.push_back({*change, last_load(series)});
  if (!change && !series.changes.empty()) out.push_back({kNewWork, {}});  // no load makes work of none
  if (series.load_change) out.push_back({0, load_in_level(series)});
  return out;
}

bool loads_are_apart(const TrendSeries& series) {
  return std::ranges::any_of(level_changes(series), [](const LevelChange& change) { return change.load.is_apart(); });
}

Sentence trend_headline(const TrendSeries& series, const std::string& metric) {
  const std::vector<double> values = series.values();
  const Figure what{"what", series.said_phase().empty() ? metric : series.phase + " " + metric};
  if (values.empty()) return say("trend.unknown", "{what}: not known of any run", {what});
  if (values.size() == 1) {
    return say("trend.one", "{what}: {value:duration} in its only run", {what, {"value", values.front()}});
  }
  if (!series.is_long) {
    return say("trend.few", "{what}: {values} in {runs:# run}: too few to tell a change",
               {what, {"values", listed(values)}, {"runs", values.size()}});
  }
  const Figure newest{
      "newest",
      series.newest == 0
          ? Sentence{}
          : say("newest",
                "; {values:# newest value is|newest values are} beyond all others of the level{load}, too few "
                "for a change",
                {{"values", series.newest},
                 {"load", series.load_change
                              ? Sentence{}
                              : load_words(load_between(series, series.changes.empty() ? 0 : series.changes.back().at,
                                                        values.size() - series.newest),
                                           newest_pct(series))}})};
  const Sentence load_change = load_words(load_in_level(series), 0);
  const Figure in_level{"in_level", load_change.text.empty()
                                        ? Sentence{}
                                        : say("", "{load} from {date} (run {run}) on",
                                              {{"load", load_change},
                                               {"date", date_of(point_at(series, series.load_change->at))},
                                               {"run", series.load_change->at + 1}})};
  const std::size_t furthest = series.apart.empty() ? 0 : series.apart.front();
  const Figure apart{
      "apart",
      series.apart.empty()
          ? Sentence{}
          : say("apart", "; {values:# value stands|values stand} out{most}: {value:duration} at {date} (run {run})",
                {{"values", series.apart.size()},
                 {"most", series.apart.size() == 1 ? "" : ", furthest"},
                 {"value", values[furthest]},
                 {"date", date_of(point_at(series, furthest))},
                 {"run", furthest + 1}})};
  if (series.changes.empty()) {
    const double before = middle_of({values.begin(), values.end() - 1});
    return say("trend.even",
               "{what}: no change shown in {runs:# run}: {last:duration} in the last, {before:duration} before "
               "(median){in_level}{apart}{newest}",
               {what, {"runs", values.size()}, {"last", values.back()}, {"before", before}, in_level, apart, newest});
  }
  const ChangePoint& last = series.changes.back();
  const std::size_t first = last.steady ? last.at - 1 : last.at;
  const auto change = last_change_pct(series);
  const Sentence by = change ? say("", "{how} {change:.1f%}",
                                   {{"how", *change < 0 ? "fell" : "rose"}, {"change", std::abs(*change) / 100}})
                             : say("", "{how}", {{"how", "rose"}});
  return say(
      "trend.change",
      "{what} {by} {how} {date} (run {run} of {runs}){each}: {level}{load}{work}{more}{in_level}{apart}{newest}",
      {what,
       {"by", by},
       {"how", last.steady ? "steadily from" : "at"},
       {"date", date_of(point_at(series, first))},
       {"run", first + 1},
       {"each", last.steady && change ? say("", ", {change:+.1f%} a run",
                                            {{"change", *change / 100 / static_cast<double>(values.size() - last.at)}})
                                      : Sentence{}},
       {"runs", values.size()},
       {"level", Sentence{times_text(last.before, last.after), "", {{"before", last.before}, {"after", last.after}}}},
       {"load", load_words(last_load(series), change.value_or(0))},
       {"work",
        work_words(series, series.changes.size() > 1 ? series.changes[series.changes.size() - 2].at : 0, last.at)},
       {"more", series.changes.size() > 1
                    ? say("", "; the last of {changes} changes", {{"changes", series.changes.size()}})
                    : Sentence{}},
       in_level,
       apart,
       newest});
}

Report trend_series(std::span<const TrendSeries> series, const std::string& metric) {
  Report out{declared_columns("trend_series"), {}};
  for (const TrendSeries& one : series) {
    const std::vector<double> values = one.values();
    const auto dated = std::ranges::count(one.points, true, &TrendPoint::dated);
    const bool changed = !one.changes.empty();
    const auto change = last_change_pct(one);
    out.rows.push_back(
        {one.label, metric, trend_headline(one, metric).text, static_cast<std::int64_t>(values.size()),
         static_cast<std::int64_t>(one.points.size() - values.size()), static_cast<std::int64_t>(one.changes.size()),
         date_of(one.points.front()), date_of(one.points.back()),
         dated == 0                        ? "file"
         : dated == std::ssize(one.points) ? "trace"
                                           : "both",
         changed ? Cell(date_of(point_at(one, one.changes.back().at))) : Cell(),
         changed ? time_cell(one.changes.back().before) : Cell(),
         changed          ? time_cell(one.changes.back().after)
         : values.empty() ? Cell()
                          : time_cell(middle_of(values)),
         known_cell(change), changed ? Cell(one.changes.back().p) : Cell(), static_cast<std::int64_t>(one.newest),
         one.newest > 0 && std::isfinite(newest_pct(one)) ? Cell(newest_pct(one)) : Cell()});
  }
  return out;
}

namespace {

// The deepest folder that all runs lie in.
std::filesystem::path folder_of(std::span<const TrendSeries> series) {
  std::optional<std::filesystem::path> out;
  for (const TrendSeries& one : series) {
    for (const TrendPoint& point : one.points) {
      const std::filesystem::path own = point.run.front()->named().parent_path();
      if (!out) out = own;
      while (!out->empty() && own.lexically_relative(*out).native().starts_with("..")) out = out->parent_path();
    }
  }
  return out.value_or("");
}

}  // namespace

Report trend_points(std::span<const TrendSeries> series, const std::string& metric) {
  Report out{declared_columns("trend_points"), {}};
  const std::filesystem::path folder = folder_of(series);
  const auto value = std::ranges::find_if(out.columns, [](auto& one) { return one.key == "value"; });
  if (metric == "period" || metric == "span") value->head = metric == "period" ? "Period" : "Med Span";
  for (const TrendSeries& one : series) {
    std::int64_t run = 0;
    for (const TrendPoint& point : one.points) {
      run += point.value ? 1 : 0;
      const CatalogueEntry& first = *point.run.front();
      const std::filesystem::path below = first.named().lexically_relative(folder);
      out.rows.push_back({one.label, point.value ? Cell(run) : Cell(), date_of(point), point.dated ? "trace" : "file",
                          point.value ? time_cell(*point.value) : Cell(), change_cell(one, point),
                          static_cast<std::int64_t>(point.segment), (below.empty() ? first.named() : below).string(),
                          first.index.string()});
    }
  }
  return out;
}

Report trend_sets(std::span<const TrendSeries> series, const SetOfPoint& set_of) {
  Report out{declared_columns("trend_sets"), {}};
  for (const TrendSeries& one : series) {
    const SetOfRuns* before = nullptr;
    const std::vector<SetOfRuns> sets = sets_of(one, set_of);
    for (const SetOfRuns& set : sets) {
      const auto range = interval_of_mean(set.values);
      Row row = {one.label,
                 set.name,
                 static_cast<std::int64_t>(set.values.size()),
                 time_cell(mean_of(set.values)),
                 range ? time_cell(range->low) : Cell(),
                 range ? time_cell(range->high) : Cell(),
                 Cell(),
                 Cell(),
                 Cell(),
                 Cell()};
      const LoadDifference load =
          before == nullptr ? LoadDifference{}
                            : LoadDifference{middle_of(before->loads), middle_of(set.loads), false, power_of(one)};
      if (load.baseline > 0 && load.candidate > 0) row[9] = 100 * load.share();
      if (before != nullptr && mean_of(before->values) > 0 && !load.is_apart()) {
        const double to_pct = 100 / mean_of(before->values);
        const SetDifference change =
            difference_of({before->values, set.values}, {before->values.size(), set.values.size(), false},
                          kLeastSd * mean_of(before->values));
        row[6] = change.change * to_pct;
        if (const auto of_change = change.range()) {
          const Interval more = by_load(load, mean_of(before->values), mean_of(set.values));
          row[7] = (of_change->low + more.low) * to_pct;
          row[8] = (of_change->high + more.high) * to_pct;
        }
      }
      out.rows.push_back(std::move(row));
      before = &set;
    }
  }
  return out;
}

}  // namespace tracedb
