#include "base/text/amounts.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>
#include <utility>

namespace tracedb {
namespace {

thread_local bool counts_cycles = false;

std::string cycles_text(double n) { return with_separators(fmt::format("{:.0f}", std::round(n) + 0.0)) + " cycles"; }

}  // namespace

CycleWords::CycleWords(bool cycles) : before_(counts_cycles) { counts_cycles = counts_cycles || cycles; }
CycleWords::~CycleWords() { counts_cycles = before_; }
bool CycleWords::active() { return counts_cycles; }

std::string duration_text(double ns) {
  if (counts_cycles) return cycles_text(ns);
  const double size = std::fabs(ns);
  if (size >= 1e9) return fmt::format("{:.3f} s", ns / 1e9);
  if (size >= 1e6) return fmt::format("{:.3f} ms", ns / 1e6);
  if (size >= 1e3) return fmt::format("{:.3f} us", ns / 1e3);
  return fmt::format("{:.0f} ns", ns);
}

std::string short_duration_text(double ns) {
  if (counts_cycles) return cycles_text(ns);
  const double size = std::fabs(ns);
  if (size >= 999.5e6) return fmt::format("{:.3g} s", ns / 1e9);
  if (size >= 999.5e3) return fmt::format("{:.3g} ms", ns / 1e6);
  if (size >= 999.5) return fmt::format("{:.3g} us", ns / 1e3);
  return fmt::format("{:.3g} ns", ns);
}

std::string brief_time(double ns) {
  if (counts_cycles) return cycles_text(ns);
  constexpr std::array<std::pair<double, std::string_view>, 4> kUnits = {
      {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  const double size = std::abs(ns);
  for (const auto& [factor, unit] : kUnits) {
    const double value = size / factor;
    if (value < 0.9995 && factor > 1) continue;
    const int decimals = factor == 1 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return fmt::format("{}{:.{}f} {}", ns < 0 && value > 0 ? "-" : "", value, decimals, unit);
  }
  return "0 ns";
}

std::string signed_time(double ns) { return (ns > 0 ? "+" : "") + brief_time(ns); }

std::string part_text(double share, int digits) {
  constexpr double kLeast = 1e-9;  // nearer to all or nothing, it is an error of rounding
  const bool is_part = share >= kLeast && share <= 1 - kLeast;
  for (std::string text;; digits = 1) {
    text = fmt::format("{:.{}f}", 100 * share, digits);
    if (!is_part || (!text.starts_with("100") && text.find_first_not_of("0.") != std::string::npos)) return text + " %";
    if (digits == 1) return share < 0.5 ? "under 0.1 %" : "over 99.9 %";
  }
}

std::string bytes_text(double bytes) {
  static constexpr const char* kNames[] = {"bytes", "KB", "MB", "GB", "TB"};
  std::size_t power = 0;
  while (std::fabs(bytes) >= 1000 && power + 1 < std::size(kNames)) {
    bytes /= 1000;
    ++power;
  }
  return power == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.2f} {}", bytes, kNames[power]);
}

std::string moment_text(std::int64_t ns_since_epoch) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::time_t seconds = ns_since_epoch / kSecond;
  std::tm date{};
  if (ns_since_epoch < kFirstDate || gmtime_r(&seconds, &date) == nullptr) return fmt::format("{} ns", ns_since_epoch);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:09} UTC", date.tm_year + 1900, date.tm_mon + 1,
                     date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec, ns_since_epoch % kSecond);
}

}  // namespace tracedb
