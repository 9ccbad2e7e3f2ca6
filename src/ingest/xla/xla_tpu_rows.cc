// What XlaRows makes of the planes of TPUs.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "ingest/xla/xla_names.h"
#include "ingest/xla/xla_rows.h"

namespace tracedb {

// What any stream of the device does in the time of a step is of the step.
void XlaRows::on_each(const std::vector<std::uint32_t>& streams, const std::function<void(std::uint32_t)>& add) {
  std::ranges::for_each(streams, add);
  sink_.count_derived(streams.size() - 1);
}

void XlaRows::add_device_step(const DeviceStep& step) {
  on_each(step.streams, [&](std::uint32_t stream) { sink_.add_device_step(step.span, "step ", step.number, stream); });
}

// Where the profile has no steps, the runs of the program that takes the most time are the steps.
void XlaRows::add_tpu_steps() {
  for (const DeviceStep& step : plane_steps_) add_device_step(step);
  plane_steps_.clear();
  std::map<std::string_view, std::int64_t> time;
  for (const Run& run : runs_) time[run.name] += run.end - run.ts;
  const auto most = std::ranges::max_element(time, {}, &std::pair<const std::string_view, std::int64_t>::second);
  for (const Run& run : runs_) {
    const TimeSpan span{run.ts, run.end - run.ts};
    if (tpu_steps_ || run.name != most->first) {
      add_annotation_of_device(span, run.name, run.stream, false);
    } else {
      on_each(plane_streams_, [&](std::uint32_t stream) { add_annotation_of_device(span, run.name, stream, true); });
    }
  }
  runs_.clear();
}

void XlaRows::tpu_event(const XlaEvent& event) {
  const auto later = std::ranges::upper_bound(runs_, event.ts, {}, &Run::ts);  // in order of time
  const auto before = later == runs_.begin() ? runs_.end() : std::prev(later);
  const auto run = before == runs_.end() || before->end <= event.ts ? runs_.end() : before;
  std::string_view name = event.display_name.empty() ? event.name : event.display_name;
  if (name.starts_with('%')) name = name.substr(1, name.find(' ') - 1);
  static const Run kNoRun{};
  const Run& own_run = run == runs_.end() ? kNoRun : *run;
  const std::uint32_t op = op_of(event, own_run.program, own_run.module, name);
  const std::string& opcode = ops_[op].hlo.opcode;
  if (line_ == Line::kOps || is_collective(opcode)) {
    count(Counted::kKernel);
    const TpuEvent own{event.ts, event.dur, event.start_ps, event.dur_ps, own_run.run, op, kernel_name(name, op)};
    tpu_events_.push_back(own);
    if (line_ == Line::kAsyncOps) add_tpu_ops();  // they overlap, and none is inside another
    return;
  }
  if (operation_of(opcode) != "copy") {
    count(Counted::kSlice);
    return sink_.add_slice(line_name_, {event.ts, event.dur}, name, track_);
  }
  count(Counted::kMemcpy);
  auto record = record_of<DeviceRecord>({event.ts, event.dur}, sink_.text(name), stream_);
  record.type = DeviceEventType::kMemcpy;
  record.graph_id_or_bytes = event.number(XlaStat::kBytesAccessed);
  record.correlation = own_run.run;
  sink_.add(record);
}

// An operation with others inside (while, call) has the time that is not theirs: as many kernels as there are pieces of
// it, so that they run at no time when others do, and leave none idle. All are of its one operator. A collective stays
// one, for collectives of other devices are its partners by their order.
void XlaRows::add_tpu_ops() {
  std::ranges::stable_sort(tpu_events_, [](const TpuEvent& a, const TpuEvent& b) {
    return std::tie(a.start_ps, b.dur_ps) < std::tie(b.start_ps, a.dur_ps);
  });
  std::vector<TpuEvent*> open;
  const auto close = [&](std::int64_t at_ps) {
    while (!open.empty() && open.back()->end_ps() <= at_ps) {
      TpuEvent& event = *open.back();
      open.pop_back();
      if (event.end_ps() > event.own_from_ps || event.external_id == 0) add_tpu_kernel(event, event.end_ps());
      if (open.empty()) return;
      TpuEvent& around = *open.back();
      around.own_from_ps = std::clamp(event.end_ps(), around.own_from_ps, around.end_ps());
    }
  };
  for (TpuEvent& event : tpu_events_) {
    close(event.start_ps);
    if (!open.empty() && event.start_ps > open.back()->own_from_ps) add_tpu_kernel(*open.back(), event.start_ps);
    event.own_from_ps = event.start_ps;
    open.push_back(&event);
  }
  close(std::numeric_limits<std::int64_t>::max());
  tpu_events_.clear();
}

// Of the event's own time, up to `until_ps`.
void XlaRows::add_tpu_kernel(TpuEvent& event, std::int64_t until_ps) {
  const Op& op = ops_[event.op];
  if (event.external_id == 0) {
    // A number that is also the correlation would be taken for one.
    if (++last_external_id_ == event.run) ++last_external_id_;
    event.external_id = last_external_id_;
    add_operator(op, {event.ts, event.dur}, track_, event.external_id);
  }
  const bool is_one = is_collective(op.hlo.opcode);
  const std::int64_t ts = event.ts + (is_one ? 0 : rounded_ns(event.own_from_ps - event.start_ps));
  const std::int64_t before = is_one ? 0 : rounded_ns(event.own_ps);  // so that the pieces together are rounded once
  event.own_ps += until_ps - event.own_from_ps;
  if (is_one && until_ps < event.end_ps()) return;
  const bool whole = until_ps - event.own_from_ps == event.dur_ps;
  auto record =
      record_of<DeviceRecord>({ts, whole ? event.dur : rounded_ns(event.own_ps) - before}, event.name, stream_);
  record.correlation = event.run;
  record.external_id = event.external_id;
  record.collective = collective_of(op.hlo);
  sink_.add(record);
  sink_.count_derived(1);
}

}  // namespace tracedb
