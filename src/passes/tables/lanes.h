// The devices or streams of a workload as tables of the passes show them: their time, their gaps, and where the host
// was during those.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "passes/host/host_activity.h"
#include "passes/tables/pass_tables.h"

namespace tracedb {

inline constexpr PassColumn kDeviceColumn = column("device_id", ColumnType::kInteger, "", "id in device");
inline constexpr PassColumn kStreamColumn =
    column("stream_id", ColumnType::kInteger, "", "id in stream; NULL: a whole device");
// For the reports, with kLaneJoins: their numbers.
inline constexpr PassColumn kDeviceNumber = derived("device", ColumnType::kInteger, "", "device number", "Device", "",
                                                    "1", "coalesce(d.ordinal, d.name, 'unknown')");
inline constexpr PassColumn kStreamNumber =
    derived("stream", ColumnType::kInteger, "", "stream number, with --per-stream", "Stream", "", "2", "s.number");
inline constexpr std::string_view kLaneJoins =
    "t LEFT JOIN device d ON d.id = t.device_id LEFT JOIN stream s ON s.id = t.stream_id";

// The workload must outlive the object.
class Lanes {
 public:
  Lanes(Workload& workload, const PassOptions& options);
  [[nodiscard]] std::vector<LaneTimeline> timelines() const {
    return tracedb::timelines(columns_.work(), launches_.calls(), options_);
  }
  // Of at least that length, in time order.
  [[nodiscard]] Gaps gaps_from(std::int64_t least) const {
    return gaps_in_order(columns_.work(), launches_.calls(), options_, least);
  }
  // The longest ones first; a limit of 0: all.
  [[nodiscard]] Gaps longest_gaps(std::size_t limit) const {
    return idle_gaps(columns_.work(), launches_.calls(), options_, limit);
  }
  void add(TableRows& rows, std::size_t lane) const;  // columns device_id and stream_id

 private:
  DeviceColumns columns_;
  LaunchColumns launches_;
  TimelineOptions options_;
  LaneBy by_;
  const std::vector<std::uint32_t>& device_of_stream_;
};

// The steps to which kernels and copies belong.
class GapSteps {
 public:
  explicit GapSteps(Workload& workload);
  [[nodiscard]] bool are_known() const { return steps_ != nullptr; }
  // Number of the step of what ended the gap.
  [[nodiscard]] std::optional<std::uint32_t> step(const Gap& gap) const;
  // Whether a step ends or begins in it: what is before and after it is not of one step. nullopt: there are no steps.
  [[nodiscard]] std::optional<bool> is_between(const Gap& gap) const;

 private:
  [[nodiscard]] std::uint32_t place(const EventRef& event) const;  // + 1; 0: in none
  const StepSet* steps_;                                           // null: there are none
};

// In the order of the gaps.
HostActivities host_activities(Workload& workload, std::span<const Gap> gaps);

// What a row about some gaps says of the host.
struct HostCells {
  HostPlace place;
  PlaceTime op, call;  // kNoPlace: none
  std::int64_t python_calls = 0;
};
HostCells host_cells(const HostActivities& all, std::size_t gap);
HostCells host_cells(const HostActivity& activity);

std::vector<PassColumn> with_host_columns(std::vector<PassColumn> columns);
void add_host(TableRows& rows, const HostActivities& all, const HostCells& cells);
void add_no_host(TableRows& rows);  // where no statement reads these columns

}  // namespace tracedb
