#include "export/window_export.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

#include "base/unknown.h"
#include "base/version.h"
#include "export/side_writer.h"
#include "passes/select/device_columns.h"
#include "passes/tables/pass_tables.h"

namespace tracedb {
namespace {

// What the trace says about itself, but for its times and its other events.
void add_header(const Index& index, JsonWriter& members) {
  Statement rows(index.database(),
                 "SELECT substr(key, 7), value FROM meta WHERE key LIKE 'trace.%' AND json_valid(value) AND key NOT IN "
                 "('trace.traceEvents', 'trace.baseTimeNanoseconds', 'trace.displayTimeUnit', 'trace.stackFrames', "
                 "'trace.systemTraceEvents', 'trace.samples', 'trace.tracedb') ORDER BY key");
  while (rows.step()) members.key(rows.text(0)).json(rows.text(1));
  members.member("baseTimeNanoseconds", index.meta_int64("base_time_ns").value_or(0));
}

// Whether kernels of the first and of the last step that has some in the window are outside of it.
std::pair<bool, bool> cuts(Workload& workload, const Extent& hull) {
  const StepSet& set = workload.steps();
  const std::span<const std::int64_t> ts = workload.events().kernels.int64s("ts");
  std::uint32_t first = 0, last = 0;
  for (std::size_t i = 0; i < std::min(ts.size(), set.of_kernel.size()); ++i) {
    const std::uint32_t step = ts[i] >= hull.begin && ts[i] < hull.end ? set.of_kernel[i] : 0;
    if (first == 0) first = step;
    if (step != 0) last = step;
  }
  if (first == 0) return {false, false};
  std::pair<bool, bool> out = {set.steps[first - 1].cut, set.steps[last - 1].cut};
  for (std::size_t i = 0; i < std::min(ts.size(), set.of_kernel.size()); ++i) {
    if (set.of_kernel[i] == first && ts[i] < hull.begin) out.first = true;
    if (set.of_kernel[i] == last && ts[i] >= hull.end) out.second = true;
  }
  return out;
}

// What made the file comes first: kWindowMark. It says whether the first and the last steps are cut.
JsonWriter header(std::span<const WindowSide> sides) {
  std::string sources;
  std::int64_t cuts_first = 0, cuts_last = 0;
  for (const WindowSide& side : sides) {
    const auto [first, last] = cuts(side.workload, side.window.hull());
    if (first) cuts_first = 1;
    if (last) cuts_last = 1;
    JsonWriter source;
    // A file to hand on has no path of this machine.
    const std::filesystem::path path = side.workload.index().meta("source_path").value_or("");
    source.member("source", path.filename().string());
    source.member("hash", side.workload.index().meta("source_hash").value_or(""));
    sources += (sources.empty() ? "{" : ",{") + source.str() + "}";
  }
  JsonWriter made;
  made.member("version", kVersion).member("cuts_first", cuts_first).member("cuts_last", cuts_last);
  made.key("sources").json("[" + sources + "]");
  JsonWriter members;
  members.key("tracedb").json("{" + made.str() + "}").member("displayTimeUnit", "ns");
  if (sides.size() == 1) add_header(sides[0].workload.index(), members);
  return members;
}

constexpr Extent kNoTime = {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};

void widen(Extent& span, std::int64_t begin, std::int64_t end) {
  span.begin = std::min(span.begin, begin);
  span.end = std::max(span.end, end);
}

void merge(std::vector<Extent>& spans) {
  std::erase_if(spans, [](const Extent& span) { return span.begin > span.end; });
  std::ranges::sort(spans, {}, &Extent::begin);
  std::size_t kept = 0;
  for (const Extent& span : spans) {
    if (kept > 0 && span.begin <= spans[kept - 1].end) {
      spans[kept - 1].end = std::max(spans[kept - 1].end, span.end);
    } else {
      spans[kept++] = span;
    }
  }
  spans.resize(kept);
}

// The first span that begins behind a time.
std::vector<Extent>::const_iterator first_behind(const std::vector<Extent>& spans, std::int64_t time) {
  return std::ranges::upper_bound(spans, time, {}, &Extent::begin);
}

// One of the two tables of device events.
struct DeviceRows {
  std::span<const std::int64_t> ts, dur;
  std::span<const std::uint32_t> launch;

