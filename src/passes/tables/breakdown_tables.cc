// Where the time of each step goes, on the device and, while that waits, on the host: schema/METRICS.md 14. One walk
// over all events in order of time.
#include <algorithm>
#include <any>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/time_cover.h"
#include "base/unknown.h"
#include "passes/critical/host_events.h"
#include "passes/host/host_activity.h"
#include "passes/steps/step_stats.h"
#include "passes/tables/pass_tables.h"
#include "trace/format_holds.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

// An instant belongs to the first of them that covers it, else to nothing known: of the device computing, communication
// and copies; of the host runtime calls, the data loader and operators.
enum Share : std::size_t { kComputing, kExposedComm, kCopying, kRuntime, kLoading, kOperators, kShares };
constexpr std::size_t kOnDevice = kRuntime;  // shares of the device, each of which is split by pass

// By the value of the column of kernels and copies less 1, behind them what is in none.
constexpr std::size_t kPasses = kPassNames.size() + 1;
constexpr std::size_t kParts = kOnDevice * kPasses + (kShares - kOnDevice);
constexpr std::size_t first_part(std::size_t share) {
  return share < kOnDevice ? share * kPasses : share + kOnDevice * (kPasses - 1);
}
using Sums = std::array<std::int64_t, kParts>;  // ns of each part and all before it

// Of each step, with the work that it launched but not with the step before it on its thread; of no length where that
// takes it in whole. What is not in `cut` ends before it begins.
std::vector<Extent> step_windows(const StepSet& set, const EventTables& events, const Window& cut) {
  std::vector<Extent> out = extents_of_steps(set, events);
  std::unordered_map<std::uint32_t, std::int64_t> until;  // by track: the end of the step before
  for (std::size_t i = 0; i < out.size(); ++i) {
    const StepFacts& step = set.steps[i];
    Extent& window = out[i];
    const bool inside = window.begin < cut.to && window.end > cut.from;
    std::int64_t& before = until[step.track * 2 + (step.on_device ? 1 : 0)];
    window.begin = std::max({window.begin, before, cut.from});
    before = std::max(before, window.end);
    window.end = inside ? std::max(std::min(window.end, cut.to), window.begin) : kUnknownValue;
  }
  return out;
}

// What the host does, in order of time.
class HostEvents {
 public:
  explicit HostEvents(Workload& workload)
      : loaders_(loader_names(workload.index())),
        events_(workload.index(), workload.events(), sources(workload, loaders_)),
        next_(events_.next()) {
    for (const StepFacts& step : workload.steps().steps) {
      if (!step.on_device && step.track != 0) stepping_.insert(step.track);
    }
  }

  // Calls visit(share, event) for what begins before `time` and was not visited before.
  template <class Visit>
  void advance(std::int64_t time, Visit visit) {
    for (; next_ != nullptr && next_->ts < time; next_ = events_.next()) {
      const Share share = share_of(*next_);
      if (share != kShares) visit(share, *next_);
    }
  }

 private:
  static std::vector<HostSource> sources(const Workload& workload, const std::vector<bool>& loaders) {
    std::vector<HostSource> out = {HostSource::kCall};
    if (operators_run_on_host(workload.index().meta("vendor").value_or(""))) out.push_back(HostSource::kOperator);
    if (loaders.size() > 1) out.push_back(HostSource::kAnnotation);
    return out;
  }
  // kShares: of none.
  [[nodiscard]] Share share_of(const HostEvent& event) const {
    if (event.source == HostSource::kCall) return kRuntime;
    if (has_id(loaders_, event.what) && (stepping_.empty() || stepping_.contains(event.thread))) return kLoading;
    return event.source == HostSource::kOperator ? kOperators : kShares;
  }

  std::vector<bool> loaders_;
  std::unordered_set<std::uint32_t>
      stepping_;  // threads that mark steps: no other's loader makes them wait; empty: not known
  HostEventReader events_;
  const HostEvent* next_;
};

