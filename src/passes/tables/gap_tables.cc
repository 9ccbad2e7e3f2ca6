// The gaps in the time of devices or streams: one by one, by cause, and alike ones together.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/unknown.h"
#include "passes/tables/lanes.h"

namespace tracedb {
namespace {

// Ids of a kernel and of a memory operation, of which the event has one.
void add_event(TableRows& rows, const EventRef& event) {
  const std::optional<std::uint32_t> id = event.id == 0 ? std::nullopt : std::optional(event.id);
  rows.add(event.is_memory_op ? std::nullopt : id).add(event.is_memory_op ? id : std::nullopt);
}

std::optional<std::int64_t> as_number(std::optional<bool> value) {
  return value ? std::optional<std::int64_t>(*value ? 1 : 0) : std::nullopt;
}

// Those of at least that length; they come longest first.
std::span<const Gap> long_enough(const Gaps& gaps, std::int64_t least) {
  const auto end = std::partition_point(gaps.listed.begin(), gaps.listed.end(),
                                        [least](const Gap& gap) { return gap.dur >= least; });
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
    rows.add(steps.step(gap)).add(gaps.count).add(gaps.total).add(as_number(steps.is_between(gap)));
    host ? add_host(rows, *host, host_cells(*host, i)) : add_no_host(rows);
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
    rows.add(as_number(std::get<2>(key)));
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
    const auto found = numbers.find(name);
    return found == numbers.end() ? 0 : found->second;
  }
  // NULL for 0: the name is unknown.
  void add(TableRows& rows, std::uint32_t number) const {
    number == 0 ? rows.add_null() : rows.add(std::string_view(texts_[number - 1]));
  }

 private:
  using Numbers = std::map<std::uint32_t, std::uint32_t>;

  Numbers read(const Index& index, const char* sql) {
    Numbers out;
    Statement rows(index.database(), sql);
    while (rows.step()) {
      const auto [entry, is_new] = numbers_.try_emplace(std::string(rows.text(1)), texts_.size() + 1);
      if (is_new) texts_.push_back(entry->first);
      out[rows.id(0)] = entry->second;
    }
    return out;
  }

  std::vector<std::string> texts_;
  std::map<std::string, std::uint32_t> numbers_;
  std::span<const std::uint32_t> kernels_, memory_ops_;
  Numbers of_kernel_name_, of_string_;
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
    const HostPlace place = host.place(i);
    const GapKey key{gap.lane,    gap.cause,  steps.is_between(gap), names.number(gap.before), names.number(gap.after),
                     place.layer, place.place};
    by_key[key].add(gap, i);
    host_time[key] += place.time;
  }
  std::vector<std::pair<GapKey, GapGroup>> groups(by_key.begin(), by_key.end());
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
  for (const auto& [key, group] : groups) {
    lanes.add(rows, key.lane);
    rows.add(to_string(key.cause)).add(as_number(key.between));
    names.add(rows, key.before);
    names.add(rows, key.next);
    rows.add(std::ssize(group.gaps)).add(group.time).add(group.longest).add(group.first).add(all.count).add(all.total);
    HostCells cells = host_cells(host.sum(group.gaps));
    cells.place = {key.layer, key.place, host_time[key], 0, group.time};
    add_host(rows, host, cells);
  }
}

constexpr TableColumn kBetween = {
    "between_steps", ColumnType::kInteger, "",
    "1: what is before and after it is not of one step; 0: it is; NULL: there are no steps"};
constexpr TableColumn kAllGaps = {"all_gaps", ColumnType::kInteger, "count",
                                  "gaps there are, in all rows and those a limit leaves out"};
constexpr TableColumn kAllIdle = {"all_idle", ColumnType::kInteger, "ns", "time of all of them: idle in timeline"};

}  // namespace

