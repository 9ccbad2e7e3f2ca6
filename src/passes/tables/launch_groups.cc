#include "passes/tables/launch_groups.h"

#include <string>
#include <vector>

#include "passes/select/device_columns.h"
#include "passes/time/launch_stats.h"
#include "sql/temp_table.h"

namespace tracedb {
namespace {

constexpr std::string_view kNoLaunch = "[no launch]";

// Runtime calls of all names: each name is a group, in order of appearance.
class NamedCalls {
 public:
  explicit NamedCalls(const Index& index) : columns_(index, "runtime_call", {"ts", "dur", "name_id", "kind"}) {
    const auto strings = static_cast<std::uint32_t>(
        index.database().query_int64("SELECT min(max(id), 4294967294) FROM string").value_or(0));
    std::vector<GroupId> group_of_name(std::size_t{strings} + 1, kNoGroup);
    const auto names = columns_.ids("name_id");
    const auto kinds = columns_.ids("kind");
    group_.resize(names.size());
    is_launching_.resize(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::uint32_t name = names[i] <= strings ? names[i] : 0;  // 0: a damaged index
      if (group_of_name[name] == kNoGroup) {
        group_of_name[name] = static_cast<GroupId>(names_.size());
        names_.push_back(name);
      }
      group_[i] = group_of_name[name];
      const auto kind = static_cast<StoredCallKind>(kinds[i]);
      is_launching_[i] = kind == StoredCallKind::kLaunch || kind == StoredCallKind::kGraphLaunch ? 1 : 0;
    }
  }
  [[nodiscard]] RuntimeCalls calls() const {
    return {columns_.int64s("ts"), columns_.int64s("dur"), group_, is_launching_};
  }
  [[nodiscard]] const std::vector<std::uint32_t>& names() const { return names_; }  // by group

 private:
  EventColumns columns_;
  std::vector<std::uint32_t> names_;
  std::vector<GroupId> group_;
  std::vector<std::uint8_t> is_launching_;
};

std::string text_of(const Index& index, std::uint32_t string) {
  Statement statement(index.database(), "SELECT value FROM string WHERE id = ?");
  statement.bind(1, std::int64_t{string});
  return statement.step() ? std::string(statement.text(0)) : "[no name]";
}

void bind(Statement& row, int first, const Distribution& values) {
  row.bind(first, values.count);
  if (values.count == 0) return;
  row.bind(first + 1, values.total).bind(first + 2, values.median).bind(first + 3, values.p99);
}

void write(const Index& index, const Launches& launches, const std::vector<std::uint32_t>& names) {
  std::vector<std::string> texts;  // before the table is open: it is one transaction
  for (const std::uint32_t name : names) texts.push_back(text_of(index, name));
  TempTable table(index.database(), "launch_group",
                  "call TEXT, calls INTEGER, launching INTEGER, kernels INTEGER, api_known INTEGER, api_total INTEGER, "
                  "api_median REAL, api_p99 INTEGER, api_max INTEGER, delays INTEGER, delay_total INTEGER, "
                  "delay_median REAL, delay_p99 INTEGER, started_early INTEGER, queues INTEGER, queue_total INTEGER, "
                  "queue_median REAL, queue_p99 INTEGER",
                  18);
  for (std::size_t g = 0; g < texts.size(); ++g) {
    const LaunchStats& stats = launches.groups[g];
    if (stats.calls == 0) continue;
    Statement& row = table.insert();
    row.bind(1, std::string_view(texts[g])).bind(2, stats.calls).bind(3, stats.launching).bind(4, stats.kernels);
    bind(row, 5, stats.api);
    if (stats.api.count > 0) row.bind(9, stats.api.max);
    bind(row, 10, stats.delay);
    row.bind(14, stats.started_early);
    bind(row, 15, stats.queue);
    row.run();
  }
  if (launches.kernels_without_launch == 0) return;
  table.insert().bind(1, kNoLaunch).bind(4, launches.kernels_without_launch);
  table.insert().run();
}

}  // namespace

void make_launch_group_table(const Index& index, const Selection& selection, const DevicePlaces* places) {
  const DeviceColumns columns(index, selection, LaneBy::kStream, Times::kOfStart, places);
  const NamedCalls calls(index);
  write(index, launch_stats(columns.work(), calls.calls(), calls.names().size()), calls.names());
}

}  // namespace tracedb
