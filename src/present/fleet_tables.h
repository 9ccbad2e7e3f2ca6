// The table of `trace-query ls`, the tables and sentences of `trend`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/text/sentence.h"
#include "compare/steps/step_metrics.h"
#include "fleet/catalogue.h"
#include "fleet/trend.h"
#include "report/sql_report.h"

namespace tracedb {

Row catalogue_row(const CatalogueEntry& entry);

std::string date_text(std::int64_t ns_since_epoch);  // "2026-11-03 04:05"

// "decode period rose 6.2 % at 2026-11-03 04:05 (run 14 of 30): 18.9 -> 20.1 ms": the last change, if there is one.
Sentence trend_headline(const TrendSeries& series, const std::string& metric);

Report trend_series(std::span<const TrendSeries> series, const std::string& metric);  // a row for each
Report trend_points(std::span<const TrendSeries> series, const std::string& metric);  // a row for each trace

using SetOfPoint = std::function<std::string(const TrendPoint& point)>;
// A row for each set of runs of a series: the mean over its runs with its interval, and the change against the set
// before, where their loads are not too far apart for one.
Report trend_sets(std::span<const TrendSeries> series, const SetOfPoint& set_of);

// How much more (percent) the values that TrendSeries::newest tells apart are than the others of their level, infinity
// where those are 0; else 0.
double newest_pct(const TrendSeries& series);

struct LevelChange {
  double percent = 0;   // by which the value rose; infinity: from 0
  LoadDifference load;  // 0: it is not known, or taken out
};
// What a gate judges: the newest level against the one before, and a change of the load alone within the newest.
std::vector<LevelChange> level_changes(const TrendSeries& series);
bool loads_are_apart(const TrendSeries& series);  // in one of them: it is not judged

}  // namespace tracedb
