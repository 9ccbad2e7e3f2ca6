// Launching calls by name (passes/time/launch_stats.h).
#include "passes/tables/pass_tables.h"
#include "passes/time/launch_stats.h"

namespace tracedb {
namespace {

constexpr std::string_view kNoLaunch = "[no launch]";

// Runtime calls of all names: each name is a group, in order of appearance.
class NamedCalls {
 public:
  explicit NamedCalls(const Index& index) : columns_(index, "runtime_call") {
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
      const auto kind = static_cast<CallKind>(kinds[i]);
      is_launching_[i] = kind == CallKind::kLaunch || kind == CallKind::kGraphLaunch ? 1 : 0;
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

// Count, sum, median and 99th percentile; NULL: of no values.
void add(TableRows& rows, const Distribution& values) {
  const auto known = [&](auto value) { return values.count > 0 ? std::optional(value) : std::nullopt; };
  rows.add(values.count).add(known(values.total)).add(known(values.median)).add(known(values.p99));
}

void fill_launch_groups(Workload& workload, const PassOptions&, TableRows& rows) {
  const DeviceColumns columns(workload, LaneBy::kStream, Times::kOfStart);
  const NamedCalls calls(workload.index());
  const Launches launches = launch_stats(columns.work(), calls.calls(), calls.names().size());
  for (std::size_t g = 0; g < calls.names().size(); ++g) {
    const LaunchStats& stats = launches.groups[g];
    if (stats.calls == 0) continue;
    rows.add(text_of(workload.index(), calls.names()[g])).add(stats.calls).add(stats.launching).add(stats.kernels);
    add(rows, stats.api);
    rows.add(stats.api.count > 0 ? std::optional(stats.api.max) : std::nullopt);
    add(rows, stats.delay);
    rows.add(stats.started_early);
    add(rows, stats.queue);
  }
  if (launches.kernels_without_launch == 0) return;
  rows.add(kNoLaunch).add_null().add_null().add(launches.kernels_without_launch);
  constexpr int kFigures = 14;
  for (int i = 0; i < kFigures; ++i) rows.add_null();
}

}  // namespace

PassTable launch_calls_table() {
  using enum ColumnType;
  return {"launch_calls",
          "launching calls by name, and the kernels whose launch is not in the trace",
          {{"call", kText, "", "name of the call, or [no launch]"},
           {"calls", kInteger, "count", "calls that launched a kernel of the selection; without one, all that launch"},
           {"launching", kInteger, "count", "of them, that launched a kernel"},
           {"kernels", kInteger, "count", "kernels they launched"},
           {"api_known", kInteger, "count", "calls whose duration is known"},
           {"api_total", kInteger, "ns", "time in these calls"},
           {"api_median", kReal, "ns", "median time in a call"},
           {"api_p99", kInteger, "ns", "99th percentile, nearest rank"},
           {"api_max", kInteger, "ns", "longest time in a call"},
           {"delays", kInteger, "count", "calls whose delay is known"},
           {"delay_total", kInteger, "ns", "from their return to the start of their first kernel, at least 0"},
           {"delay_median", kReal, "ns", "median of these"},
           {"delay_p99", kInteger, "ns", "99th percentile"},
           {"started_early", kInteger, "count", "first kernels that started before the call returned"},
           {"queues", kInteger, "count", "as delays"},
           {"queue_total", kInteger, "ns", "of the delay, the part during which the stream had nothing else to run"},
           {"queue_median", kReal, "ns", "median of these"},
           {"queue_p99", kInteger, "ns", "99th percentile"}},
          fill_launch_groups};
}

}  // namespace tracedb