// How much of a lane's time each part and all before it cover, up to where a walk over all events has come.
class Covered {
 public:
  void add(std::size_t part, std::int64_t begin, std::int64_t end) {
    if (end <= begin) return;
    first_ = std::min(first_, begin);
    for (std::size_t i = part; i < kParts && end > ends_[i]; ++i) {  // later ones reach as far, or farther
      sums_[i] = saturating_add(sums_[i], end - std::max(begin, ends_[i]));
      ends_[i] = end;
    }
  }
  // Before `time`, which is not before the begin of what was added.
  [[nodiscard]] Sums until(std::int64_t time) const {
    Sums out = sums_;
    for (std::size_t i = 0; i < kParts; ++i) out[i] -= std::max<std::int64_t>(ends_[i] - time, 0);
    return out;
  }
  // Of all that was added.
  [[nodiscard]] Extent bounds() const { return {first_, ends_.back()}; }
  [[nodiscard]] bool has_work() const { return sums_[first_part(kOnDevice) - 1] > 0; }

 private:
  Sums sums_{}, ends_{};
  std::int64_t first_ = std::numeric_limits<std::int64_t>::max();
};

// What covers windows of time, asked for while events come by in order of begin.
class WindowSums {
 public:
  // `places`: by window, then lane, whether that is asked for.
  WindowSums(std::span<const Extent> windows, std::span<const std::vector<bool>> places, std::size_t lanes)
      : places_(places), lanes_(lanes) {
    for (std::size_t i = 0; i < windows.size(); ++i) {
      if (windows[i].length() == 0) continue;
      edges_.push_back({windows[i].begin, i, false});
      edges_.push_back({windows[i].end, i, true});
    }
    std::ranges::sort(edges_, {}, &Edge::time);
  }

  void add(std::size_t lane, std::size_t part, std::int64_t begin, std::int64_t end) {
    answer(begin);
    lanes_[lane].add(part, begin, end);
  }
  void add_to_all(std::size_t part, std::int64_t begin, std::int64_t end) {
    answer(begin);
    for (Covered& lane : lanes_) lane.add(part, begin, end);
  }
  // After the last event: what all events cover, by lane.
  const std::vector<Covered>& finish() {
    answer(std::numeric_limits<std::int64_t>::max());
    return lanes_;
  }

  // After finish().
  [[nodiscard]] Sums of(std::size_t window, std::size_t lane) const {
    const auto found = sums_.find({window, lane});
    return found == sums_.end() ? Sums{} : found->second;  // of no length
  }

 private:
  struct Edge {
    std::int64_t time;
    std::size_t window;
    bool ends;
  };

  // What no event can change that begins at `time` or later.
  void answer(std::int64_t time) {
    for (; next_ < edges_.size() && edges_[next_].time <= time; ++next_) {
      const Edge& edge = edges_[next_];
      for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        if (!places_[edge.window][lane]) continue;
        const Sums until = lanes_[lane].until(edge.time);
        Sums& own = sums_[{edge.window, lane}];
        for (std::size_t i = 0; i < kParts; ++i) own[i] = edge.ends ? until[i] - own[i] : until[i];
      }
    }
  }

  std::span<const std::vector<bool>> places_;
  std::vector<Covered> lanes_;
  std::map<std::pair<std::size_t, std::size_t>, Sums> sums_;  // by window and lane
  std::vector<Edge> edges_;
  std::size_t next_ = 0;
};

Share share_of(Work work) {
  if (work == Work::kCopy) return kCopying;
  return communicates(work) ? kExposedComm : kComputing;
}

// By lane: the processes that launch there. Empty, as by lane of no launch, where there is but one.
std::vector<std::set<std::uint32_t>> launching_processes(Workload& workload, const DeviceWork& work,
                                                         const std::vector<std::uint32_t>& process_of) {
  std::vector<std::set<std::uint32_t>> out(work.lanes);
  const auto thread = workload.events().calls.ids("thread_id");
  std::vector<bool> calls(process_of.size());
  for (const std::uint32_t one : thread) {
    if (one < calls.size()) calls[one] = true;
  }
  std::set<std::uint32_t> callers;
  for (std::size_t one = 1; one < calls.size(); ++one) {
    if (calls[one]) callers.insert(process_of[one]);
  }
  if (callers.size() < 2) return out;
  for_each_in_order(work, [&](const DeviceEvent& event) {
    if (event.launch == 0 || event.launch > thread.size()) return;
    if (const std::uint32_t own = thread[event.launch - 1]; own < process_of.size())
      out[event.lane].insert(process_of[own]);
  });
  return out;
}

