#include "fleet/trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace tracedb {
namespace {

std::string label_of(const TraceSummary& one, const std::string& phase) {
  std::string out = one.gpu.value_or("Device of " + one.vendor.value_or("unknown vendor"));
  for (const auto& part : {one.framework, one.model}) {
    if (part) out += ", " + *part;
  }
  if (!phase.empty()) out += ", " + phase;
  if (one.rank) out += fmt::format(", rank {}", *one.rank);
  if (one.rank && one.world_size) out += fmt::format(" of {}", *one.world_size);
  return out;
}

// nullopt: it has no such phase.
std::optional<std::string> phase_of(const TraceSummary& one, const TrendOptions& options) {
  if (!options.phase) {
    const auto repeated = std::find_if(one.phases.begin(), one.phases.end(),
                                       [](const PhaseSummary& phase) { return phase.period.has_value(); });
    if (repeated != one.phases.end()) return repeated->phase;
    return one.main_phase() == nullptr ? "" : one.main_phase()->phase;
  }
  const bool has = std::any_of(one.phases.begin(), one.phases.end(),
                               [&](const PhaseSummary& phase) { return phase.phase == *options.phase; });
  return has ? options.phase : std::nullopt;
}

void mark_changes(TrendSeries& series, const ChangePointOptions& options) {
  const std::vector<double> values = series.values();
  series.changes = find_change_points(values, options);
  series.is_long = values.size() >= least_values(options);
  std::size_t place = 0, segment = 0;
  for (TrendPoint& point : series.points) {
    if (point.value) {
      point.change = segment < series.changes.size() && series.changes[segment].at == place;
      segment += point.change ? 1 : 0;
      ++place;
    }
    point.segment = segment;
  }
}

}  // namespace

std::vector<double> TrendSeries::values() const {
  std::vector<double> out;
  for (const TrendPoint& point : points) {
    if (point.value) out.push_back(*point.value);
  }
  return out;
}

std::vector<TrendSeries> make_trends(
    std::span<const CatalogueEntry> entries, const TrendOptions& options,
    const std::function<std::optional<double>(const CatalogueEntry&, const std::string& phase)>& value) {
  std::map<std::string, TrendSeries> by_label;
  for (const CatalogueEntry& entry : entries) {
    if (entry.state == CatalogueState::kNotIndexed || entry.state == CatalogueState::kUnusable) continue;
    const auto phase = phase_of(entry.summary, options);
    if (!phase) continue;
    TrendSeries& series = by_label[label_of(entry.summary, *phase)];
    series.phase = *phase;
    const auto& date = entry.summary.date_ns;
    series.points.push_back(
        {&entry, date.value_or(entry.summary.source_modified_ns.value_or(0)), date.has_value(), value(entry, *phase)});
  }
  std::vector<TrendSeries> out;
  for (auto& [label, series] : by_label) {
    series.label = label;
    std::stable_sort(series.points.begin(), series.points.end(), [](const TrendPoint& a, const TrendPoint& b) {
      return std::tie(a.date_ns, a.entry->index) < std::tie(b.date_ns, b.entry->index);
    });
    mark_changes(series, options.changes);
    out.push_back(std::move(series));
  }
  return out;
}

}  // namespace tracedb
