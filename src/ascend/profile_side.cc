#include "ascend/profile_side.h"

#include <span>
#include <string>

#include "ascend/profile_sums.h"
#include "base/saturating.h"
#include "base/text/decimal.h"
#include "passes/columns/event_columns.h"

namespace tracedb {
namespace {

// Names and shapes of tasks; not every index has them. Whether it does.
bool read_tasks(Database& database, ProfileSums& sums) {
  if (!database.query_int64("SELECT 1 FROM sqlite_master WHERE name = 'task_info'")) return false;
  Statement tasks(database, "SELECT launch_config_id, name, input_shapes FROM task_info");
  bool any = false;
  for (; tasks.step(); any = true) {
    sums.describe_task(tasks.id(0), {std::string(tasks.text(1)), normalized_shapes(tasks.text(2))});
  }
  return any;
}

}  // namespace

std::optional<DuplicatePolicy> duplicate_policy_from(std::string_view text) {
  if (text == "trunc-us") return DuplicatePolicy{DuplicateRule::kTruncate, 0};
  if (text == "name") return DuplicatePolicy{DuplicateRule::kName, 0};
  if (text == "none") return DuplicatePolicy{DuplicateRule::kNone, 0};
  constexpr std::string_view kWindow = "window=";
  if (!text.starts_with(kWindow)) return std::nullopt;
  std::string_view size = text.substr(kWindow.size());
  const bool is_us = size.ends_with("us");
  if (is_us || size.ends_with("ns")) size.remove_suffix(2);
  const auto window = is_us ? parse_microseconds(size) : parse_int64(size);
  if (!window || *window < 0) return std::nullopt;
  return DuplicatePolicy{DuplicateRule::kWindow, *window};
}

ProfileTotal ProfileSide::sum() const {
  ProfileTotal sum;
  for (const auto& [key, total] : totals) {
    sum.ns = saturating_add(sum.ns, total.ns);
    sum.count += total.count;
  }
  return sum;
}

ProfileSide read_profile_side(const Index& index, KeyBy key, const DuplicatePolicy& policy) {
  ProfileSums sums(key, policy, index.meta_int64("base_time_ns").value_or(0));
  sums.name_type(0, "[no name]");
  Statement names(index.database(), "SELECT id, name FROM kernel_name");
  while (names.step()) sums.name_type(names.id(0), std::string(names.text(1)));
  const EventColumns columns(index, "kernel");
  const auto ts = columns.int64s("ts");
  const auto dur = columns.int64s("dur");
  const auto type = columns.ids("name_id");
  const auto stream = columns.ids("stream_id");
  const bool has_tasks = read_tasks(index.database(), sums);
  const auto tasks = has_tasks ? columns.ids("launch_config_id") : std::span<const std::uint32_t>();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool known = dur[i] >= 0;
    sums.add({type[i], has_tasks ? tasks[i] : 0, stream[i], ts[i], known ? std::optional(dur[i]) : std::nullopt});
  }
  return sums.finish();
}

}  // namespace tracedb
