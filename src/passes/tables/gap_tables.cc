// The gaps in the time of devices or streams: one by one, by cause, and alike ones together.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/text/numbered_texts.h"
#include "base/unknown.h"
#include "passes/host/host_activity.h"
#include "passes/tables/pass_tables.h"

namespace tracedb {
namespace {

constexpr PassColumn kDeviceColumn = column("device_id", ColumnType::kInteger, "", "id in device");
constexpr PassColumn kStreamColumn =
    column("stream_id", ColumnType::kInteger, "", "id in stream; NULL: a whole device");
// For the reports, with kLaneJoins: their numbers.
constexpr PassColumn kDeviceNumber = derived("device", ColumnType::kInteger, "", "device number", "Device", "", "1",
                                             "coalesce(d.ordinal, d.name, 'unknown')");
constexpr PassColumn kStreamNumber =
    derived("stream", ColumnType::kInteger, "", "stream number, with --per-stream", "Stream", "", "2", "s.number");
constexpr std::string_view kLaneJoins =
    "t LEFT JOIN device d ON d.id = t.device_id LEFT JOIN stream s ON s.id = t.stream_id";

// The devices or streams of a workload: their time and their gaps. The workload must outlive the object.
class Lanes {
 public:
  Lanes(Workload& workload, const PassOptions& options)
      : columns_(workload, options.lanes, Times::kWindow),
        calls_(workload.index(), "runtime_call"),
        options_(options.timeline),
        by_(options.lanes),
        device_of_stream_(workload.events().device_of_stream) {
    options_.window = window_of(workload.selection());
  }
  [[nodiscard]] std::vector<LaneTimeline> timelines() const {
    return tracedb::timelines(columns_.work(), launch_calls(calls_), options_);
  }
  // Of at least that length, in time order.
  [[nodiscard]] Gaps gaps_from(std::int64_t least) const {
    return gaps_in_order(columns_.work(), launch_calls(calls_), options_, least);
  }
  // The longest ones first; a limit of 0: all.
  [[nodiscard]] Gaps longest_gaps(std::size_t limit) const {
    return idle_gaps(columns_.work(), launch_calls(calls_), options_, limit);
  }
  // Columns device_id and stream_id.
  void add(TableRows& rows, std::size_t lane) const {
    const std::uint32_t id = columns_.lane_id(lane);
    if (by_ == LaneBy::kDevice) {
      rows.add(id).add_null();
    } else {
      rows.add(id < device_of_stream_.size() ? device_of_stream_[id] : 0).add(id);
    }
  }

