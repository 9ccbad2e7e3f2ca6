#include "ingest/rocm/rocprof_records.h"

#include <fmt/format.h>

#include "ingest/rows/source_rows.h"
#include "trace/event_names.h"

namespace tracedb {
namespace {

// Streams come from HIP; without it there are only the queues of the hardware.
DeviceRecord device_record(const TimeSpan& span, const RocprofPlace& place, std::string_view name, RowSink& sink) {
  const std::int64_t number = place.stream != kUnknownValue ? place.stream : place.queue;
  auto record =
      record_of<DeviceRecord>(span, sink.text(name), sink.stream({place.device, {}}, {number, {}}, place.process));
  record.correlation = place.correlation;
  return record;
}

// Profilers of frameworks count groups, rocprofv3 work items; the last group may be smaller.
std::int64_t groups(std::int64_t items, std::int64_t group) {
  if (items < 0 || group <= 0) return kUnknownValue;
  return items / group + (items % group != 0 ? 1 : 0);
}

std::string copy_name(std::string_view operation) {
  const std::string_view way = copy_directions()[copy_direction_index(operation)];
  if (way.empty()) return std::string(operation);
  const auto end = [](char letter) { return letter == 'H' ? "Host" : "Device"; };
  return fmt::format("Memcpy {} ({} -> {})", way, end(way.front()), end(way.back()));
}

}  // namespace

void add_rocprof_kernel(const RocprofKernel& kernel, RowSink& sink) {
  DeviceRecord record = device_record(kernel.span, kernel.place, kernel.name, sink);
  LaunchConfig config = unknown_launch_config();
  for (std::size_t i = 0; i < 3; ++i) {
    config.values[i] = groups(kernel.items[i], kernel.group[i]);
    config.values[3 + i] = kernel.group[i];
  }
  config.values[7] = kernel.shared_memory;
  record.config = sink.config(config);
  sink.add(record);
}

void add_rocprof_copy(const RocprofCopy& copy, RowSink& sink) {
  DeviceRecord record = device_record(copy.span, copy.place, copy_name(copy.operation), sink);
  record.type = DeviceEventType::kMemcpy;
  record.graph_id_or_bytes = copy.bytes;
  sink.add(record);
}

void add_rocprof_region(const RocprofRegion& region, RowSink& sink) {
  const std::string_view domain = region.domain;
  if (domain.starts_with("HIP_") || domain.starts_with("HSA_")) {
    return sink.add_call(region.span, region.operation, region.thread, region.correlation);
  }
  const std::string_view name = region.message.empty() ? region.operation : region.message;
  const bool is_marker = domain.starts_with("MARKER_");
  if (is_marker && (region.span.dur == 0 || region.operation.starts_with("roctxMark"))) {
    return sink.add_instant("roctx", region.span.ts, name, region.thread);
  }
  if (is_marker && !region.message.empty()) return sink.add_annotation(region.span, name, region.thread);
  sink.add_slice(domain, region.span, name, region.thread);
}

void append_rocprof_device(std::int64_t number, std::string_view name, std::int64_t units, std::int64_t wave,
                           std::string& devices) {
  const auto positive = [](std::int64_t value) { return value > 0 ? value : kUnknownValue; };
  append_device(devices, number, name, {{"numSms", positive(units)}, {"warpSize", positive(wave)}});
}

}  // namespace tracedb
