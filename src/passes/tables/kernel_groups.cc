#include "passes/tables/kernel_groups.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "passes/columns/event_columns.h"
#include "passes/columns/group_stats.h"
#include "sql/temp_table.h"
#include "trace/training.h"

namespace tracedb {
namespace {

constexpr std::string_view kNoStep = "[no step]";
constexpr std::string_view kNoPass = "[no pass]";
constexpr std::string_view kNameless = "[no name]";  // a name id that is not in kernel_name: a damaged index

// Groups by the id of a kernel's name or step.
class Labels {
 public:
  Labels(const Index& index, std::string_view sql, std::string_view rest) {
    groups_.push_back(group(rest));
    Statement rows(index.database(), sql);
    while (rows.step()) {
      const std::size_t id = rows.id(0);
      if (id >= groups_.size()) groups_.resize(id + 1, groups_[0]);
      groups_[id] = group(rows.text(1));
    }
  }
  // Ids that are not in the table, and unknown ones, are in the group of the rest.
  [[nodiscard]] GroupId of(std::uint32_t id) const { return id < groups_.size() ? groups_[id] : groups_[0]; }
  [[nodiscard]] std::size_t count() const { return labels_.size(); }
  [[nodiscard]] const std::string& label(GroupId group) const { return labels_[group]; }

 private:
  GroupId group(std::string_view label) {
    const auto [entry, is_new] = ids_.try_emplace(std::string(label), static_cast<GroupId>(labels_.size()));
    if (is_new) labels_.emplace_back(label);
    return entry->second;
  }

  std::vector<GroupId> groups_;  // by id
  std::vector<std::string> labels_;
  std::map<std::string, GroupId> ids_;
};

Labels labels(const Index& index, GroupBy by) {
  switch (by) {
    case GroupBy::kName:
      return {index, "SELECT id, name FROM kernel_name ORDER BY id", kNameless};
    case GroupBy::kClass:
      return {index, "SELECT name_id, class FROM temp.kernel_class", kNameless};
    case GroupBy::kPhase:
      break;
  }
  return {index, "SELECT id, kind FROM step ORDER BY id", kNoStep};
}

// Splits groups by pass of training: each in as many as there are passes, and one for what has none.
class PassSplit {
 public:
  PassSplit(const Index& index, SplitBy split) {
    if (split == SplitBy::kNone) return;
    parts_ = static_cast<GroupId>(pass_names().size() + 1);
    kernels_.emplace(index, "kernel", std::vector<std::string_view>{"pass"});
    pass_ = kernels_->ids("pass");
  }
  [[nodiscard]] GroupId parts() const { return parts_; }
  [[nodiscard]] GroupId of(GroupId group, std::size_t row) const {
    return parts_ == 1 ? group : group * parts_ + static_cast<GroupId>(pass_[row]);
  }
  [[nodiscard]] std::string_view label(std::size_t group) const {  // empty: not split
    if (parts_ == 1) return {};
    const std::size_t part = group % parts_;
    return part == 0 ? kNoPass : pass_names()[part - 1];
  }

 private:
  GroupId parts_ = 1;
  std::optional<EventColumns> kernels_;
  std::span<const std::uint32_t> pass_;
};

// How many distinct names each group holds. `shared`: a name may be in several groups.
std::vector<std::int64_t> distinct_names(std::span<const GroupId> groups, std::span<const std::uint32_t> names,
                                         std::size_t count, bool shared) {
  std::vector<std::vector<bool>> seen(shared ? count : 1);
  std::vector<std::int64_t> out(count, 0);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] == kNoGroup) continue;
    std::vector<bool>& own = seen[shared ? groups[i] : 0];
    const std::size_t name = names[i];
    if (name >= own.size()) own.resize(name * 2 + 1);
    if (own[name]) continue;
    own[name] = true;
    ++out[groups[i]];
  }
  return out;
}

void write(const Index& index, const Labels& labels, const PassSplit& split, const std::vector<GroupStats>& stats,
           const std::vector<std::int64_t>& names) {
  TempTable table(
      index.database(), "kernel_group",
      "label TEXT, pass TEXT, names INTEGER, n INTEGER, known INTEGER, total INTEGER, busy INTEGER, min INTEGER, "
      "max INTEGER, median REAL, p90 INTEGER, p99 INTEGER, stddev REAL",
      13);
  for (std::size_t g = 0; g < stats.size(); ++g) {
    const GroupStats& own = stats[g];
    if (own.count == 0) continue;
    Statement& row = table.insert();
    row.bind(1, std::string_view(labels.label(static_cast<GroupId>(g / split.parts()))));
    if (split.parts() > 1) row.bind(2, split.label(g));
    row.bind(3, names[g]).bind(4, own.count).bind(5, own.known).bind(6, own.total).bind(7, own.busy);
    if (own.known > 0) {
      row.bind(8, own.min).bind(9, own.max).bind(10, own.median).bind(11, own.p90).bind(12, own.p99);
      row.bind(13, own.stddev);
    }
    row.run();
  }
}

struct Grouping {
  GroupBy by;
  SplitBy split;
};

std::int64_t group_kernels(const Index& index, const EventFilter& filter, const Grouping& grouping,
                           const EventColumns& kernels, std::span<const std::uint32_t> devices,
                           std::span<const std::uint32_t> step) {
  const GroupBy by = grouping.by;
  const PassSplit split(index, grouping.split);
  const Labels all = labels(index, by);
  const auto ts = kernels.int64s("ts");
  const auto name = kernels.ids("name_id");
  const auto stream = kernels.ids("stream_id");
  const auto key = by == GroupBy::kPhase ? step : name;
  ColumnArray<GroupId> memory(kernels.size());
  const std::span<GroupId> groups = memory.values();
  const bool keeps_all = filter.keeps_all();
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    groups[i] =
        keeps_all || filter.keeps(ts[i], name[i], stream[i], step[i], i) ? split.of(all.of(key[i]), i) : kNoGroup;
  }
  const GroupedEvents events{ts, kernels.int64s("dur"), stream, devices, groups};
  const std::size_t count = all.count() * split.parts();
  const std::vector<GroupStats> stats = group_stats(events, count);
  const bool names_in_many = by == GroupBy::kPhase || (split.parts() > 1 && by != GroupBy::kName);
  write(index, all, split, stats, distinct_names(groups, name, count, names_in_many));
  return busy_time(events);
}

}  // namespace

std::int64_t make_kernel_group_table(const Index& index, const Selection& selection, GroupBy by, SplitBy split) {
  const EventFilter filter(index, selection);
  std::vector<std::string_view> columns = {"ts", "dur", "name_id", "stream_id"};
  const bool steps = by == GroupBy::kPhase || !filter.keeps_all();
  if (steps) columns.push_back("step_id");
  const EventColumns kernels(index, "kernel", columns);
  const std::vector<std::uint32_t> devices = devices_of_streams(index);
  const auto step = steps ? kernels.ids("step_id") : std::span<const std::uint32_t>();
  return group_kernels(index, filter, {by, split}, kernels, devices, step);
}

std::int64_t make_kernel_group_table(const Index& index, const Selection& selection, GroupBy by,
                                     const KernelPlaces& places, SplitBy split) {
  return group_kernels(index, EventFilter(index, selection, &places.steps, places.layers), {by, split},
                       places.events.kernels, places.events.device_of_stream, places.steps.of_kernel);
}

}  // namespace tracedb