 private:
  DeviceColumns columns_;
  EventColumns calls_;
  TimelineOptions options_;
  LaneBy by_;
  const std::vector<std::uint32_t>& device_of_stream_;
};

// Text and time of a place; NULL where there is none.
void add_place(TableRows& rows, const HostActivities& all, HostLayer layer, const PlaceTime& place) {
  const bool is_known = place.place != kNoPlace;
  rows.add(is_known ? std::optional(all.text(layer, place.place)) : std::nullopt);
  rows.add(is_known ? std::optional(place.time) : std::nullopt);
}

// In the order of the gaps.
HostActivities host_activities(Workload& workload, std::span<const Gap> gaps) {
  const EventTables& events = workload.events();
  const LaunchThreads threads(workload.index(), events.kernels, events.memory, events.device_of_stream);
  std::vector<HostGap> on_host;
  on_host.reserve(gaps.size());
  for (const Gap& gap : gaps) on_host.push_back({gap.ts, gap.ts + gap.dur, threads.of(gap.after)});
  return {workload.index(), std::move(on_host)};
}

// What a row about some gaps says of the host.
struct HostCells {
  HostPlace place;
  PlaceTime op, call;  // kNoPlace: none
  std::int64_t python_calls = 0;
};

HostCells host_cells(const HostActivity& activity) {
  return {activity.place(), activity.largest(HostLayer::kInnermostOperator), activity.largest(HostLayer::kCall),
          activity.python_calls()};
}

std::vector<PassColumn> with_host_columns(std::vector<PassColumn> columns) {
  using enum ColumnType;
  const std::vector<PassColumn> host = {
      column("host", kText, "",
             "where the host was for most of the time: the innermost python frame of the user's or a framework's code "
             "on the thread that launched what came next, else the outermost operator, else the runtime call; of AI "
             "Engine tiles, what stalled them; NULL: not recorded",
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

// Where no statement reads these columns.
void add_no_host(TableRows& rows) {
  constexpr int kHostColumns = 7;
  for (int i = 0; i < kHostColumns; ++i) rows.add_null();
}

// Those of at least that length; they come longest first.
std::span<const Gap> long_enough(const Gaps& gaps, std::int64_t least) {
  const auto end = std::ranges::partition_point(gaps.listed, [least](const Gap& gap) { return gap.dur >= least; });
  return {gaps.listed.begin(), end};
}

// Columns of the host come last, and cost most.
constexpr std::size_t kGapColumns = 13, kCauseColumns = 7;

// How many gaps are asked for, by the options and by a statement; 0: all.
std::size_t fewer(std::size_t a, std::size_t b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

void fill_gaps(Workload& workload, const PassOptions& options, TableRows& rows) {
  const GapSteps steps(workload);
  const Lanes lanes(workload, options);
  const Gaps gaps = lanes.longest_gaps(fewer(options.most_gaps, rows.most()));
  const std::span<const Gap> shown = long_enough(gaps, options.least_gap);
  std::optional<HostActivities> host;
  if (rows.wants(kGapColumns)) host.emplace(host_activities(workload, shown));
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Gap& gap = shown[i];
    lanes.add(rows, gap.lane);
    rows.add(gap.ts).add(gap.dur).add(to_string(gap.cause));
    add_event(rows, gap.before);
    add_event(rows, gap.after);
    rows.add(steps.step(gap)).add(gaps.count).add(gaps.total).add(steps.is_between(gap));
    host ? add_host(rows, *host, host_cells(host->of(i))) : add_no_host(rows);
  }
}

// Gaps that one row is about, by their place in the list of all.
struct GapGroup {
  std::vector<std::uint32_t> gaps;
  std::int64_t time = 0, longest = 0, first = 0;

  void add(const Gap& gap, std::uint32_t number) {
    first = gaps.empty() ? gap.ts : std::min(first, gap.ts);
    gaps.push_back(number);
    time = saturating_add(time, gap.dur);
    longest = std::max(longest, gap.dur);
  }
};

void fill_causes(Workload& workload, const PassOptions& options, TableRows& rows) {
  const GapSteps steps(workload);
  const Lanes lanes(workload, options);
  const std::vector<Gap> gaps = lanes.gaps_from(0).listed;
  std::map<std::tuple<std::uint32_t, IdleCause, std::optional<bool>>, GapGroup> groups;
  for (std::uint32_t i = 0; i < gaps.size(); ++i) {
    groups[{gaps[i].lane, gaps[i].cause, steps.is_between(gaps[i])}].add(gaps[i], i);
  }
  std::optional<HostActivities> host;
  if (rows.wants(kCauseColumns)) host.emplace(host_activities(workload, gaps));
  for (const auto& [key, group] : groups) {
    lanes.add(rows, std::get<0>(key));
    rows.add(to_string(std::get<1>(key))).add(std::ssize(group.gaps)).add(group.time).add(group.longest);
    rows.add(std::get<2>(key));
    host ? add_host(rows, *host, host_cells(host->sum(group.gaps))) : add_no_host(rows);
  }
}

// Short names of kernels, names of copies and fills, each with one number.
class EventNames {
 public:
  explicit EventNames(Workload& workload)
      : kernels_(workload.events().kernels.ids("name_id")),
        memory_ops_(workload.events().memory.ids("name_id")),
        of_kernel_name_(read(workload.index(), "SELECT id, short_name FROM kernel_name")),
        of_string_(read(workload.index(),
                        "SELECT id, value FROM string WHERE id IN (SELECT DISTINCT name_id FROM memory_op)")) {}

  [[nodiscard]] std::uint32_t number(const EventRef& event) const {
    if (event.id == 0) return 0;
    const std::uint32_t name = (event.is_memory_op ? memory_ops_ : kernels_)[event.id - 1];
    const auto& numbers = event.is_memory_op ? of_string_ : of_kernel_name_;
    return name < numbers.size() ? numbers[name] : 0;
  }
  // NULL for 0: the name is unknown.
  void add(TableRows& rows, std::uint32_t number) const {
    number == 0 ? rows.add_null() : rows.add(std::string_view(texts_.text(number - 1)));
  }

 private:
  std::vector<std::uint32_t> read(const Index& index, const char* sql) {
    return by_id<std::uint32_t>(index, sql,
                                [&](const Statement& row) { return texts_.number(std::string(row.text(1))) + 1; });
  }

  NumberedTexts texts_;
  std::span<const std::uint32_t> kernels_, memory_ops_;
  std::vector<std::uint32_t> of_kernel_name_, of_string_;  // by id
};

struct GapKey {
  std::uint32_t lane;
  IdleCause cause;
  std::optional<bool> between;
  std::uint32_t before, next;
  HostLayer layer;
  std::uint32_t place;
  auto operator<=>(const GapKey&) const = default;
};

// Largest first.
void fill_groups(Workload& workload, const PassOptions& options, TableRows& rows) {
  const GapSteps steps(workload);
  const Lanes lanes(workload, options);
  const Gaps all = lanes.gaps_from(options.least_gap);
  const std::span<const Gap> gaps = all.listed;
  const HostActivities host = host_activities(workload, gaps);
  const EventNames names(workload);
  std::map<GapKey, GapGroup> by_key;
  std::map<GapKey, std::int64_t> host_time;
  for (std::uint32_t i = 0; i < gaps.size(); ++i) {
    const Gap& gap = gaps[i];
    const HostPlace place = host.of(i).place();
    const GapKey key{gap.lane,    gap.cause,  steps.is_between(gap), names.number(gap.before), names.number(gap.after),
                     place.layer, place.place};
    by_key[key].add(gap, i);
    host_time[key] += place.time;
  }
  std::vector<std::pair<GapKey, GapGroup>> groups(by_key.begin(), by_key.end());
  std::ranges::stable_sort(groups, [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
  for (const auto& [key, group] : groups) {
    lanes.add(rows, key.lane);
    rows.add(to_string(key.cause)).add(key.between);
    names.add(rows, key.before);
    names.add(rows, key.next);
    rows.add(std::ssize(group.gaps)).add(group.time).add(group.longest).add(group.first).add(all.count).add(all.total);
    HostCells cells = host_cells(host.sum(group.gaps));
    cells.place = {key.layer, key.place, host_time[key], 0, group.time};
    add_host(rows, host, cells);
  }
}

constexpr PassColumn kBetween =
    column("between_steps", ColumnType::kInteger, "",
           "1: what is before and after it is not of one step; 0: it is; NULL: there are no steps");
constexpr PassColumn kAllGaps =
    column("all_gaps", ColumnType::kInteger, "count", "gaps there are, in all rows and those a limit leaves out");
constexpr PassColumn kAllIdle = column("all_idle", ColumnType::kInteger, "ns", "time of all of them: idle in timeline");

// Time of devices or streams (passes/time/timeline.h), and where the host was while they were idle.

// What the gaps of each lane have in common.
struct IdleLane {
  std::vector<std::uint32_t> gaps;
  std::int64_t between_steps = 0;
};

std::vector<IdleLane> idle_lanes(const std::vector<Gap>& gaps, const GapSteps& steps, std::size_t lanes) {
  std::vector<IdleLane> out(lanes);
  for (std::uint32_t i = 0; i < gaps.size(); ++i) {
    IdleLane& lane = out[gaps[i].lane];
    lane.gaps.push_back(i);
    if (steps.is_between(gaps[i]).value_or(false)) lane.between_steps += gaps[i].dur;
  }
  return out;
}

void fill_timeline(Workload& workload, const PassOptions& options, TableRows& rows) {
  const Lanes lanes(workload, options);
  const std::vector<LaneTimeline> all = lanes.timelines();
  const std::vector<Gap> gaps = lanes.gaps_from(0).listed;
  const GapSteps steps(workload);
  const std::vector<IdleLane> idle_gaps_of = idle_lanes(gaps, steps, all.size());
  const HostActivities host = host_activities(workload, gaps);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const LaneTimeline& lane = all[i];
    if (lane.kernels + lane.memory_ops == 0) continue;
    lanes.add(rows, i);
    rows.add(lane.kernels).add(lane.memory_ops).add(lane.begin).add(lane.span).add(lane.busy).add(lane.idle);
    rows.add(lane.computation).add(lane.comm).add(lane.fused_comm).add(lane.copy);
    rows.add(lane.exposed_comm).add(lane.exposed_copy);
    for (const std::int64_t idle : lane.idle_by_cause) rows.add(idle);
    rows.add(lane.gaps).add(lane.micro_idle).add(lane.macro_idle).add(options.timeline.micro_idle);
    rows.add(lane.unselected);
    rows.add(steps.are_known() ? std::optional(idle_gaps_of[i].between_steps) : std::nullopt);
    add_host(rows, host, host_cells(host.sum(idle_gaps_of[i].gaps)));
  }
}

}  // namespace

PassTable idle_gaps_table() {
  using enum ColumnType;
  return {
      "idle_gaps",
      "one row per time at which a device ran nothing of the selection, longest first",
      with_host_columns({kDeviceColumn, kStreamColumn, column("ts", kInteger, "ns", "start, from meta.base_time_ns"),
                         column("dur", kInteger, "ns", "length"),
                         column("cause", kText, "",
                                "host_wait, kernel_wait, graph_gap, other or unknown, of which timeline has the sums"),
                         column("before_kernel_id", kInteger, "", "id in kernel, if a kernel ended last before it"),
                         column("before_memory_op_id", kInteger, "", "id in memory_op, if a copy or fill did"),
                         column("after_kernel_id", kInteger, "", "id in kernel, if a kernel ended it"),
                         column("after_memory_op_id", kInteger, "", "id in memory_op, if a copy or fill did"),
                         column("step", kInteger, "", "number of the step of what ended it; NULL: in none"), kAllGaps,
                         kAllIdle, kBetween}),
      fill_gaps,
      {},
      {{3, true}, {2}}};
}

PassTable gaps_by_cause_table() {
  using enum ColumnType;
  return {"gaps_by_cause",
          "idle time of each device by its cause, between steps and within; with --per-stream, of each stream",
          with_host_columns({kDeviceColumn, kStreamColumn, column("cause", kText, "", "as in idle_gaps"),
                             column("gaps", kInteger, "count", "gaps of this cause"),
                             column("time", kInteger, "ns", "their time; over all causes it is idle in timeline"),
                             column("longest", kInteger, "ns", "of the longest"), kBetween}),
          fill_causes};
}

PassTable gap_groups_table() {
  using enum ColumnType;
  return {
      "gap_groups",
      "gaps of one cause between the same kernels with the host at the same place, largest sum first",
      with_host_columns(
          {kDeviceColumn, kStreamColumn,
           column("cause", kText, "",
                  "host_wait, kernel_wait, graph_gap, other, unknown; the report has [between steps], too: see "
                  "schema/METRICS.md",
                  "Cause", "", "9", "iif(between_steps = 1, '[between steps]', cause)"),
           kBetween, column("before", kText, "", "the work that ended last before them", "Before", "", "4 names"),
           column("next", kText, "", "the work that ended the gaps", "Next", "label", "8 names"),
           column("instances", kInteger, "count", "how many gaps the row is about", "Gaps", "sum", "8"),
           column("dur", kInteger, "ns", "time of the gaps", "Duration", "sum", "8"),
           column("longest", kInteger, "ns", "the longest of them", "Longest", "max", "2"),
           column("ts", kInteger, "ns", "start of the first gap, since the begin of the trace", "First", "min"),
           kAllGaps, kAllIdle, kDeviceNumber, kStreamNumber,
           derived("idle_pct", kReal, "percent", "share of the idle time of all devices", "Idle (%)", "sum", "8",
                   "100.0 * dur / nullif(all_idle, 0)"),
           derived("launch_cause", kText, "", "the cause, also of gaps between steps", "By Launch", "", "", "cause"),
           derived("host_pct", kReal, "percent", "share of the time it was there", "Host (%)", "", "7",
                   "100.0 * host_time / nullif(dur, 0)"),
           derived("host_op_pct", kReal, "percent", "share of the time in it", "Operator (%)", "", "",
                   "100.0 * host_op_time / nullif(dur, 0)"),
           derived("host_call_pct", kReal, "percent", "share of the time in it", "Call (%)", "", "",
                   "100.0 * host_call_time / nullif(dur, 0)")}),
      fill_groups,
      {"gap_groups",
       "idle_pct dur instances longest device stream cause host host_pct next before launch_cause host_op host_op_pct "
       "host_call host_call_pct python_calls ts",
       "dur DESC, ts, t.device_id, t.stream_id", kLaneJoins,
       "Cause [between steps]: what is before and after is not of one step. Host: where the thread that launched Next "
       "was."}};
}

PassTable timeline_table() {
  using enum ColumnType;
  std::vector<PassColumn> columns = with_host_columns(
      {kDeviceColumn,
       kStreamColumn,
       column("kernels", kInteger, "count", "kernels of the selection", "Kernels", "sum", "2"),
       column("memory_ops", kInteger, "count", "copies and fills of the selection", "Copies", "sum", "1"),
       column("begin", kInteger, "ns", "start of the first work, since the begin of the trace", "Begin", "min", "1"),
       column("span", kInteger, "ns", "from the first start to the last end of its work", "Span", "sum", "6"),
       column("busy", kInteger, "ns", "time during which at least one of them ran", "Busy", "sum", "4"),
       column("idle", kInteger, "ns", "span - busy", "Idle", "sum", "8"),
       column("computation", kInteger, "ns", "time during which a kernel computed or a fill ran", "Computation", "sum",
              "6"),
       column("comm", kInteger, "ns", "time during which a kernel communicated", "Comm", "sum", "3"),
       column("fused_comm", kInteger, "ns", "the part of it in kernels that also compute", "Fused Comm", "sum", "1"),
       column("copy", kInteger, "ns", "time during which a copy of the selection ran", "Copy", "sum", "2"),
       column("exposed_comm", kInteger, "ns", "communication during which nothing computed", "Exposed Comm", "sum",
              "9"),
       column("exposed_copy", kInteger, "ns", "copies during which nothing computed or communicated", "Exposed Copy",
              "sum", "5"),
       column("host_wait", kInteger, "ns", "idle because the next work was launched late", "Host Wait", "sum", "8"),
       column("kernel_wait", kInteger, "ns", "idle briefly before work that was already launched", "Kernel Wait", "sum",
              "7"),
       column("graph_gap", kInteger, "ns", "idle between the kernels of one graph launch", "Graph Gap", "sum", "5"),
       column("other_wait", kInteger, "ns", "idle before launched work, for longer", "Other Wait", "sum", "5"),
       column("unknown_wait", kInteger, "ns", "idle before work whose launch is not known", "Unknown Wait", "sum", "4"),
       column("gaps", kInteger, "count", "number of idle times", "Gaps", "sum", "2"),
       column("micro_idle", kInteger, "ns", "idle in gaps below the limit", "Micro Idle", "sum", "2"),
       column("macro_idle", kInteger, "ns", "idle in longer gaps", "Macro Idle", "sum", "2"),
       column("micro_idle_limit", kInteger, "ns", "that limit (--micro-idle)", "Micro Below"),
       column("unselected", kInteger, "ns", "the part of idle during which work ran that was not selected",
              "Unselected Work", "sum", "1"),
       column("between_steps", kInteger, "ns", "idle in gaps whose neighbours are not of one step, whatever the cause",
              "Between Steps", "sum", "6"),
       kDeviceNumber,
       kStreamNumber,
       derived("utilization_pct", kReal, "percent", "busy as a share of span", "Utilization (%)", "", "7",
               "100.0 * busy / nullif(span, 0)"),
       derived("overlap_pct", kReal, "percent", "share of the communication during which something computed",
               "Overlap (%)", "", "3", "100.0 * (comm - exposed_comm) / nullif(comm, 0)"),
       derived("host_pct", kReal, "percent", "share of the idle time it was there", "Host (%)", "", "5",
               "100.0 * host_time / nullif(idle, 0)")});
  for (PassColumn& column : columns) {  // what differs from the tables of gaps
    if (column.name == "host") column.sql = {}, column.fit = "7";
    if (column.name == "python_calls") column.fit = "1";
    if (column.name == "device") {
      column.others = "label", column.fit = "9";
      column.meaning = "device number; mean, min and max are over all devices";
    }
    if (column.name == "stream") column.fit = "8";
  }
  return {"timeline",
          "how the time of each device is spent; with --per-stream, of each stream",
          std::move(columns),
          fill_timeline,
          {"timeline",
           "device stream span busy utilization_pct idle computation exposed_comm exposed_copy comm fused_comm "
           "overlap_pct copy host_wait kernel_wait graph_gap other_wait unknown_wait between_steps host host_pct "
           "python_calls gaps micro_idle macro_idle micro_idle_limit unselected kernels memory_ops begin",
           "d.ordinal, t.device_id, t.stream_id", kLaneJoins,
           "computation + exposed_comm + exposed_copy + idle = span; host_wait + kernel_wait + graph_gap + other_wait "
           "+ unknown_wait = idle."}};
}

}  // namespace tracedb
