#include "passes/tables/lanes.h"

namespace tracedb {
namespace {

// Text and time of a place; NULL where there is none.
void add_place(TableRows& rows, const HostActivities& all, HostLayer layer, const PlaceTime& place) {
  if (place.place == kNoPlace) {
    rows.add_null().add_null();
  } else {
    rows.add(all.text(layer, place.place)).add(place.time);
  }
}

// The first of places in order of time, if it has any.
PlaceTime first_of(const std::vector<PlaceTime>& places) {
  return places.empty() || places.front().time == 0 ? PlaceTime{} : places.front();
}

}  // namespace

Lanes::Lanes(Workload& workload, const PassOptions& options)
    : columns_(workload, options.lanes, Times::kWindow),
      launches_(workload.index()),
      options_(options.timeline),
      by_(options.lanes),
      device_of_stream_(workload.events().device_of_stream) {
  options_.window = window_of(workload.selection());
}

void Lanes::add(TableRows& rows, std::size_t lane) const {
  const std::uint32_t id = columns_.lane_id(lane);
  if (by_ == LaneBy::kDevice) {
    rows.add(id).add_null();
  } else {
    rows.add(id < device_of_stream_.size() ? device_of_stream_[id] : 0).add(id);
  }
}

GapSteps::GapSteps(Workload& workload) : steps_(workload.steps().steps.empty() ? nullptr : &workload.steps()) {}

std::uint32_t GapSteps::place(const EventRef& event) const {
  return event.id == 0 ? 0 : (event.is_memory_op ? steps_->of_memory : steps_->of_kernel)[event.id - 1];
}

std::optional<std::uint32_t> GapSteps::step(const Gap& gap) const {
  const std::uint32_t after = steps_ == nullptr ? 0 : place(gap.after);
  return after == 0 ? std::nullopt : std::optional(after - 1);
}

std::optional<bool> GapSteps::is_between(const Gap& gap) const {
  if (steps_ == nullptr) return std::nullopt;
  return place(gap.before) != place(gap.after);
}

HostActivities host_activities(Workload& workload, std::span<const Gap> gaps) {
  const EventTables& events = workload.events();
  const LaunchThreads threads(workload.index(), events.kernels, events.memory, events.device_of_stream);
  std::vector<HostGap> on_host;
  on_host.reserve(gaps.size());
  for (const Gap& gap : gaps) on_host.push_back({gap.ts, gap.ts + gap.dur, threads.of(gap.after)});
  return {workload.index(), std::move(on_host)};
}

HostCells host_cells(const HostActivities& all, std::size_t gap) {
  return {all.place(gap), all.largest(gap, HostLayer::kInnermostOperator), all.largest(gap, HostLayer::kCall),
          all.python_calls(gap)};
}

HostCells host_cells(const HostActivity& activity) {
  return {HostActivities::place(activity), first_of(activity[HostLayer::kInnermostOperator]),
          first_of(activity[HostLayer::kCall]), activity.python_calls()};
}

std::vector<PassColumn> with_host_columns(std::vector<PassColumn> columns) {
  using enum ColumnType;
  const std::vector<PassColumn> host = {
      column(
          "host", kText, "",
          "where the host was for most of the time: the innermost python frame of the user's or a framework's code on "
          "the "
          "thread that launched what came next, else the outermost operator, else the runtime call; of AI Engine "
          "tiles, "
          "what stalled them; NULL: not recorded",
          "Host", "", "9", "coalesce(host, '[not recorded]')"),
      column("host_time", kInteger, "ns", "how long it was there"),
      column("host_op", kText, "", "innermost operator that was open longest; NULL: none", "Host Operator", "", "2"),
      column("host_op_time", kInteger, "ns", "how long"),
      column("host_call", kText, "", "runtime call that was open longest; NULL: none", "Host Call", "", "2"),
      column("host_call_time", kInteger, "ns", "how long"),
      column("python_calls", kInteger, "count", "recorded Python calls that start in it; recording them slows the host",
             "Python Calls", "sum")};
  columns.insert(columns.end(), host.begin(), host.end());
  return columns;
}

void add_host(TableRows& rows, const HostActivities& all, const HostCells& cells) {
  add_place(rows, all, cells.place.layer, {cells.place.place, cells.place.time, 0});
  add_place(rows, all, HostLayer::kInnermostOperator, cells.op);
  add_place(rows, all, HostLayer::kCall, cells.call);
  rows.add(cells.python_calls);
}

void add_no_host(TableRows& rows) {
  constexpr int kHostColumns = 7;
  for (int i = 0; i < kHostColumns; ++i) rows.add_null();
}

}  // namespace tracedb