// Walks over all events; what they cover, by lane, is what it returns.
const std::vector<Covered>& walk(Workload& workload, const DeviceWork& work, WindowSums& windows) {
  HostEvents host(workload);
  const std::vector<std::uint32_t> process_of = ids_by_id(workload.index(), "thread", "process_id");
  const std::vector<std::set<std::uint32_t>> processes = launching_processes(workload, work, process_of);
  const bool apart = std::ranges::any_of(processes, [](const auto& of_lane) { return !of_lane.empty(); });
  const auto on_host = [&](Share share, const HostEvent& event) {
    if (!apart) return windows.add_to_all(first_part(share), event.ts, event.end);
    for (std::size_t lane = 0; lane < work.lanes; ++lane) {
      const bool other = !processes[lane].empty() && event.thread < process_of.size() &&
                         !processes[lane].contains(process_of[event.thread]);
      if (!other) windows.add(lane, first_part(share), event.ts, event.end);
    }
  };
  const EventIds passes(workload.events(), "pass");
  for_each_in_order(work, [&](const DeviceEvent& event) {
    host.advance(event.ts, on_host);
    const std::uint32_t pass = passes[event.ref];
    const std::size_t place = (pass == 0 || pass >= kPasses ? kPasses : pass) - 1;
    windows.add(event.lane, first_part(share_of(event.work)) + place, event.ts, event.busy_until());
  });
  host.advance(std::numeric_limits<std::int64_t>::max(), on_host);
  return windows.finish();
}

// By step, then device lane: whether it runs work of the step there that is selected. Where no work of a step is known
// on a device, its launches may be lost: it is judged there too if work of no launch runs there during its window, and
// other steps of its process run on that device, if it is known where they do.
std::vector<std::vector<bool>> places_of_steps(Workload& workload, const DeviceWork& work,
                                               std::span<const Extent> windows) {
  const StepSet& set = workload.steps();
  const EventFilter filter = workload.filter(Times::kWindow);
  const EventFilter loose_filter = workload.filter(Times::kWindow, false);
  const std::vector<bool> selected = selected_steps(set, workload.selection());
  std::vector<std::vector<bool>> out(set.steps.size(), std::vector<bool>(work.lanes));
  std::vector<std::vector<bool>> runs = out;  // whatever is selected
  std::vector<TimeCover> loose(work.lanes);   // work of no launch and in no step
  for_each_in_order(work, [&](const DeviceEvent& event) {
    const std::uint32_t step = set.of(event.ref);
    if (step != 0 && step <= out.size()) {
      runs[step - 1][event.lane] = true;
      if (filter.keeps(event.ref)) out[step - 1][event.lane] = true;
    } else if (event.launch == 0 && loose_filter.keeps(event.ref)) {
      loose[event.lane].add(event.ts, std::max(event.end, event.ts + 1));  // also of no known length
    }
  });
  const std::vector<std::uint32_t> processes = ids_by_id(workload.index(), "thread", "process_id");
  std::map<std::pair<bool, std::uint32_t>, std::vector<bool>> by_process;  // by stream of steps that are marked on one
  const auto devices_of = [&](const StepFacts& step) -> std::vector<bool>& {
    const bool on_thread = !step.on_device && step.track < processes.size();
    std::vector<bool>& lanes = by_process[{step.on_device, on_thread ? processes[step.track] : step.track}];
    lanes.resize(work.lanes);
    return lanes;
  };
  const auto any = [](const std::vector<bool>& lanes) { return std::ranges::find(lanes, true) != lanes.end(); };
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::vector<bool>& devices = devices_of(set.steps[i]);
    for (std::size_t lane = 0; lane < work.lanes; ++lane) devices[lane] = devices[lane] || runs[i][lane];
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!selected[i + 1]) continue;
    const std::vector<bool>& devices = devices_of(set.steps[i]);
    for (std::size_t lane = 0; lane < work.lanes; ++lane) {
      if (!runs[i][lane])
        out[i][lane] = (devices[lane] || !any(devices)) && loose[lane].covered(windows[i].begin, windows[i].end) > 0;
    }
  }
  return out;
}

