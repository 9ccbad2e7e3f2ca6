// What XlaRows makes of the planes of TPUs.
#include <algorithm>
#include <map>
#include <tuple>

#include "ingest/xla/xla_names.h"
#include "ingest/xla/xla_rows.h"

namespace tracedb {

// What is in flight beside the operations of a step is of the step.
void XlaRows::on_both_streams(std::uint32_t stream, const std::function<void(std::uint32_t)>& add) {
  add(stream);
  if (async_stream_ == 0) return;
  add(async_stream_);
  ++derived_rows_;
}

// Where the profile has no steps, the runs of the program that takes the most time are the steps.
void XlaRows::add_tpu_steps() {
  for (const DeviceStep& step : plane_steps_) {
    on_both_streams(step.stream, [&](std::uint32_t stream) { sink_.add_device_step(step.span, step.number, stream); });
  }
  plane_steps_.clear();
  std::map<std::string_view, std::int64_t> time;
  for (const Run& run : runs_) time[run.name] += run.end - run.ts;
  const auto most = std::ranges::max_element(time, {}, &std::pair<const std::string_view, std::int64_t>::second);
  for (const Run& run : runs_) {
    const TimeSpan span{run.ts, run.end - run.ts};
    if (tpu_steps_ || run.name != most->first) {
      add_annotation_of_device(span, run.name, run.stream, false);
    } else {
      on_both_streams(run.stream,
                      [&](std::uint32_t stream) { add_annotation_of_device(span, run.name, stream, true); });
    }
  }
  runs_.clear();
}

void XlaRows::tpu_event(const XlaEvent& event) {
  const auto later =
      std::ranges::upper_bound(runs_, event.ts, {}, &Run::ts);  // in order of time, as one device runs them
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
    if (++next_external_id_ == event.run) ++next_external_id_;
    record.external_id = next_external_id_;
    record.collective = collective_of(ops_[event.op].hlo);
    sink_.add(record);
    add_operator(ops_[event.op], {event.ts, event.dur}, track_, next_external_id_);
  }
  tpu_events_.clear();
}

}  // namespace tracedb
