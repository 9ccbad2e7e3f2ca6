// Where the time of each step goes, on the device and, while that waits, on the host: schema/METRICS.md 14. Linear but
// for the steps, each of which takes a few binary searches.
#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "base/unknown.h"
#include "passes/tables/pass_tables.h"
#include "passes/time/cover.h"

namespace tracedb {
namespace {

// An instant belongs to the first of them that covers it, else to nothing known.
constexpr std::size_t kOnDevice = 3;  // computing, communication, copies
constexpr std::size_t kOnHost = 3;    // runtime calls, the data loader, operators
constexpr std::size_t kShares = kOnDevice + kOnHost;
using Covers = std::array<Cover, kShares>;

// Of each step, with the work that it launched but not with the step before it on its thread.
std::vector<Extent> step_windows(const StepSet& set, const EventTables& events, const Window& cut) {
  std::vector<Extent> out(set.steps.size(), {std::numeric_limits<std::int64_t>::max(), 0});
  const auto add = [&](const EventColumns& table, std::span<const std::uint32_t> of) {
    const auto ts = table.int64s("ts"), dur = table.int64s("dur");
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (of[i] == 0 || of[i] > out.size()) continue;
      Extent& window = out[of[i] - 1];
      window = {std::min(window.begin, ts[i]), std::max(window.end, saturating_add(ts[i], duration_or_zero(dur[i])))};
    }
  };
  add(events.kernels, set.of_kernel);
  add(events.memory, set.of_memory);
  std::unordered_map<std::uint32_t, std::int64_t> until;  // by track: the end of the step before
  for (std::size_t i = 0; i < out.size(); ++i) {
    const StepFacts& step = set.steps[i];
    Extent& window = out[i];
    if (step.ts != kUnknownValue) {
      window.begin = step.ts;
      window.end = std::max(window.end, saturating_add(step.ts, duration_or_zero(step.dur)));
    }
    std::int64_t& before = until[step.track * 2 + (step.on_device ? 1 : 0)];
    window.begin = std::max({window.begin, before, cut.from});
    before = std::max(before, window.end);
    window.end = std::min(window.end, cut.to);
  }
  return out;
}

// Of operators and annotations, those in which the loader of PyTorch gives its next batch.
std::vector<bool> loader_names(const Index& index) {
  std::vector<bool> out;
  Statement names(index.database(),
                  "SELECT id FROM string WHERE value GLOB 'enumerate(DataLoader)#*' OR value GLOB "
                  "'enumerate(DataPipe)#*' ORDER BY id");
  while (names.step()) {
    out.resize(names.id(0) + std::size_t{1});
    out[names.id(0)] = true;
  }
  return out;
}

std::array<Cover, kOnHost> host_covers(const Index& index) {
  std::array<std::vector<Extent>, kOnHost> spans;
  const std::vector<bool> loaders = loader_names(index);
  for (const auto& [table, place] :
       {std::pair("runtime_call", 0), std::pair("cpu_op", 2), std::pair("annotation", 1)}) {
    const EventColumns columns(index, table);
    const auto ts = columns.int64s("ts"), dur = columns.int64s("dur");
    const auto names = columns.ids("name_id");
    for (std::size_t i = 0; i < ts.size(); ++i) {
      const bool loads = place != 0 && has_id(loaders, names[i]);
      if (place == 1 && !loads) continue;
      spans.at(static_cast<std::size_t>(loads ? 1 : place))
          .push_back({ts[i], saturating_add(ts[i], duration_or_zero(dur[i]))});
    }
  }
  std::array<Cover, kOnHost> out;
  for (std::size_t i = 0; i < kOnHost; ++i) out.at(i) = Cover(spans.at(i));
  return out;
}

// By device: of each share, the union with all before it.
std::vector<Covers> covers_of_devices(const DeviceWork& work, const Index& index) {
  std::vector<std::array<std::vector<Extent>, kOnDevice>> spans(work.lanes);
  for_each_in_order(work, [&](const DeviceEvent& event) {
    const std::size_t share = event.work == Work::kCopy ? 2 : (communicates(event.work) ? 1 : 0);
    spans[event.lane].at(share).push_back({event.ts, event.end});
  });
  const std::array<Cover, kOnHost> host = host_covers(index);
  std::vector<Covers> out(work.lanes);
  for (std::size_t lane = 0; lane < work.lanes; ++lane) {
    Covers& covers = out[lane];
    for (std::size_t i = 0; i < kShares; ++i) {
      Cover own = i < kOnDevice ? Cover(spans[lane].at(i)) : host.at(i - kOnDevice);
      covers.at(i) = i == 0 ? std::move(own) : covers.at(i - 1).united(own);
    }
  }
  return out;
}

// By step, then device lane: whether it runs work of the step there that is selected.
std::vector<std::vector<bool>> places_of_steps(Workload& workload, const DeviceWork& work) {
  const StepSet& set = workload.steps();
  const EventFilter filter = workload.filter(Times::kWindow);
  std::vector<std::vector<bool>> out(set.steps.size(), std::vector<bool>(work.lanes));
  for_each_in_order(work, [&](const DeviceEvent& event) {
    const std::size_t row = event.ref.id - 1;
    const std::uint32_t step = event.ref.is_memory_op ? set.of_memory[row] : set.of_kernel[row];
    if (step == 0 || step > out.size()) return;
    if (event.ref.is_memory_op ? filter.keeps_memory_op(row) : filter.keeps_kernel(row)) {
      out[step - 1][event.lane] = true;
    }
  });
  return out;
}

// Cells behind those that say which step and device: the window and what it is spent on.
void add_times(TableRows& rows, const Extent& window, const Covers& covers) {
  rows.add(window.begin).add(window.length());
  std::int64_t before = 0;
  for (const Cover& cover : covers) {
    const std::int64_t covered = cover.within(window);
    rows.add(covered - before);
    before = covered;
  }
  rows.add(window.length() - before);
}

// Where there are no steps: a row for each device, from the first to the last of what is recorded; without device
// work, one of the host.
void add_whole_trace(const Selection& selection, const DeviceColumns& columns, const std::vector<Covers>& covers,
                     TableRows& rows) {
  if (selection.names_steps() || !selection.devices.empty() || !selection.streams.empty()) return;
  const Window cut = window_of(selection);
  const auto works = [](const Covers& own) { return own[kOnDevice - 1].bounds().length() > 0; };
  const bool any = std::ranges::any_of(covers, works);
  for (std::size_t lane = 0; lane < covers.size(); ++lane) {
    if (any ? !works(covers[lane]) : lane > 0) continue;
    Extent window = covers[lane].back().bounds();
    window = {std::max(window.begin, cut.from), std::min(window.end, cut.to)};
    if (window.length() == 0) continue;
    rows.add_null().add_null().add("[whole trace]");
    rows.add(columns.lane_id(lane) == 0 ? std::nullopt : std::optional(columns.lane_id(lane)));
    add_times(rows, window, covers[lane]);
  }
}

void fill_breakdown(Workload& workload, const PassOptions&, TableRows& rows) {
  const StepSet& set = workload.steps();
  const Selection& selection = workload.selection();
  const DeviceColumns columns(workload.events(), LaneBy::kDevice);
  const DeviceWork work = columns.work();
  const std::vector<Covers> covers = covers_of_devices(work, workload.index());
  if (set.steps.empty()) return add_whole_trace(selection, columns, covers, rows);
  const std::vector<Extent> windows = step_windows(set, workload.events(), window_of(selection));
  const std::vector<std::vector<bool>> places = places_of_steps(workload, work);
  const std::vector<bool> selected = selected_steps(set, selection);
  const bool names_places = !selection.devices.empty() || !selection.streams.empty();
  for (std::size_t i = 0; i < set.steps.size(); ++i) {
    const StepFacts& step = set.steps[i];
    // A step that ran nothing on a device has one row, of the host: lane 0 is that of no device.
    const bool on_host = std::ranges::find(places[i], true) == places[i].end();
    if (windows[i].length() == 0 || (on_host && (!selected[i + 1] || names_places))) continue;
    for (std::size_t lane = 0; lane < work.lanes; ++lane) {
      if (on_host ? lane > 0 : !places[i][lane]) continue;
      rows.add(i).add(to_string(step.info.kind));
      rows.add(set.source == StepSource::kInferred ? std::nullopt : std::optional<std::string_view>(step.name));
      rows.add(columns.lane_id(lane) == 0 ? std::nullopt : std::optional(columns.lane_id(lane)));
      add_times(rows, windows[i], covers[lane]);
    }
  }
}

}  // namespace

