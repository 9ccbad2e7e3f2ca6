#include "passes/columns/event_columns.h"

#include <algorithm>
#include <set>
#include <utility>

#include "index/packed_columns.h"
#include "trace/format_holds.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

std::span<const std::string_view> kinds_of(std::string_view table) {
  if (table == "kernel") return kKernelKindNames;
  if (table == "memory_op") return kMemoryKindNames;
  return kCallKindNames;
}

ScanColumn scan_column(std::string_view table, std::string_view name) {
  const bool number = name == "ts" || name == "dur" || name == "bytes" || name == "external_id" ||
                      name == "correlation" || name == "sequence_number" || name == "graph_id" ||
                      name == "graph_node_id";
  if (number) return {name, ScanType::kNumber, {}};
  if (name == "bandwidth_gb_s") return {name, ScanType::kReal, {}};
  if (name == "direction") return {name, ScanType::kChoice, copy_directions()};
  if (name == "pass") return {name, ScanType::kChoice, kPassNames};
  if (name == "kind") return {name, ScanType::kChoice, kinds_of(table)};
  return {name, ScanType::kId, {}};
}

}  // namespace

EventColumns::EventColumns(const Index& index, std::string_view table, std::vector<std::string_view> together)
    : database_(&index.database()), table_(table), together_(std::move(together)) {}

std::size_t EventColumns::size() const {
  if (!rows_) rows_ = row_count(*database_, table_);
  return *rows_;
}

const ColumnValues& EventColumns::find(std::string_view column) const {
  if (!read_.contains(column)) {
    const bool alone = std::ranges::find(together_, column) == together_.end();
    read(alone ? std::vector{column} : together_);
  }
  return read_.find(column)->second;
}

void EventColumns::read(std::vector<std::string_view> columns) const {
  std::erase_if(columns, [&](std::string_view column) { return read_.contains(column); });
  if (columns.empty()) return;
  std::vector<ScanColumn> wanted;
  for (const std::string_view name : columns) wanted.push_back(scan_column(table_, name));
  ScannedColumns scanned = read_columns(*database_, table_, wanted);
  rows_ = scanned.rows;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    read_.try_emplace(std::string(wanted[i].name), std::move(scanned.columns[i]));
}

std::span<const std::int64_t> EventColumns::int64s(std::string_view column) const {
  return find(column).numbers.span();
}

std::span<const std::int64_t> EventColumns::busy_durs() const {
  const auto durs = int64s("dur");
  if (!busy_durs_) {
    busy_durs_.emplace();
    std::set<std::uint32_t> in_flight;
    Statement streams(*database_, "SELECT id FROM stream WHERE number = ?");
    streams.bind(1, kInFlightStream);
    while (streams.step()) in_flight.insert(streams.id(0));
    const auto stream = in_flight.empty() ? std::span<const std::uint32_t>() : ids("stream_id");
    if (!in_flight.empty()) busy_durs_->assign(durs.begin(), durs.end());
    for (std::size_t i = 0; i < stream.size(); ++i) {
      if (in_flight.contains(stream[i])) (*busy_durs_)[i] = 0;
    }
  }
  return busy_durs_->empty() ? durs : *busy_durs_;
}

std::span<const std::uint32_t> EventColumns::ids(std::string_view column) const { return find(column).ids.span(); }

std::vector<bool> graph_launches(const Index& index) {
  const EventColumns calls(index, "runtime_call", {"kind"});
  std::vector<bool> out(1);
  for (const std::uint32_t kind : calls.ids("kind")) {
    out.push_back(kind == static_cast<std::uint32_t>(CallKind::kGraphLaunch));
  }
  return out;
}

std::vector<std::uint32_t> ids_by_id(const Index& index, std::string_view table, std::string_view column) {
  const EventColumns rows(index, table);
  const auto ids = rows.ids(column);
  std::vector<std::uint32_t> out(1, 0);
  out.insert(out.end(), ids.begin(), ids.end());
  return out;
}

EventTables::EventTables(const Index& index)
    : kernels(index, "kernel"),
      memory(index, "memory_op", {"ts", "dur", "kind", "stream_id", "launch_id", "step_id", "annotation_id", "pass"}),
      calls(index, "runtime_call"),
      operators(index, "cpu_op"),
      annotations(index, "annotation", {"ts", "dur", "thread_id", "name_id"}),
      device_of_stream(ids_by_id(index, "stream", "device_id")),
      device_ordinals(by_id<std::int64_t>(index, "SELECT id, ordinal FROM device",
                                          [](const Statement& row) { return row.int64(1); })) {}

}  // namespace tracedb
