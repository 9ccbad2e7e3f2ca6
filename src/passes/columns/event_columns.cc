#include "passes/columns/event_columns.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "index/packed_columns.h"
#include "trace/event_names.h"
#include "trace/training.h"

namespace tracedb {
namespace {

constexpr std::array<std::string_view, 4> kKernelKinds = {"compute", "comm", "copy_kernel", "comm_compute"};
constexpr std::array<std::string_view, 2> kMemoryKinds = {"memcpy", "memset"};
constexpr std::array<std::string_view, 5> kCallKinds = {"launch", "graph_launch", "copy", "sync", "other"};

std::span<const std::string_view> kinds_of(std::string_view table) {
  if (table == "kernel") return kKernelKinds;
  if (table == "memory_op") return kMemoryKinds;
  return kCallKinds;
}

ScanColumn scan_column(std::string_view table, std::string_view name) {
  const bool number =
      name == "ts" || name == "dur" || name == "bytes" || name == "external_id" || name == "correlation";
  if (number) return {name, ScanType::kNumber, {}};
  if (name == "bandwidth_gb_s") return {name, ScanType::kReal, {}};
  if (name == "direction") return {name, ScanType::kChoice, copy_directions()};
  if (name == "pass") return {name, ScanType::kChoice, pass_names()};
  if (name == "kind") return {name, ScanType::kChoice, kinds_of(table)};
  return {name, ScanType::kId, {}};
}

}  // namespace

EventColumns::EventColumns(const Index& index, std::string_view table, std::vector<std::string_view> columns)
    : names_(std::move(columns)) {
  std::vector<ScanColumn> wanted;
  for (const std::string_view name : names_) wanted.push_back(scan_column(table, name));
  scanned_ = read_columns(index.database(), table, wanted);
}

bool EventColumns::has(std::string_view column) const {
  return std::find(names_.begin(), names_.end(), column) != names_.end();
}

const ColumnValues& EventColumns::find(std::string_view column) const {
  const auto found = std::find(names_.begin(), names_.end(), column);
  if (found == names_.end()) throw std::logic_error("column " + std::string(column) + " was not read");
  return scanned_.columns[static_cast<std::size_t>(found - names_.begin())];
}

std::span<const std::int64_t> EventColumns::times(std::string_view column) const { return find(column).numbers.span(); }

std::span<const std::uint32_t> EventColumns::ids(std::string_view column) const { return find(column).ids.span(); }

std::vector<std::uint32_t> devices_of_streams(const Index& index) {
  const ScanColumn wanted[] = {{"device_id", ScanType::kId, {}}};
  const ScannedColumns streams = scan_columns(index.database(), "stream", wanted);
  std::vector<std::uint32_t> devices(1, 0);
  const auto ids = streams.columns[0].ids.span();
  devices.insert(devices.end(), ids.begin(), ids.end());
  return devices;
}

}  // namespace tracedb
