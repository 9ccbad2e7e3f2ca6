// What XlaRows makes of the planes of TPUs.
#include <algorithm>
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
  on_each(step.streams, [&](std::uint32_t stream) { sink_.add_device_step(step.span, step.number, stream); });
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

// An operation with others inside (while, call) is left the time that is not theirs.
void XlaRows::add_tpu_ops() {
  std::ranges::sort(tpu_events_, [](const TpuEvent& a, const TpuEvent& b) {
    return std::tie(a.start_ps, b.dur_ps) < std::tie(b.start_ps, a.dur_ps);
  });
  std::vector<TpuEvent*> open;
  for (TpuEvent& event : tpu_events_) {
    while (!open.empty() && saturating_add(open.back()->start_ps, open.back()->dur_ps) <= event.start_ps)
      open.pop_back();
    if (!open.empty()) open.back()->inner_ps = saturating_add(open.back()->inner_ps, event.dur_ps);
    open.push_back(&event);
  }
  for (const TpuEvent& event : tpu_events_) {
    const std::int64_t own =
        event.inner_ps == 0 ? event.dur : rounded_ns(std::max<std::int64_t>(0, event.dur_ps - event.inner_ps));
    auto record = record_of<DeviceRecord>({event.ts, own}, event.name, stream_);
    record.correlation = event.run;
    // A number that is also the correlation would be taken for one.
    if (++last_external_id_ == event.run) ++last_external_id_;
    record.external_id = last_external_id_;
    record.collective = collective_of(ops_[event.op].hlo);
    sink_.add(record);
    add_operator(ops_[event.op], {event.ts, event.dur}, track_, last_external_id_);
    sink_.count_derived(1);
  }
  tpu_events_.clear();
}

}  // namespace tracedb
