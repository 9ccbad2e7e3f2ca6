#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text/amounts.h"
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

std::string real_text(double value) { return std::isfinite(value) ? fmt::format("{:.15g}", value) : std::string(); }

// Three significant digits, and all that stand before the point; at most three decimals.
int decimals_of(double value) {
  const double size = std::fabs(value);
  return size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
}

std::string human_number(double value, Unit unit, TimeUnit time_unit, std::optional<int> decimals) {
  switch (unit) {
    case Unit::kTime: {
      const double scaled = value / nanoseconds_per(time_unit);
      return with_separators(fmt::format("{:.{}f}", scaled, decimals.value_or(decimals_of(scaled))));
    }
    case Unit::kPercent:
      return fmt::format("{:.1f}", value);
    case Unit::kRatio:
    case Unit::kBandwidth:
      return with_separators(fmt::format("{:.{}f}", value, decimals_of(value)));
    case Unit::kCount:
    case Unit::kBytes:
      return with_separators(fmt::format("{:.{}f}", value, std::min(decimals_of(value), 1)));
    default:
      return real_text(value);
  }
}

std::string text_of(const Cell& cell, Unit unit, TimeUnit time_unit, std::optional<int> decimals) {
  if (std::holds_alternative<std::monostate>(cell)) return "-";
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    if (unit == Unit::kAny || unit == Unit::kText) return std::to_string(*integer);
    const bool whole = unit == Unit::kCount || unit == Unit::kBytes || unit == Unit::kMoment ||
                       (unit == Unit::kTime && time_unit == TimeUnit::kNs);
    if (whole) return with_separators(std::to_string(*integer));
  }
  return human_number(number(cell).value_or(0), unit, time_unit, decimals);
}

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

std::optional<double> number(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return std::nullopt;
}

void append_plain_text(std::string& out, const Cell& cell, Unit unit, TimeUnit time_unit) {
  const double per = unit == Unit::kTime ? nanoseconds_per(time_unit) : 1;
  const auto* integer = std::get_if<std::int64_t>(&cell);
  if (const auto* text = std::get_if<std::string>(&cell)) {
    out.append(*text);
  } else if (integer != nullptr && per == 1) {
    const fmt::format_int digits(*integer);
    out.append(digits.data(), digits.size());
  } else if (const auto value = number(cell)) {
    out.append(real_text(*value / per));
  }
}

std::string human_text(const Cell& cell, Unit unit, TimeUnit time_unit, std::optional<int> decimals) {
  std::string text = text_of(cell, unit, time_unit, decimals);
  // What rounds to nothing has no sign.
  const bool is_number = !std::holds_alternative<std::string>(cell);
  if (is_number && text.size() > 1 && text.front() == '-' && text.find_first_not_of("0.", 1) == std::string::npos) {
    text.erase(0, 1);
  }
  return text;
}

std::string head_text(const Column& column, TimeUnit time_unit) {
  if (column.unit != Unit::kTime) return column.head;
  return fmt::format("{} ({})", column.head, to_string(time_unit == TimeUnit::kAuto ? TimeUnit::kNs : time_unit));
}

TimeUnit fitting_unit(double largest_ns) {
  if (largest_ns >= 1e11) return TimeUnit::kS;
  if (largest_ns >= 1e8) return TimeUnit::kMs;
  if (largest_ns >= 1e4) return TimeUnit::kUs;
  return TimeUnit::kNs;
}

std::string fact_text(const Cell& cell, Unit unit, TimeUnit time_unit) {
  const std::optional<double> value = number(cell);
  if (!value) return human_text(cell, unit, time_unit);
  switch (unit) {
    case Unit::kTime:
      if (time_unit == TimeUnit::kAuto) return duration_text(*value);
      return fmt::format("{} {}", human_text(cell, unit, time_unit), to_string(time_unit));
    case Unit::kBytes:
      return bytes_text(*value);
    case Unit::kPercent:
      return part_text(*value / 100, 1);
    case Unit::kBandwidth:
      return fmt::format("{:.3f} GB/s", *value);
    default:
      return human_text(cell, unit, time_unit);
  }
}

}  // namespace tracedb