// Where the time of a step on a device goes.
struct StepTime {
  std::optional<std::size_t> step;      // place in the set; none: the whole trace
  std::optional<std::uint32_t> device;  // none: the step ran nothing on one
  Extent window;
  Sums sums;

  // ns of parts [first, last).
  [[nodiscard]] std::int64_t of(std::size_t first, std::size_t last) const {
    return sums.at(last - 1) - (first == 0 ? 0 : sums.at(first - 1));
  }
  [[nodiscard]] std::int64_t of(std::size_t share) const { return of(first_part(share), first_part(share + 1)); }
  [[nodiscard]] std::int64_t other() const { return window.length() - sums.back(); }
};

// Where there are no steps: a row for each device, from the first to the last of what is recorded; without device
// work, one of the host.
std::vector<StepTime> time_of_trace(Workload& workload, const DeviceColumns& columns, const DeviceWork& work) {
  const Selection& selection = workload.selection();
  if (selection.names_steps()) return {};
  const Window cut = window_of(selection);
  const Extent window{cut.from, cut.to};
  const std::vector<bool> everywhere(work.lanes, true);
  std::vector<bool> chosen(work.lanes, selection.devices.empty() && selection.streams.empty());
  const EventFilter filter = workload.filter(Times::kWindow);
  for_each_in_order(work, [&](const DeviceEvent& event) {
    if (filter.keeps(event.ref)) chosen[event.lane] = true;
  });
  WindowSums windows({&window, 1}, {&everywhere, 1}, work.lanes);
  const std::vector<Covered>& lanes = walk(workload, work, windows);
  const bool any = std::ranges::any_of(lanes, &Covered::has_work);
  std::vector<StepTime> out;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (!chosen[lane] || (any ? !lanes[lane].has_work() : lane > 0)) continue;
    const Extent all = lanes[lane].bounds();
    const Extent own{std::max(all.begin, cut.from), std::min(all.end, cut.to)};
    if (own.length() > 0) out.push_back({{}, known_id(columns.lane_id(lane)), own, windows.of(0, lane)});
  }
  return out;
}

// `steps`: of each step. `as_one`: of the time from the first step to the last.
struct StepTimes {
  std::vector<StepTime> steps, as_one;
};

// Adds one window from the first to the last of those that count, with all their lanes; that of the host only where
// there is no other.
void add_united(std::vector<Extent>& windows, std::vector<std::vector<bool>>& places, const std::vector<bool>& on_host,
                const std::vector<bool>& counts) {
  const bool any = std::ranges::find(on_host, false) != on_host.end();
  Extent all{std::numeric_limits<std::int64_t>::max(), 0};
  std::vector<bool> lanes(places.front().size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!counts[i]) continue;
    all = {std::min(all.begin, windows[i].begin), std::max(all.end, windows[i].end)};
    if (on_host[i] == any) continue;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] = lanes[lane] || places[i][lane];
  }
  windows.push_back(all);
  places.push_back(lanes);
}

// Behind the last step that counts where the steps at the end launch nothing, or the last one that launches anything
// less than 80 % of what the one before does: the recording may have ended while it ran.
std::size_t end_of_complete(const StepSet& set, const DeviceWork& work) {
  std::vector<std::size_t> launched(set.steps.size() + 1);
  for_each_in_order(work, [&](const DeviceEvent& event) {
    if (const std::uint32_t step = set.of(event.ref); step < launched.size()) ++launched[step];
  });
  std::size_t last = set.steps.size();
  while (last > 0 && launched[last] == 0) --last;
  if (last == 0) return set.steps.size();
  return last > 1 && launched[last] * 10 < launched[last - 1] * 8 ? last - 1 : last;
}

