#include "report/table.h"

#include <algorithm>
#include <utility>

#include "base/text/decimal.h"
#include "base/text/split.h"

namespace tracedb {
namespace {

template <typename Value, std::size_t kSize>
std::optional<Value> look_up(const std::pair<std::string_view, Value> (&names)[kSize], std::string_view text) {
  const auto* const found = std::ranges::find(names, text, &std::pair<std::string_view, Value>::first);
  return found == std::end(names) ? std::nullopt : std::optional(found->second);
}

template <typename Value, std::size_t kSize>
std::string_view name_of(const std::pair<std::string_view, Value> (&names)[kSize], Value wanted) {
  const auto* const found = std::ranges::find(names, wanted, &std::pair<std::string_view, Value>::second);
  return found == std::end(names) ? std::string_view() : found->first;
}

constexpr std::pair<std::string_view, Unit> kUnits[] = {
    {"", Unit::kAny},        {"text", Unit::kText},       {"count", Unit::kCount}, {"ns", Unit::kTime},
    {"bytes", Unit::kBytes}, {"percent", Unit::kPercent}, {"ratio", Unit::kRatio}, {"GB/s", Unit::kBandwidth},
    {"ns", Unit::kMoment},   {"moment", Unit::kMoment},
};
constexpr std::pair<std::string_view, OthersAggregate> kAggregates[] = {
    {"", OthersAggregate::kNone},   {"label", OthersAggregate::kLabel}, {"sum", OthersAggregate::kSum},
    {"min", OthersAggregate::kMin}, {"max", OthersAggregate::kMax},     {"mean", OthersAggregate::kMean},
};
constexpr std::pair<std::string_view, TimeUnit> kTimeUnits[] = {
    {"auto", TimeUnit::kAuto}, {"ns", TimeUnit::kNs}, {"us", TimeUnit::kUs}, {"ms", TimeUnit::kMs}, {"s", TimeUnit::kS},
};

}  // namespace

std::string_view to_string(Unit unit) { return name_of(kUnits, unit); }
std::optional<Unit> unit_from(std::string_view text) { return look_up(kUnits, text); }
std::optional<OthersAggregate> others_aggregate_from(std::string_view text) { return look_up(kAggregates, text); }

std::optional<Fit> fit_from(std::string_view text) {
  Fit fit;
  if (text.empty()) return fit;
  for (const std::string_view word : split_text(text, ' ')) {
    if (const auto priority = parse_int64(word); priority && *priority >= 1 && *priority <= 10) {
      fit.priority = static_cast<int>(*priority);
    } else if (word == "wrapped") {
      fit.wrapped = true;
    } else if (word == "names") {
      fit.names = true;
    } else {
      return std::nullopt;
    }
  }
  return fit;
}

std::optional<TimeUnit> time_unit_from(std::string_view text) { return look_up(kTimeUnits, text); }
std::string_view to_string(TimeUnit unit) { return name_of(kTimeUnits, unit); }

double nanoseconds_per(TimeUnit unit) {
  constexpr double kNanoseconds[] = {1, 1, 1e3, 1e6, 1e9};  // auto: as recorded
  return kNanoseconds[static_cast<std::size_t>(unit)];
}

}  // namespace tracedb
