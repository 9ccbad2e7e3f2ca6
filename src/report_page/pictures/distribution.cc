// How long the steps of a kind take: every step, the mean, and its 95 % interval.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report_page/html/safe_text.h"
#include "report_page/pictures/picture.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostValues = 2000;

// As many of the sorted values, evenly by rank, the least and the largest among them.
void add_values(DataWriter& data, const std::vector<std::int64_t>& sorted) {
  const std::size_t shown = std::min(sorted.size(), kMostValues);
  data.key("values").open('[');
  for (std::size_t i = 0; i < shown; ++i) {
    data.number(sorted[shown < 2 ? 0 : i * (sorted.size() - 1) / (shown - 1)]);
  }
  data.close(']');
}

// Of the mean, from the resamples that intervals of changes are made of (statistics.h).
void add_interval(DataWriter& data, std::vector<double> draws, std::size_t steps) {
  constexpr double kOutside = 0.025;
  if (steps < VerdictRule{}.least_steps || draws.empty()) {
    data.key("low").null().key("high").null();
    return;
  }
  std::sort(draws.begin(), draws.end());
  const auto rank = [&](double share) {
    return static_cast<std::size_t>(share * static_cast<double>(draws.size() - 1));
  };
  data.member("low", std::llround(draws[rank(kOutside)]));
  data.member("high", std::llround(draws[rank(1 - kOutside)]));
}

std::optional<Picture> distribution(const PictureInput& in, const GroupComparison& group) {
  const std::vector<PictureGroupSide> sides = sides_of(in, group);
  const StepMetric metric = group.has_period() ? StepMetric::kPeriod : StepMetric::kSpan;
  std::size_t most = 0;
  DataWriter data;
  data.member("phase", phase_of(group)).member("measure", to_string(metric)).key("sides").open('[');
  for (const PictureGroupSide& side : sides) {
    auto values = step_sample(side.trace.work, side.steps.device_steps, metric, side.trace.periods.within_kind);
    std::sort(values.begin(), values.end());
    const MeanDraws draws = draw_means(values);
    most = std::max(most, values.size());
    data.open('{');
    add_values(data, values);
    data.key("mean");
    if (values.empty()) {
      data.null();
    } else {
      data.number(std::llround(draws.mean));
    }
    add_interval(data, draws.draws, values.size());
    data.member("count", static_cast<std::int64_t>(values.size())).close('}');
  }
  data.close(']');
  if (most < 2) return std::nullopt;
  const bool period = metric == StepMetric::kPeriod;
  std::string note = period ? "Period: from the start of a step to the start of the next of its kind, on the device."
                            : "Span: from the first start to the last end of the work of a step, on the device.";
  if (most > kMostValues) note += fmt::format(" {} values of each side are shown, evenly by rank.", kMostValues);
  return Picture{id_of("distribution", group), "distribution",
                 fmt::format("How long {} takes: {}", unit_words(in, group), to_string(metric)), std::move(note),
                 data.take()};
}

}  // namespace

Pictures distributions(const PictureInput& in) {
  Pictures out;
  for (const GroupComparison& group : shown_groups(in)) {
    if (group.group.whole_trace) continue;
    if (auto picture = distribution(in, group)) out.push_back(*std::move(picture));
  }
  return out;
}

}  // namespace tracedb