StepTimes measure_steps(Workload& workload, bool complete_only) {
  const StepSet& set = workload.steps();
  const Selection& selection = workload.selection();
  const DeviceColumns columns(workload.events(), LaneBy::kDevice);
  const DeviceWork work = columns.work();
  if (set.steps.empty()) {
    const std::vector<StepTime> all = time_of_trace(workload, columns, work);
    return {all, all};
  }
  std::vector<Extent> windows = step_windows(set, workload.events(), window_of(selection));
  std::vector<std::vector<bool>> places = places_of_steps(workload, work, windows);
  const std::vector<bool> selected = selected_steps(set, selection);
  const bool names_work =
      !selection.devices.empty() || !selection.streams.empty() || selection.names_kernels() || selection.layer;
  // A step that ran nothing on a device has one row, of the host: lane 0 is that of no device.
  std::vector<bool> on_host(places.size()), counts(places.size());
  const std::size_t end = complete_only ? end_of_complete(set, work) : places.size();
  for (std::size_t i = 0; i < places.size(); ++i) {
    on_host[i] = std::ranges::find(places[i], true) == places[i].end();
    if (on_host[i]) places[i][0] = true;
    counts[i] = i < end && windows[i].end >= windows[i].begin && (!on_host[i] || (selected[i + 1] && !names_work));
  }
  add_united(windows, places, on_host, counts);
  WindowSums sums(windows, places, work.lanes);
  walk(workload, work, sums);
  StepTimes out;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const bool united = i == counts.size();
    if (united ? windows[i].end < windows[i].begin : !counts[i]) continue;
    for (std::size_t lane = 0; lane < work.lanes; ++lane) {
      if (!places[i][lane]) continue;
      (united ? out.as_one : out.steps).push_back({i, known_id(columns.lane_id(lane)), windows[i], sums.of(i, lane)});
    }
  }
  return out;
}

// Several tables are about them, which one walk over all events fills.
const StepTimes& times_of_steps(Workload& workload, const PassOptions& options) {
  std::any& kept = workload.step_times();
  if (!kept.has_value()) kept = measure_steps(workload, options.complete_steps);
  return std::any_cast<const StepTimes&>(kept);
}

// The integral over time of a sum of weights, each from one moment to another, where it is at most `most`.
class WeightOverTime {
 public:
  explicit WeightOverTime(double most) : most_(most) {}
  void add(std::int64_t begin, std::int64_t end, double weight) {
    points_.push_back({begin, weight, 0});
    points_.push_back({end, -weight, 0});
  }
  void finish() {
    std::ranges::sort(points_, {}, &Point::time);
    double sum = 0, rate = 0;
    std::int64_t before = 0;
    for (Point& point : points_) {
      sum += rate * static_cast<double>(point.time - before);
      before = point.time;
      rate = std::clamp(rate_ += point.weight, 0.0, most_);
      point = {point.time, rate, sum};
    }
  }
  [[nodiscard]] double within(const Extent& window) const { return until(window.end) - until(window.begin); }
  [[nodiscard]] bool empty() const { return points_.empty(); }

 private:
  struct Point {
    std::int64_t time;
    double weight, sum;  // after finish(): what holds from there on, and the integral until there
  };
  [[nodiscard]] double until(std::int64_t time) const {
    const auto later = std::ranges::upper_bound(points_, time, {}, &Point::time);
    if (later == points_.begin()) return 0;
    const Point& last = *std::prev(later);
    return last.sum + last.weight * static_cast<double>(time - last.time);
  }
  std::vector<Point> points_;
  double most_, rate_ = 0;
};

// What launches of one device occupy, as the profiler estimates it.
struct Occupied {
  WeightOverTime multiprocessors{1}, known{kNoLimit}, occupancy{kNoLimit};
  bool all_blocks = true;  // every launch has them
  static constexpr double kNoLimit = std::numeric_limits<double>::max();
};

