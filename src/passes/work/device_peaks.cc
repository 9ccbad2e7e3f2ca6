#include "passes/work/device_peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/error.h"
#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "base/text/json_text.h"
#include "base/text/split.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

// `source`: "FILE:LINE".
DevicePeaks peaks_from(std::string_view line, const std::string& source) {
  constexpr std::size_t kCells = 18;
  const auto fail = [&](const std::string& why) { throw Error(ErrorCode::kInput, fmt::format("{}: {}", source, why)); };
  std::vector<std::string_view> cells = split_text(line, '|');
  std::ranges::transform(cells, cells.begin(), trim_json_space);
  if (cells.size() != kCells) fail(fmt::format("a device has {} cells between bars, not {}", kCells, cells.size()));
  const auto number = [&](std::size_t i) -> std::optional<double> {
    if (cells[i] == "-") return std::nullopt;
    const auto value = parse_double(cells[i]);
    if (!value || !std::isfinite(*value) || *value <= 0) {
      fail(fmt::format("cell {} is a number above 0, or -: {}", i + 1, cells[i]));
    }
    return value;
  };
  std::size_t i = 0;
  DevicePeaks out;
  out.name = cells[i++];
  if (out.name.empty()) fail("a device has a name");
  out.memory_gb = number(i++).value_or(0);
  out.units = number(i++).value_or(0);
  for (auto* rate : {&out.fp64, &out.fp32, &out.tf32, &out.fp16, &out.bf16, &out.fp8, &out.fp4, &out.int8,
                     &out.vector32, &out.vector64, &out.memory_gb_s, &out.ghz, &out.operations}) {
    *rate = number(i++);
  }
  out.kind = cells[i++];
  if (out.kind != "data sheet" && out.kind != "measured" && out.kind != "unchecked") {
    fail(fmt::format("the kind of a peak is data sheet, measured or unchecked: {}", out.kind));
  }
  out.document = cells[i];
  return out;
}

// In whole words: GB200 is another device than B200, V100S than V100.
bool names(std::string_view device, std::string_view row) {
  const auto is_inside = [&](std::size_t place) {
    return place < device.size() && (is_ascii_letter(device[place]) || is_ascii_digit(device[place]));
  };
  for (std::size_t at = device.find(row); at != std::string_view::npos; at = device.find(row, at + 1)) {
    if ((at == 0 || !is_inside(at - 1)) && !is_inside(at + row.size())) return true;
  }
  return false;
}

}  // namespace

bool says_tf32(std::string_view kernel) {
  return kernel.find("tf32") != std::string_view::npos || kernel.find("s1688") != std::string_view::npos;
}

std::optional<double> DevicePeaks::rate(WorkFamily family, std::string_view type, bool uses_tf32) const {
  const std::string lower = ascii_lower(type);
  if (!uses_matrix_units(family)) return lower == "double" ? vector64 : vector32;
  if (lower == "double") return fp64;
  if (lower == "float") return uses_tf32 ? tf32 : fp32;
  if (lower == "c10::half") return fp16;
  if (lower == "c10::bfloat16") return bf16;
  if (lower.starts_with("c10::float8")) return fp8;
  if (lower.starts_with("c10::float4")) return fp4;
  if (lower == "signed char" || lower == "unsigned char") return int8;
  return std::nullopt;
}

std::vector<DevicePeaks> parse_device_peaks(std::string_view text, const std::string& source) {
  constexpr std::string_view kRow = "device ";
  std::vector<DevicePeaks> out;
  std::size_t number = 0;
  for (const std::string_view line : split_text(text, '\n')) {
    const std::string_view words = trim_json_space(line);
    const std::string place = fmt::format("{}:{}", source, ++number);
    if (words.empty() || words.front() == '#') continue;
    if (!words.starts_with(kRow)) throw Error(ErrorCode::kInput, place + ": a line begins with 'device' or #");
    out.push_back(peaks_from(words.substr(kRow.size()), place));
  }
  return out;
}

std::span<const DevicePeaks> device_peaks() {
  static const std::vector<DevicePeaks> kAll =
      parse_device_peaks(script("devices/peaks"), "schema/devices/peaks.rules");
  return kAll;
}

const DevicePeaks* peaks_of(std::string_view device_name, std::int64_t memory_bytes, std::int64_t units, OwnPeaks own) {
  constexpr double kNear = 0.1, kGiga = 1e9;
  const double memory = static_cast<double>(memory_bytes) / kGiga;
  for (const OwnPeaks rows : {own, device_peaks()}) {
    for (const DevicePeaks& one : rows) {
      if (!names(device_name, one.name)) continue;
      const bool other_memory = std::abs(memory - one.memory_gb) > kNear * one.memory_gb;
      if (memory_bytes > 0 && one.memory_gb > 0 && other_memory) continue;
      if (units > 0 && one.units > 0 && static_cast<double>(units) != one.units) continue;
      return &one;
    }
  }
  return nullptr;
}

const DevicePeaks* peaks_of(const Index& index, OwnPeaks own, std::span<const std::int64_t> ordinals) {
  Statement rows(index.database(),
                 "SELECT coalesce(name, ''), coalesce(sm_count, 0), coalesce(memory_bytes, 0), coalesce(ordinal, -1) "
                 "FROM device WHERE used = 1");
  const DevicePeaks* found = nullptr;
  while (rows.step()) {
    if (!ordinals.empty() && std::ranges::find(ordinals, rows.int64(3)) == ordinals.end()) continue;
    const DevicePeaks* one = peaks_of(rows.text(0), rows.int64(2), rows.int64(1), own);
    if (one == nullptr || (found != nullptr && found != one)) return nullptr;
    found = one;
  }
  return found;
}

namespace {

struct NameRule {
  bool uses = false;
  std::vector<std::string_view> parts;  // in this order in the name
};

NameRule rule_from(std::string_view line) {
  const std::size_t space = line.find(' ');
  const std::string_view answer = line.substr(0, space);
  if (space == std::string_view::npos || (answer != "yes" && answer != "no")) {
    throw std::logic_error("schema/devices/matrix_units.rules: " + std::string(line));
  }
  return {answer == "yes", split_text(trim_json_space(line.substr(space)), '*')};
}

bool fits(const NameRule& rule, std::string_view name) {
  return std::ranges::all_of(rule.parts, [&](std::string_view part) {
    const std::size_t at = name.find(part);
    name.remove_prefix(std::min(at == std::string_view::npos ? at : at + part.size(), name.size()));
    return at != std::string_view::npos;
  });
}

const std::vector<NameRule>& all_rules() {
  static const std::vector<NameRule> kRules = [] {
    std::vector<NameRule> out;
    for (const std::string_view line : data_lines(script("devices/matrix_units"))) out.push_back(rule_from(line));
    return out;
  }();
  return kRules;
}

}  // namespace

std::optional<bool> runs_on_matrix_units(std::string_view kernel_name) {
  const auto rule = std::ranges::find_if(all_rules(), [&](const NameRule& one) { return fits(one, kernel_name); });
  return rule == all_rules().end() ? std::nullopt : std::optional(rule->uses);
}

}  // namespace tracedb
