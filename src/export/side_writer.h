// The events of one of the traces of an exported window. What all have in common, the order of things, the critical
// path and queues: window_export.cc; events of the device and the host, and marks: side_writer.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "export/tracks.h"
#include "export/window_export.h"
#include "passes/columns/event_columns.h"

namespace tracedb {

// What all sides of a file share.
struct WindowFile {
  TraceEventWriter events;
  TrackNumbers numbers = {};
  UniqueNumbers flows{1, std::int64_t{1} << 40U};  // that of a correlation where it can be, as Kineto has it
  WindowCounts counts = {};
};

class SideWriter {
 public:
  SideWriter(WindowFile& file, const WindowSide& side, std::int64_t number, std::int64_t shift);

  // To be called once, in this order.
  void write_host_events();
  void write_device_events();
  void write_marks();
  void write_path();
  void write_queues();
  void write_names() { tracks_.write_names(file_.events); }

 private:
  struct HostEvent {
    std::int64_t ts, end;  // within the trace; end < ts: unknown
    std::uint32_t kind, id;
  };

  // Added to every time of the trace.
  [[nodiscard]] std::int64_t shifted(std::int64_t ts) const { return ts + shift_; }
  // The part of a slice that is within the window, and what is cut off as arguments.
  void clip(TraceSlice& slice, std::int64_t ts, std::int64_t end, JsonWriter& args) const;

  // The track of what runs in a part of the critical path: of a kernel, copy or host thread.
  std::optional<EventTrack> track_of(const Statement& part);
  [[nodiscard]] std::vector<HostEvent> find_host_events() const;
  void write_gpu_annotations();
  void write_instants();
  // Of steps, layers and roles.
  void write_kernel_marks();
  void write_idle();
  void write_mark(std::uint32_t device, MarkTrack track, const Extent& time, std::string_view name,
                  const JsonWriter& args);
  void write_counters();
  void place_device_events();
  // A kernel's or copy's slice, which `row` selects, with what describe(arguments) adds, and the end of its flow.
  template <class Describe>
  void write_device_event(const Statement& row, const EventTrack& track, std::string_view category, Describe describe);
  void write_kernels();
  void write_memory_ops();
  void end_flow(std::uint32_t launch, const EventTrack& track, std::int64_t ts);

  WindowFile& file_;
  Workload& workload_;
  const TraceWindow& window_;
  Database& database_;
  TraceTracks tracks_;
  std::int64_t shift_;
  std::vector<EventTrack> kernel_tracks_, memory_tracks_;  // as the rows of the window
  TextById calls_;
  std::unordered_map<std::uint32_t, std::int64_t> flow_of_launch_;
};

}  // namespace tracedb