std::map<std::uint32_t, Occupied> occupied_by_device(Workload& workload) {
  const EventColumns& kernels = workload.events().kernels;
  // By id: blocks by multiprocessors, occupancy; below 0: not known.
  const auto configs = by_id(
      workload.index(),
      "SELECT id, ifnull(blocks_per_sm, -1), ifnull(occupancy_pct, -1) FROM launch_config ORDER BY id",
      [](const Statement& row) { return std::pair(row.real(1), row.real(2)); }, std::pair(-1.0, -1.0));
  std::map<std::uint32_t, Occupied> out;
  const auto ts = kernels.int64s("ts"), dur = kernels.int64s("dur");
  const auto config = kernels.ids("launch_config_id"), stream = kernels.ids("stream_id");
  const std::vector<std::uint32_t>& devices = workload.events().device_of_stream;
  for (std::size_t i = 0; i < ts.size(); ++i) {
    if (config[i] >= configs.size() || duration_or_zero(dur[i]) == 0 || stream[i] >= devices.size()) continue;
    const auto [blocks, occupancy] = configs[config[i]];
    const std::int64_t end = saturating_add(ts[i], dur[i]);
    Occupied& own = out[devices[stream[i]]];
    own.all_blocks = own.all_blocks && blocks > 0;
    if (blocks > 0) own.multiprocessors.add(ts[i], end, blocks);
    if (occupancy >= 0) own.known.add(ts[i], end, 1), own.occupancy.add(ts[i], end, occupancy / 100);
  }
  for (auto& [device, own] : out) own.multiprocessors.finish(), own.known.finish(), own.occupancy.finish();
  return out;
}

void add_shares(const StepTime& time, TableRows& rows) {
  rows.add(time.device, time.window.begin, time.window.length());
  for (std::size_t share = 0; share < kShares; ++share) rows.add(time.of(share));
  rows.add(time.other());
}

}  // namespace

std::size_t incomplete_steps(Workload& workload) {
  const DeviceColumns columns(workload.events(), LaneBy::kDevice);
  return workload.steps().steps.size() - end_of_complete(workload.steps(), columns.work());
}

void fill_breakdown(Workload& workload, const PassOptions& options, TableRows& rows) {
  const StepSet& set = workload.steps();
  for (const StepTime& time : times_of_steps(workload, options).steps) {
    if (time.step) {
      const StepFacts& step = set.steps[*time.step];
      rows.add(*time.step, to_string(step.info.kind));
      rows.add(set.source == StepSource::kInferred ? std::nullopt : std::optional<std::string_view>(step.name));
    } else {
      rows.add_null(2).add("[whole trace]");
    }
    add_shares(time, rows);
  }
}

void fill_steps_as_one(Workload& workload, const PassOptions& options, TableRows& rows) {
  for (const StepTime& time : times_of_steps(workload, options).as_one) add_shares(time, rows);
}

void fill_pass_breakdown(Workload& workload, const PassOptions& options, TableRows& rows) {
  for (const StepTime& time : times_of_steps(workload, options).steps) {
    const auto begin = [&](std::string_view pass) { rows.add(time.step, time.device, pass); };
    for (std::size_t pass = 0; pass < kPasses; ++pass) {
      std::array<std::int64_t, kOnDevice> own{};
      for (std::size_t share = 0; share < kOnDevice; ++share)
        own.at(share) = time.of(first_part(share) + pass, first_part(share) + pass + 1);
      if (std::ranges::count(own, 0) == static_cast<std::ptrdiff_t>(own.size())) continue;
      begin(pass < kPassNames.size() ? kPassNames.at(pass) : "[no pass]");
      for (const std::int64_t share : own) rows.add(share);
      for (std::size_t share = kOnDevice; share <= kShares; ++share) rows.add(std::int64_t{0});
    }
    begin("[device idle]");
    for (std::size_t share = 0; share < kOnDevice; ++share) rows.add(std::int64_t{0});
    for (std::size_t share = kOnDevice; share < kShares; ++share) rows.add(time.of(share));
    rows.add(time.other());
  }
}

void fill_occupancy(Workload& workload, const PassOptions& options, TableRows& rows) {
  const std::map<std::uint32_t, Occupied> devices = occupied_by_device(workload);
  const auto within = [](const WeightOverTime& weight, const Extent& window) {
    return weight.empty() ? std::nullopt : std::optional(weight.within(window));
  };
  for (const StepTime& time : times_of_steps(workload, options).steps) {
    const auto own = devices.find(time.device.value_or(0));
    if (own == devices.end()) continue;
    rows.add(time.step, time.device);
    rows.add(own->second.all_blocks ? within(own->second.multiprocessors, time.window) : std::nullopt);
    rows.add(within(own->second.known, time.window), within(own->second.occupancy, time.window));
  }
}

}  // namespace tracedb