PassTable idle_gaps_table() {
  using enum ColumnType;
  return {
      "idle_gaps",
      "one row per time at which a device ran nothing of the selection, longest first",
      with_host_columns({kDeviceColumn,
                         kStreamColumn,
                         {"ts", kInteger, "ns", "start, from meta.base_time_ns"},
                         {"dur", kInteger, "ns", "length"},
                         {"cause", kText, "", "host_wait, kernel_wait, graph_gap, other or unknown, as in timeline"},
                         {"before_kernel_id", kInteger, "", "id in kernel, if a kernel ended last before it"},
                         {"before_memory_op_id", kInteger, "", "id in memory_op, if a copy or fill did"},
                         {"after_kernel_id", kInteger, "", "id in kernel, if a kernel ended it"},
                         {"after_memory_op_id", kInteger, "", "id in memory_op, if a copy or fill did"},
                         {"step", kInteger, "", "number of the step of what ended it; NULL: in none"},
                         kAllGaps,
                         kAllIdle,
                         kBetween}),
      fill_gaps,
      {{3, true}, {2}}};
}

PassTable gaps_by_cause_table() {
  using enum ColumnType;
  return {"gaps_by_cause",
          "idle time of each device by its cause, between steps and within; with --per-stream, of each stream",
          with_host_columns({kDeviceColumn,
                             kStreamColumn,
                             {"cause", kText, "", "as in idle_gaps"},
                             {"gaps", kInteger, "count", "gaps of this cause"},
                             {"time", kInteger, "ns", "their time; over all causes it is idle in timeline"},
                             {"longest", kInteger, "ns", "of the longest"},
                             kBetween}),
          fill_causes};
}

PassTable gap_groups_table() {
  using enum ColumnType;
  return {"gap_groups", "gaps of one cause between the same kernels with the host at the same place, largest sum first",
          with_host_columns(
              {kDeviceColumn,
               kStreamColumn,
               {"cause", kText, "", "as in idle_gaps"},
               kBetween,
               {"before", kText, "", "short name of the kernel, or name of the copy or fill, that ended last before"},
               {"next", kText, "", "of what ended it"},
               {"gaps", kInteger, "count", "gaps in the group"},
               {"time", kInteger, "ns", "their sum"},
               {"longest", kInteger, "ns", "of the longest"},
               {"first_ts", kInteger, "ns", "start of the first, from meta.base_time_ns"},
               kAllGaps,
               kAllIdle}),
          fill_groups};
}

// Time of devices or streams (passes/time/timeline.h), and where the host was while they were idle.
namespace {

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

PassTable timeline_table() {
  using enum ColumnType;
  return {
      "timeline", "how the time of each device is spent; with --per-stream, of each stream",
      with_host_columns(
          {kDeviceColumn,
           kStreamColumn,
           {"kernels", kInteger, "count", "kernels that are selected"},
           {"memory_ops", kInteger, "count", "copies and fills that are selected"},
           {"begin", kInteger, "ns", "start of the first of them"},
           {"span", kInteger, "ns", "from the first start to the last end"},
           {"busy", kInteger, "ns", "time during which any of them ran"},
           {"idle", kInteger, "ns", "span without busy; computation + exposed_comm + exposed_copy + idle = span"},
           {"computation", kInteger, "ns", "time during which compute kernels or fills ran"},
           {"comm", kInteger, "ns", "time during which collectives ran"},
           {"fused_comm", kInteger, "ns", "of comm, of kernels that also compute"},
           {"copy", kInteger, "ns", "time during which copies ran"},
           {"exposed_comm", kInteger, "ns", "of comm, without computation at the same time"},
           {"exposed_copy", kInteger, "ns", "of copy, without computation or communication at the same time"},
           {"host_wait", kInteger, "ns", "idle before work that was launched only after the gap began"},
           {"kernel_wait", kInteger, "ns", "idle in gaps below --kernel-wait before work that was already launched"},
           {"graph_gap", kInteger, "ns", "idle between kernels of one graph launch"},
           {"other", kInteger, "ns", "idle before work that waited for something else"},
           {"unknown", kInteger, "ns", "idle before work whose launch is not in the trace"},
           {"gaps", kInteger, "count", "gaps; their time adds up to idle"},
           {"micro_idle", kInteger, "ns", "idle in gaps below micro_idle_limit"},
           {"macro_idle", kInteger, "ns", "idle in the other gaps"},
           {"micro_idle_limit", kInteger, "ns", "of --micro-idle"},
           {"unselected", kInteger, "ns", "of idle, time during which events outside the selection ran"},
           {"between_steps", kInteger, "ns",
            "of idle, gaps whose neighbours are not of one step, whatever the cause; NULL: there are no steps"}}),
      fill_timeline};
}

}  // namespace tracedb
