// The critical path and the queues of an exported window.
#include <algorithm>
#include <optional>
#include <string>

#include "export/side_writer.h"
#include "passes/tables/pass_tables.h"

namespace tracedb {

std::optional<EventTrack> SideWriter::track_of(const Statement& part) {
  const auto place = [&](const std::vector<std::uint32_t>& rows, int column) {
    const auto found = std::ranges::lower_bound(rows, part.id(column) - 1);
    const bool is_there = found != rows.end() && *found == part.id(column) - 1;
    return is_there ? std::optional(static_cast<std::size_t>(found - rows.begin())) : std::nullopt;
  };
  if (!part.is_null(5)) return tracks_.thread(part.id(5));
  if (!part.is_null(6)) {
    const auto found = place(window_.kernels, 6);
    return found ? std::optional(kernel_tracks_[*found]) : std::nullopt;
  }
  const auto found = part.is_null(7) ? std::nullopt : place(window_.memory_ops, 7);
  return found ? std::optional(memory_tracks_[*found]) : std::nullopt;
}

// On a track of its own, and with a flow wherever it goes from one track to another.
void SideWriter::write_path() {
  add_pass_table(workload_, "critical_path");
  Statement parts(
      database_,
      "SELECT ts, \"end\", kind, name, coalesce(device_id, first_value(device_id) OVER (ORDER BY device_id IS "
      "NULL, ts)), thread_id, kernel_id, memory_op_id, operator, kind LIKE '%\\_gap' ESCAPE '\\' OR kind LIKE "
      "'%\\_wait' ESCAPE '\\' OR kind IN ('launch_delay', 'hand_over', 'sync_return') FROM temp.critical_path "
      "ORDER BY ts");
  std::optional<EventTrack> before;
  std::int64_t before_ts = 0;
  while (parts.step()) {
    const std::int64_t ts = parts.int64(0), end = parts.int64(1);
    if (!window_.touches(ts, end) || parts.is_null(4)) continue;
    JsonWriter args;
    add_text(args, "kind", parts, 2);
    add_text(args, "operator", parts, 8);
    const EventTrack mark = tracks_.mark(parts.id(4), MarkTrack::kPath, ts, end);
    const std::string name(parts.is_null(3) ? parts.text(2) : parts.text(3));
    file_.events.slice({mark, kMarkCategory, name, shifted(ts), end - ts}, args);
    const std::optional<EventTrack> track = parts.int64(9) != 0 ? std::nullopt : track_of(parts);
    if (!track) continue;
    if (before && (before->process != track->process || before->thread != track->thread)) {
      const std::int64_t flow = file_.flows.take(-1);
      file_.events.flow_start(*before, shifted(before_ts), flow);
      file_.events.flow_end(*track, shifted(ts), flow);
    }
    before = track;
    before_ts = ts;
  }
}

void SideWriter::write_queues() {
  add_pass_table(workload_, "queue_points");
  add_pass_table(workload_, "copy_rates");
  Statement samples(
      database_,
      "SELECT q.ts, q.stream_id, 'queue of stream ' || coalesce(s.number, '?'), q.waiting FROM "
      "temp.queue_points q JOIN stream s ON s.id = q.stream_id UNION ALL SELECT ts, (SELECT min(id) FROM "
      "stream), 'copies ' || coalesce(direction, '?') || ' (GB/s)', gb_per_s FROM temp.copy_rates ORDER BY 1");
  while (samples.step()) {
    const std::int64_t ts = samples.int64(0);
    if (!window_.touches(ts, ts) || samples.is_null(1)) continue;
    JsonWriter value;
    add_real(value, "value", samples, 3);
    const EventTrack track{tracks_.stream(samples.id(1)).process, 0};
    file_.events.counter({track, kMarkCategory, samples.text(2), shifted(ts), 0}, value);
  }
}

}  // namespace tracedb
