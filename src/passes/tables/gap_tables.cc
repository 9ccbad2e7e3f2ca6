// The gaps in the time of devices or streams: one by one, by cause, and alike ones together.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/saturating.h"
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

}  // namespace tracedb