  explicit DeviceRows(const EventColumns& columns)
      : ts(columns.int64s("ts")), dur(columns.int64s("dur")), launch(columns.ids("launch_id")) {}
  [[nodiscard]] std::int64_t end(std::size_t row) const { return saturating_add(ts[row], duration_or_zero(dur[row])); }
};

class WindowFinder {
 public:
  explicit WindowFinder(Workload& workload)
      : workload_(workload),
        selection_(workload.selection()),
        kernels_(workload.events().kernels),
        memory_ops_(workload.events().memory) {}

  TraceWindow find(std::size_t top_gaps) {
    const EventFilter filter = workload_.filter();
    for (std::uint32_t row = 0; row < kernels_.ts.size(); ++row) {
      if (filter.keeps_kernel(row)) window_.kernels.push_back(row);
    }
    for (std::uint32_t row = 0; row < memory_ops_.ts.size(); ++row) {
      if (filter.keeps_memory_op(row)) window_.memory_ops.push_back(row);
    }
    if (top_gaps > 0) {
      keep_gaps(filter, top_gaps);
    } else if (selection_.names_steps()) {
      add_steps();
    } else {
      add_whole();
    }
    merge(window_.spans);
    add_launches();
    merge(window_.spans);
    find_device_begin();
    return std::move(window_);
  }

 private:
  template <class Visit>
  void for_each_row(Visit visit) const {
    for (const std::uint32_t row : window_.kernels) visit(kernels_, row, false);
    for (const std::uint32_t row : window_.memory_ops) visit(memory_ops_, row, true);
  }

  void keep_gaps(const EventFilter& filter, std::size_t most) {
    const DeviceColumns columns(workload_.events(), LaneBy::kDevice);
    TimelineOptions options;
    options.window = window_of(selection_);
    std::vector<Gap> gaps = gaps_in_order(columns.work(), launch_calls(workload_.events().calls), options).listed;
    std::erase_if(gaps, [&](const Gap& gap) {
      const std::size_t row = gap.after.id - 1;
      return !(gap.after.is_memory_op ? filter.keeps_memory_op(row) : filter.keeps_kernel(row));
    });
    std::ranges::stable_sort(gaps, std::ranges::greater(), &Gap::dur);
    if (gaps.size() > most) gaps.resize(most);
    for (const Gap& gap : gaps) {
      Extent span{std::max<std::int64_t>(gap.ts - gap.dur / 2, 0), saturating_add(gap.ts, gap.dur + gap.dur / 2)};
      if (gap.before.id != 0) widen(span, rows_of(gap.before).ts[gap.before.id - 1], span.end);
      widen(span, span.begin, saturating_add(rows_of(gap.after).end(gap.after.id - 1), 1));
      window_.spans.push_back(span);
    }
    merge(window_.spans);
    const auto outside = [&](const DeviceRows& rows) {
      return [&](std::uint32_t row) { return !window_.touches(rows.ts[row], rows.ts[row]); };
    };
    std::erase_if(window_.kernels, outside(kernels_));
    std::erase_if(window_.memory_ops, outside(memory_ops_));
  }

  [[nodiscard]] const DeviceRows& rows_of(const EventRef& event) const {
    return event.is_memory_op ? memory_ops_ : kernels_;
  }