PassTable breakdown_table() {
  using enum ColumnType;
  return {
      "step_breakdown",
      "where the time of each step goes, by device",
      {column("step", kInteger, "", "number of the step, from 0 in time order; NULL: there are no steps", "Step", "",
              "8"),
       column("phase", kText, "", "kind of step", "Phase", "", "4"),
       column("name", kText, "", "annotation of the step; NULL: inferred; [whole trace]: there are no steps", "Name",
              "label", "2"),
       column("device_id", kInteger, "", "id in device; NULL: the step ran nothing on one"),
       column("ts", kInteger, "ns", "start; not before the step before it on its thread has ended", "Start", "min"),
       column("length", kInteger, "ns", "to its end, or to that of the last work that it launched", "Length", "sum",
              "9"),
       column("computing", kInteger, "ns", "kernels and fills run", "Computing", "sum", "7"),
       column("exposed_comm", kInteger, "ns", "else communication runs", "Exposed Comm", "sum", "6"),
       column("copy", kInteger, "ns", "else a copy runs", "Copy", "sum", "5"),
       column("runtime", kInteger, "ns", "else a runtime call is open on some thread", "Runtime", "sum", "5"),
       column("data_loader", kInteger, "ns", "else the data loader gives a batch", "Data Loader", "sum", "5"),
       column("operators", kInteger, "ns", "else a framework operator is open on some thread", "Operators", "sum", "5"),
       column("other", kInteger, "ns", "nothing of these", "Other", "sum", "6"),
       derived("device", kInteger, "", "device number", "Device", "", "1",
               "(SELECT coalesce(d.ordinal, d.name) FROM device d WHERE d.id = device_id)"),
       derived("busy_pct", kReal, "percent", "computing, exposed communication and copies as a share of the length",
               "Busy (%)", "", "6", "100.0 * (computing + exposed_comm + copy) / length")},
      fill_breakdown,
      {"breakdown",
       "step phase device length busy_pct computing exposed_comm copy runtime data_loader operators other ts name",
       "step, device_id", "", "Each row adds up to its length."}};
}

}  // namespace tracedb
