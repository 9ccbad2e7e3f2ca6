#include "export/window_export.h"

#include <algorithm>
#include <deque>

#include "base/version.h"
#include "export/side_writer.h"

namespace tracedb {
namespace {

// What the trace says about itself, but for its times and its other events.
void add_header(const Index& index, JsonMembers& members) {
  Statement rows(index.database(),
                 "SELECT substr(key, 7), value FROM meta WHERE key LIKE 'trace.%' AND json_valid(value) AND key NOT IN "
                 "('trace.traceEvents', 'trace.baseTimeNanoseconds', 'trace.displayTimeUnit', 'trace.stackFrames', "
                 "'trace.systemTraceEvents', 'trace.samples', 'trace.tracedb') ORDER BY key");
  while (rows.step()) members.json(rows.text(0), rows.text(1));
  members.number("baseTimeNanoseconds", index.meta_int64("base_time_ns").value_or(0));
}

// What made the file comes first: kWindowMark.
JsonMembers header(std::span<const WindowSide> sides) {
  std::string sources;
  for (const WindowSide& side : sides) {
    JsonMembers source;
    source.text("source", side.workload.index().meta("source_path").value_or(""));
    source.text("hash", side.workload.index().meta("source_hash").value_or(""));
    sources += (sources.empty() ? "{" : ",{") + source.str() + "}";
  }
  JsonMembers made;
  made.text("version", kVersion).json("sources", "[" + sources + "]");
  JsonMembers members;
  members.json("tracedb", "{" + made.str() + "}").text("displayTimeUnit", "ns");
  if (sides.size() == 1) add_header(sides[0].workload.index(), members);
  return members;
}

}  // namespace

std::int64_t FlowNumbers::take(std::int64_t correlation) {
  if (correlation > 0 && correlation < std::int64_t{1} << 40U && taken_.insert(correlation).second) return correlation;
  return next_++;
}

SideWriter::SideWriter(WindowFile& file, const WindowSide& side, std::int64_t number, std::int64_t shift)
    : file_(file),
      workload_(side.workload),
      window_(side.window),
      database_(side.workload.index().database()),
      tracks_(side.workload.index(), file.numbers, {side.prefix, number}),
      shift_(shift) {}

void SideWriter::clip(TraceSlice& slice, std::int64_t ts, std::int64_t end, JsonMembers& args) const {
  const WindowSpan hull = window_.hull();
  const std::int64_t begin = std::max(ts, hull.begin);
  slice.ts = shifted(begin);
  slice.dur = end == kUnknownValue ? kUnknownValue : std::min(end, hull.end) - begin;
  if (end != kUnknownValue && slice.dur < end - ts) args.number("full_dur", end - ts);
}

WindowCounts write_windows(std::ostream& out, std::span<const WindowSide> sides) {
  WindowFile file{{out, header(sides)}, {}, {}, {}};
  // How long before its first kernel a side begins, at most: there the file begins.
  std::int64_t lead = 0;
  for (const WindowSide& side : sides) {
    lead = std::max(lead, side.window.device_begin - side.window.hull().begin);
  }
  std::deque<SideWriter> writers;
  for (const WindowSide& side : sides) {
    const std::int64_t shift = sides.size() == 1 ? 0 : lead - side.window.device_begin;
    SideWriter& writer = writers.emplace_back(file, side, static_cast<std::int64_t>(writers.size()), shift);
    writer.write_host_events();
    writer.write_device_events();
    writer.write_marks();
    writer.write_names();
  }
  file.events.finish();
  return file.counts;
}

}  // namespace tracedb