  void add_steps() {
    const StepSet& steps = workload_.steps();
    std::vector<Extent> spans(steps.steps.size() + 1, kNoTime);  // element 0: of what is in no step
    for_each_row([&](const DeviceRows& rows, std::uint32_t row, bool is_memory_op) {
      const std::uint32_t step = (is_memory_op ? steps.of_memory : steps.of_kernel)[row];
      widen(spans[step], rows.ts[row], rows.end(row));
    });
    const bool whole = !selection_.layer && !selection_.names_kernels();
    const std::vector<bool> selected = selected_steps(steps, selection_);
    for (std::size_t i = 0; whole && i < steps.steps.size(); ++i) {
      const StepFacts& step = steps.steps[i];
      if (step.ts == kUnknownValue || !selected[i + 1]) continue;
      widen(spans[i + 1], step.ts, saturating_add(step.ts, duration_or_zero(step.dur)));
    }
    window_.spans = std::move(spans);
  }

  void add_whole() {
    Extent span = kNoTime;
    if (selection_.empty()) span = {0, std::numeric_limits<std::int64_t>::max()};
    for_each_row([&](const DeviceRows& rows, std::uint32_t row, bool) { widen(span, rows.ts[row], rows.end(row)); });
    if (selection_.from) widen(span, *selection_.from, std::max(*selection_.from, span.end));
    if (selection_.to) widen(span, std::min(*selection_.to, span.begin), *selection_.to);
    window_.spans.push_back(span);
  }

  // What launched a row belongs to the span that the row starts in.
  void add_launches() {
    const auto ts = workload_.events().calls.int64s("ts");
    std::vector<Extent> wider = window_.spans;
    for_each_row([&](const DeviceRows& rows, std::uint32_t row, bool) {
      const std::uint32_t launch = rows.launch[row];
      if (launch == 0 || launch > ts.size()) return;
      const auto behind = first_behind(window_.spans, rows.ts[row]);
      if (behind == window_.spans.begin()) return;
      widen(wider[static_cast<std::size_t>(behind - window_.spans.begin() - 1)], ts[launch - 1], rows.ts[row]);
    });
    window_.spans = std::move(wider);
  }

  void find_device_begin() {
    if (!window_.kernels.empty()) {
      window_.device_begin = kernels_.ts[window_.kernels.front()];
    } else if (!window_.memory_ops.empty()) {
      window_.device_begin = memory_ops_.ts[window_.memory_ops.front()];
    } else {
      window_.device_begin = window_.hull().begin;
    }
  }

  Workload& workload_;
  const Selection& selection_;
  DeviceRows kernels_, memory_ops_;
  TraceWindow window_;
};

}  // namespace

SideWriter::SideWriter(WindowFile& file, const WindowSide& side, std::int64_t number, std::int64_t shift)
    : file_(file),
      workload_(side.workload),
      window_(side.window),
      database_(side.workload.index().database()),
      tracks_(side.workload.index(), file.numbers, {side.prefix, number}),
      shift_(shift),
      calls_(side.workload.index(), "SELECT ts, thread_id, correlation FROM runtime_call WHERE id = ?1") {}

void SideWriter::clip(TraceSlice& slice, std::int64_t ts, std::int64_t end, JsonWriter& args) const {
  const Extent hull = window_.hull();
  const std::int64_t begin = std::max(ts, hull.begin);
  slice.ts = shifted(begin);
  slice.dur = end == kUnknownValue ? kUnknownValue : std::min(end, hull.end) - begin;
  if (end != kUnknownValue && slice.dur < end - ts) args.member("full_dur", end - ts);
}

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
      const std::int64_t flow = file_.flows.take(std::nullopt);
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

WindowCounts write_windows(std::ostream& out, std::span<const WindowSide> sides) {
  WindowFile file{.events = {out, header(sides)}};
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
    if (side.with_path) writer.write_path();
    if (side.with_queues) writer.write_queues();
    writer.write_names();
  }
  file.events.finish();
  return file.counts;
}

bool TraceWindow::touches(std::int64_t begin, std::int64_t end) const {
  const auto behind = first_behind(spans, end);
  return behind != spans.begin() && (behind - 1)->end >= begin;
}

TraceWindow find_window(Workload& workload, std::size_t top_gaps) { return WindowFinder(workload).find(top_gaps); }

}  // namespace tracedb
