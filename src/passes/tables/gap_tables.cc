// The gaps in the time of devices or streams: one by one, by cause, and alike ones together.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "base/dense_index.h"
#include "base/text/numbered_texts.h"
#include "base/unknown.h"
#include "passes/host/host_activity.h"
#include "passes/tables/pass_tables.h"

namespace tracedb {
namespace {

// The devices or streams of a workload, as walks over their time want them. The workload must outlive the object.
struct Lanes {
  DeviceColumns columns;
  const EventTables& events;
  LaunchCalls calls;
  GapSteps steps;
  TimelineOptions options;
  LaneBy by;

  Lanes(Workload& workload, const PassOptions& of)
      : columns(workload, of.lanes, Times::kWindow),
        events(workload.events()),
        calls(launch_calls(events.calls)),
        steps(workload),
        options(of.timeline),
        by(of.lanes) {
    options.window = window_of(workload.selection());
  }
  // Columns device_id and stream_id.
  void add(TableRows& rows, std::size_t lane) const {
    const std::uint32_t id = columns.lane_id(lane);
    if (by == LaneBy::kDevice) {
      rows.add(id).add_null();
    } else {
      rows.add(id < events.device_of_stream.size() ? events.device_of_stream[id] : 0, id);
    }
  }
};

// Text and time of a place; NULL where there is none.
void add_place(TableRows& rows, const HostActivities& all, HostLayer layer, const PlaceTime& place) {
  const bool is_known = place.place != kNoPlace;
  rows.add(is_known ? std::optional(all.text(layer, place.place)) : std::nullopt);
  rows.add(is_known ? std::optional(place.time) : std::nullopt);
}

// `tally_of` says to which tally a gap belongs, by its number.
template <class TallyOf>
HostActivities host_activities(Workload& workload, std::span<const Gap> gaps, TallyOf tally_of) {
  const EventTables& events = workload.events();
  const LaunchThreads threads(workload.index(), events);
  std::vector<HostGap> on_host;
  on_host.reserve(gaps.size());
  for (std::uint32_t i = 0; i < gaps.size(); ++i) {
    on_host.push_back({gaps[i].ts, gaps[i].ts + gaps[i].dur, threads.of(gaps[i].after), tally_of(i)});
  }
  return {workload.index(), events, std::move(on_host)};
}

// What a row about some gaps says of the host.
void add_host(TableRows& rows, const HostActivities& all, const HostActivity& activity, const HostPlace& place) {
  add_place(rows, all, place.layer, {place.place, 0, place.time});
  for (const HostLayer layer : {HostLayer::kInnermostOperator, HostLayer::kCall}) {
    add_place(rows, all, layer, activity.largest(layer));
  }
  rows.add(activity.python_calls());
}
void add_host(TableRows& rows, const HostActivities& all, const HostActivity& activity) {
  add_host(rows, all, activity, activity.place());
}

// Those of at least that length; they come longest first.
std::span<const Gap> long_enough(const Gaps& gaps, std::int64_t least) {
  const auto end = std::ranges::partition_point(gaps.listed, [least](const Gap& gap) { return gap.dur >= least; });
  return {gaps.listed.begin(), end};
}

// Columns of the host come last, and cost most.
constexpr std::size_t kGapColumns = 13, kCauseColumns = 7, kHostColumns = 7;

// How many gaps are asked for, by the options and by a statement; 0: all.
std::size_t fewer(std::size_t a, std::size_t b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

// Gaps that one row is about, by their place in the list of all.
struct GapGroup {
  std::vector<std::uint32_t> gaps;
  std::int64_t time = 0, longest = 0, first = 0;
  std::int64_t at_place = 0;  // ns, with the host where its key says

  void add(const Gap& gap, std::uint32_t number) {
    first = gaps.empty() ? gap.ts : std::min(first, gap.ts);
    gaps.push_back(number);
    time = saturating_add(time, gap.dur);
    longest = std::max(longest, gap.dur);
  }
};

// Short names of kernels, names of copies and fills, each with one number.
class EventNames {
 public:
  explicit EventNames(Workload& workload)
      : names_(workload.events(), "name_id"),
        of_kernel_name_(read(workload.index(), "SELECT id, short_name FROM kernel_name")),
        of_string_(read(workload.index(),
                        "SELECT id, value FROM string WHERE id IN (SELECT DISTINCT name_id FROM memory_op)")) {}

  [[nodiscard]] std::uint32_t number(const EventRef& event) const {
    if (event.id == 0) return 0;
    const std::uint32_t name = names_[event];
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
  EventIds names_;
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

// Time of devices or streams (passes/time/timeline.h), and where the host was while they were idle.

}  // namespace

void fill_gaps(Workload& workload, const PassOptions& options, TableRows& rows) {
  const Lanes lanes(workload, options);
  const Gaps gaps = idle_gaps(lanes.columns.work(), lanes.calls, lanes.options, fewer(options.most_gaps, rows.most()));
  const std::span<const Gap> shown = long_enough(gaps, options.least_gap);
  std::optional<HostActivities> host;
  if (rows.wants(kGapColumns)) host.emplace(host_activities(workload, shown, std::identity()));
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Gap& gap = shown[i];
    lanes.add(rows, gap.lane);
    rows.add(gap.ts, gap.dur, to_string(gap.cause));
    add_event(rows, gap.before);
    add_event(rows, gap.after);
    rows.add(lanes.steps.step(gap), gaps.count, gaps.total, lanes.steps.is_between(gap));
    if (!host) rows.add_null(kHostColumns);
    if (host) add_host(rows, *host, host->of(i));
  }
}

void fill_gap_causes(Workload& workload, const PassOptions& options, TableRows& rows) {
  const Lanes lanes(workload, options);
  const std::vector<Gap> gaps = gaps_in_order(lanes.columns.work(), lanes.calls, lanes.options).listed;
  const auto key_of = [&](const Gap& gap) { return std::tuple(gap.lane, gap.cause, lanes.steps.is_between(gap)); };
  struct Group {
    std::uint32_t number = 0;
    std::int64_t gaps = 0, time = 0, longest = 0;
  };
  std::map<std::tuple<std::uint32_t, IdleCause, std::optional<bool>>, Group> groups;
  for (const Gap& gap : gaps) {
    const auto number = static_cast<std::uint32_t>(groups.size());
    Group& group = groups.try_emplace(key_of(gap), Group{number}).first->second;
    ++group.gaps;
    group.time = saturating_add(group.time, gap.dur);
    group.longest = std::max(group.longest, gap.dur);
  }
  std::optional<HostActivities> host;
  if (rows.wants(kCauseColumns)) {
    host.emplace(host_activities(workload, gaps, [&](std::uint32_t i) { return groups.at(key_of(gaps[i])).number; }));
  }
  for (const auto& [key, group] : groups) {
    lanes.add(rows, std::get<0>(key));
    rows.add(to_string(std::get<1>(key)), group.gaps, group.time, group.longest, std::get<2>(key));
    if (!host) rows.add_null(kHostColumns);
    if (host) add_host(rows, *host, host->of(group.number));
  }
}

// Largest first.
void fill_gap_groups(Workload& workload, const PassOptions& options, TableRows& rows) {
  const Lanes lanes(workload, options);
  const Gaps all = gaps_in_order(lanes.columns.work(), lanes.calls, lanes.options, options.least_gap);
  const std::span<const Gap> gaps = all.listed;
  const HostActivities host = host_activities(workload, gaps, std::identity());
  const EventNames names(workload);
  std::vector<std::pair<GapKey, GapGroup>> groups;
  DenseIndex known;
  for (std::uint32_t i = 0; i < gaps.size(); ++i) {
    const Gap& gap = gaps[i];
    const HostPlace place = host.of(i).place();
    const GapKey key{
        gap.lane,    gap.cause,  lanes.steps.is_between(gap), names.number(gap.before), names.number(gap.after),
        place.layer, place.place};
    const std::uint64_t hash =
        (std::uint64_t{key.before} << 32U | key.next) ^ std::uint64_t{key.place} << 16U ^ key.lane;
    const auto [at, is_new] = known.index_of(hash, [&](std::uint32_t own) { return groups[own].first == key; });
    if (is_new) groups.emplace_back(key, GapGroup{});
    GapGroup& group = groups[at].second;
    group.add(gap, i);
    group.at_place += place.time;
  }
  std::ranges::sort(groups, {}, [](const auto& one) { return std::pair(-one.second.time, one.first); });
  for (const auto& [key, group] : groups) {
    lanes.add(rows, key.lane);
    rows.add(to_string(key.cause), key.between);
    names.add(rows, key.before);
    names.add(rows, key.next);
    rows.add(std::ssize(group.gaps), group.time, group.longest, group.first, all.count, all.total);
    add_host(rows, host, host.sum(group.gaps), {key.layer, key.place, group.at_place, 0, group.time});
  }
}

void fill_timeline(Workload& workload, const PassOptions& options, TableRows& rows) {
  const Lanes lanes(workload, options);
  const EventTables& events = workload.events();
  const LaunchThreads threads(workload.index(), events);
  std::map<std::uint32_t, std::int64_t> between_steps;  // by lane
  std::vector<HostGap> gaps;
  gaps.reserve(events.kernels.size() + events.memory.size());
  const auto on_gap = [&](const Gap& gap) {
    if (lanes.steps.is_between(gap).value_or(false)) between_steps[gap.lane] += gap.dur;
    gaps.push_back({gap.ts, gap.ts + gap.dur, threads.of(gap.after), gap.lane});
  };
  const std::vector<LaneTimeline> all = timelines(lanes.columns.work(), lanes.calls, lanes.options, on_gap);
  const HostActivities host(workload.index(), events, std::move(gaps));
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const LaneTimeline& lane = all[i];
    if (lane.kernels + lane.memory_ops + lane.idle == 0) continue;
    lanes.add(rows, i);
    rows.add(lane.kernels, lane.memory_ops, lane.begin, lane.span, lane.busy, lane.idle);
    rows.add(lane.computation, lane.comm, lane.fused_comm, lane.copy, lane.exposed_comm, lane.exposed_copy);
    for (const std::int64_t idle : lane.idle_by_cause) rows.add(idle);
    rows.add(lane.gaps, lane.micro_idle, lane.macro_idle, options.timeline.micro_idle, lane.unselected);
    rows.add(lanes.steps.are_known() ? std::optional(between_steps[i]) : std::nullopt);
    add_host(rows, host, host.of(i));
  }
}

}  // namespace tracedb
