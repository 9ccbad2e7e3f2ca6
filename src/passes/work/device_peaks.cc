#include "passes/work/device_peaks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "base/text/json_text.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t bar = line.find('|');
    out.emplace_back(trim_json_space(line.substr(0, bar)));
    if (bar == std::string_view::npos) return out;
    line.remove_prefix(bar + 1);
  }
}

DevicePeaks peaks_from(std::string_view line) {
  constexpr std::size_t kCells = 18;
  const std::vector<std::string> cells = cells_of(line);
  if (cells.size() != kCells) throw std::logic_error("schema/devices/peaks.rules: " + std::string(line));
  const auto number = [&](std::size_t i) {
    return cells[i] == "-" ? std::nullopt : std::optional(std::strtod(cells[i].c_str(), nullptr));
  };
  std::size_t i = 0;
  DevicePeaks out;
  out.name = cells[i++];
  out.memory_gb = number(i++).value();
  out.units = number(i++).value();
  for (auto* rate : {&out.fp64, &out.fp32, &out.tf32, &out.fp16, &out.bf16, &out.fp8, &out.fp4, &out.int8,
                     &out.vector32, &out.vector64, &out.memory_gb_s, &out.ghz, &out.operations}) {
    *rate = number(i++);
  }
  out.kind = cells[i++];
  out.document = cells[i];
  return out;
}

}  // namespace

std::optional<double> DevicePeaks::rate(WorkFamily family, std::string_view type, bool uses_tf32) const {
  if (!uses_matrix_units(family)) return type == "double" ? vector64 : vector32;
  if (type == "double") return fp64;
  if (type == "float") return uses_tf32 ? tf32 : fp32;
  if (type == "c10::Half") return fp16;
  if (type == "c10::BFloat16") return bf16;
  if (type.starts_with("c10::Float8")) return fp8;
  if (type.starts_with("c10::Float4")) return fp4;
  if (type == "signed char" || type == "unsigned char") return int8;
  return std::nullopt;
}

std::span<const DevicePeaks> device_peaks() {
  static const std::vector<DevicePeaks> kAll = [] {
    constexpr std::string_view kRow = "device ";
    std::vector<DevicePeaks> out;
    for (const std::string_view line : data_lines(script("devices/peaks"))) {
      if (line.starts_with(kRow)) out.push_back(peaks_from(line.substr(kRow.size())));
    }
    return out;
  }();
  return kAll;
}

const DevicePeaks* peaks_of(std::string_view device_name, std::int64_t memory_bytes, std::int64_t units) {
  constexpr double kNear = 0.1, kGiga = 1e9;
  for (const DevicePeaks& one : device_peaks()) {
    const double memory = static_cast<double>(memory_bytes) / kGiga;
    if (device_name.find(one.name) == std::string_view::npos) continue;
    if (memory_bytes > 0 && std::abs(memory - one.memory_gb) > kNear * one.memory_gb) continue;
    if (units > 0 && static_cast<double>(units) != one.units) continue;
    return &one;
  }
  return nullptr;
}

const DevicePeaks* peaks_of(const Index& index) {
  Statement rows(
      index.database(),
      "SELECT coalesce(name, ''), coalesce(sm_count, 0), coalesce(memory_bytes, 0) FROM device WHERE used = 1");
  const DevicePeaks* found = nullptr;
  while (rows.step()) {
    const DevicePeaks* one = peaks_of(rows.text(0), rows.int64(2), rows.int64(1));
    if (one == nullptr || (found != nullptr && found != one)) return nullptr;
    found = one;
  }
  return found;
}

}  // namespace tracedb
