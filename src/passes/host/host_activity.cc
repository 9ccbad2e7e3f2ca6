#include "passes/host/host_activity.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/unknown.h"
#include "index/packed_columns.h"
#include "trace/python_frame.h"

namespace tracedb {
namespace {

// By id of frame.
std::vector<FrameOrigin> origins_of_frames(const Index& index) {
  return by_id(
      index, "SELECT f.id, s.value FROM frame f JOIN string s ON s.id = f.name_id ORDER BY f.id",
      [](const Statement& row) { return frame_origin(row.text(1)); }, FrameOrigin::kBuiltIn);
}

// By id of stack: its innermost frame that is somebody's own or, in a path of libraries alone, the innermost that has a
// file.
std::vector<std::uint32_t> places_of_stacks(const Index& index) {
  const EventColumns stacks(index, "stack", {"parent_id", "frame_id"});
  const std::vector<FrameOrigin> origins = origins_of_frames(index);
  const auto parents = stacks.ids("parent_id");
  const auto frames = stacks.ids("frame_id");
  std::vector<std::uint32_t> own(stacks.size() + 1, kNoPlace), library(stacks.size() + 1, kNoPlace);
  for (std::size_t id = 1; id < own.size(); ++id) {
    const std::uint32_t frame = frames[id - 1];
    const std::uint32_t parent = parents[id - 1] < id ? parents[id - 1] : 0;  // a later one is a damaged index
    const FrameOrigin origin = frame < origins.size() ? origins[frame] : FrameOrigin::kBuiltIn;
    own[id] = origin == FrameOrigin::kOwn ? frame : own[parent];
    library[id] = origin == FrameOrigin::kLibrary ? frame : library[parent];
  }
  for (std::size_t id = 1; id < own.size(); ++id) {
    if (own[id] == kNoPlace) own[id] = library[id];
  }
  return own;
}

// Of each operator the name of the one around it that no other encloses.
std::vector<std::uint32_t> outermost_names(const EventColumns& operators) {
  const auto names = operators.ids("name_id"), parents = operators.ids("parent_id");
  std::vector<std::uint32_t> out(names.begin(), names.end());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (parents[i] != 0 && parents[i] <= i) out[i] = out[parents[i] - 1];
  }
  return out;
}

bool is_larger(const PlaceTime& a, const PlaceTime& b) {
  return std::tie(b.time, b.started, a.place) < std::tie(a.time, a.started, b.place);
}

std::int64_t time_of(std::span<const PlaceTime> places) {
  std::int64_t time = 0;
  for (const PlaceTime& place : places) time = saturating_add(time, place.time);
  return time;
}

// What a thread took from a queue, and which thread had put it there.
struct Dequeue {
  std::int64_t ts = 0;
  std::uint32_t feeder = 0;  // id of the thread that put it
};

// By the number of the thread that takes, in order of time. Queues keep their order: the n-th that is taken is the n-th
// that was put.
std::unordered_map<std::string, std::vector<Dequeue>> read_queue(const Index& index) {
  std::vector<std::pair<std::string, std::int64_t>> taken;
  std::vector<std::uint32_t> feeders;
  Statement rows(
      index.database(),
      "SELECT s.ts, s.thread_id, c.value = 'enqueue', coalesce(t.tid, '') FROM slice s JOIN string c ON c.id = "
      "s.category_id JOIN thread t ON t.id = s.thread_id WHERE c.value IN ('enqueue', 'dequeue') ORDER BY s.ts, s.id");
  while (rows.step()) {
    if (rows.int64(2) != 0) {
      feeders.push_back(rows.id(1));
    } else {
      taken.emplace_back(rows.text(3), rows.int64(0));
    }
  }
  std::unordered_map<std::string, std::vector<Dequeue>> out;
  if (feeders.size() != taken.size()) return out;
  for (std::size_t i = 0; i < taken.size(); ++i) out[taken[i].first].push_back({taken[i].second, feeders[i]});
  return out;
}

}  // namespace

std::vector<bool> loader_names(const Index& index) {
  return ids_in(index,
                "SELECT id FROM string WHERE value GLOB 'enumerate(DataLoader)#*' OR value GLOB "
                "'enumerate(DataPipe)#*' ORDER BY id");
}

LaunchThreads::LaunchThreads(const Index& index, const EventTables& events)
    : launch_of_(events, "launch_id"),
      stream_of_(events, "stream_id"),
      kernels_(events.kernels.size()),
      memory_ops_(events.memory.size()),
      device_of_stream_(events.device_of_stream),
      thread_of_call_(events.calls.ids("thread_id")),
      threads_(row_count(index.database(), "thread")) {
  std::map<std::uint32_t, std::map<std::uint32_t, std::int64_t>> launches = {{0, {}}};  // by device, 0: of all; thread
  for (const bool is_memory_op : {false, true}) {
    for (std::uint32_t id = 1; id <= (is_memory_op ? memory_ops_ : kernels_); ++id) {
      const EventRef event{id, is_memory_op};
      const std::uint32_t thread = launcher(event), on = device(event);
      if (thread == 0) continue;
      ++launches[0][thread];
      if (on != 0) ++launches[on][thread];
    }
  }
  for (const auto& [on, threads] : launches) {
    const auto most = std::ranges::max_element(threads, {}, [](const auto& one) { return one.second; });
    for_id(busiest_, on) = most == threads.end() ? 0 : most->first;
  }
}

std::uint32_t LaunchThreads::launcher(const EventRef& event) const {
  const std::uint32_t launch = launch_of_[event];
  if (launch == 0 || launch > thread_of_call_.size()) return 0;
  const std::uint32_t thread = thread_of_call_[launch - 1];
  return thread <= threads_ ? thread : 0;
}

std::uint32_t LaunchThreads::device(const EventRef& event) const {
  const std::uint32_t stream = stream_of_[event];
  return stream < device_of_stream_.size() ? device_of_stream_[stream] : 0;
}

std::uint32_t LaunchThreads::of(const EventRef& event) const {
  if (event.id == 0 || event.id > (event.is_memory_op ? memory_ops_ : kernels_)) return busiest_[0];
  if (const std::uint32_t thread = launcher(event)) return thread;
  const std::uint32_t on = device(event);
  return on < busiest_.size() && busiest_[on] != 0 ? busiest_[on] : busiest_[0];
}

HostPlace HostActivity::place() const {
  HostPlace out{HostLayer::kPython, kNoPlace, 0, 0, time};
  for (const HostLayer layer : {HostLayer::kPython, HostLayer::kOperator, HostLayer::kLoader, HostLayer::kCall}) {
    const PlaceTime most = largest(layer);
    if (most.place == kNoPlace) continue;
    const bool is_recorded = time_of(layers[static_cast<std::size_t>(layer)]) >= time - time / 2;
    const bool says_something = most.time > out.time && most.time >= time / 10;
    if (is_recorded || says_something) out = {layer, most.place, most.time, most.started, time};
    if (is_recorded) break;
  }
  return out;
}

PlaceTime HostActivity::largest(HostLayer layer) const {
  PlaceTime out;
  for (const PlaceTime& place : layers[static_cast<std::size_t>(layer)]) {
    if (place.time > 0 && (out.place == kNoPlace || is_larger(place, out))) out = place;
  }
  return out;
}

std::optional<std::int64_t> HostActivity::python_calls() const {
  if (!has_python) return std::nullopt;
  std::int64_t started = 0;
  for (const PlaceTime& place : layers[static_cast<std::size_t>(HostLayer::kPython)]) started += place.started;
  return started;
}

HostActivities::HostActivities(const Index& index, const EventTables& events, std::vector<HostGap> gaps)
    : index_(index), events_(events), gaps_(std::move(gaps)), place_of_stack_(places_of_stacks(index)) {
  follow_queue();
  read_layers();
}

void HostActivities::read_layers() {
  const Index& index = index_;
  HostSweep sweep(gaps_);
  const auto read = [&](HostLayer layer, const EventColumns& columns, std::span<const std::uint32_t> label) {
    sweep.add({columns.int64s("ts"), columns.int64s("dur"), columns.ids("thread_id"), label, {}});
    keep(layer, sweep.finish());
  };
  BlockReader python(index.database(), "python_call", packed_table("python_call")->columns);
  std::uint32_t last_thread = 0;  // calls of one thread mostly follow each other
  while (python.next()) {
    sweep.add({python.numbers(0), python.numbers(1), python.ids(2), python.ids(3), place_of_stack_});
    for (const std::uint32_t thread : python.ids(2)) {
      if (std::exchange(last_thread, thread) != thread) python_threads_.insert(thread);
    }
  }
  keep(HostLayer::kPython, sweep.finish());
  const EventColumns& operators = events_.operators;
  operators.read({"ts", "dur", "thread_id", "name_id", "parent_id"});
  read(HostLayer::kOperator, operators, outermost_names(operators));
  read(HostLayer::kInnermostOperator, operators, operators.ids("name_id"));
  if (const std::vector<bool> loaders = loader_names(index); loaders.size() > 1) {
    const auto names = events_.annotations.ids("name_id");
    std::vector<std::uint32_t> label(names.begin(), names.end());
    for (std::uint32_t& name : label) name = has_id(loaders, name) ? name : kNoPlace;
    read(HostLayer::kLoader, events_.annotations, label);
  }
  const EventColumns& calls = events_.calls;
  read(HostLayer::kCall, calls, calls.ids("name_id"));
  if (calls.size() + operators.size() + row_count(index.database(), "python_call") == 0) read_stalls();
  tallies_.assign(tallies_of(gaps_), {});
  for (const HostGap& gap : gaps_) {
    Tally& tally = tallies_[gap.tally];
    tally.time = saturating_add(tally.time, std::max<std::int64_t>(gap.end - gap.begin, 0));
    tally.has_python = tally.has_python || python_threads_.contains(gap.thread);
  }
}

void HostActivities::follow_queue() {
  const auto queue = read_queue(index_);
  if (queue.empty()) return;
  std::vector<HostGap> alone = gaps_;
  for (std::uint32_t i = 0; i < alone.size(); ++i) alone[i].tally = i;
  gaps_.swap(alone);
  read_layers();
  gaps_.swap(alone);
  // Profilers show a thread once as one of its process and once as one of the driver's.
  TextById number_of(index_, "SELECT coalesce(tid, '') FROM thread WHERE id = ?");
  for (std::size_t i = 0; i < gaps_.size(); ++i) {
    HostGap& gap = gaps_[i];
    const auto tid = number_of.of(gap.thread);
    if (!tid || of(i).place().place != kNoPlace) continue;
    const auto own = queue.find(std::string(*tid));
    if (own == queue.end()) continue;
    const auto later = std::ranges::upper_bound(own->second, gap.end, {}, &Dequeue::ts);
    if (later == own->second.begin()) continue;
    gap.thread = std::prev(later)->feeder;
  }
}

// Of tiles of AI Engines, which no host drives: what they wait for, in place of a call. Elsewhere the word means
// anything.
void HostActivities::read_stalls() {
  if (index_.meta("format") != "aie") return;
  std::vector<std::int64_t> ts, dur;
  std::vector<std::uint32_t> name;
  Statement rows(index_.database(),
                 "SELECT s.ts, coalesce(s.dur, 0), s.name_id FROM slice s JOIN string n ON n.id = s.name_id WHERE "
                 "n.value LIKE '%stall%' ORDER BY s.ts, s.dur DESC, s.id");
  while (rows.step()) {
    ts.push_back(rows.int64(0));
    dur.push_back(rows.int64(1));
    name.push_back(rows.id(2));
  }
  std::vector<HostGap> gaps = gaps_;
  for (HostGap& gap : gaps) gap.thread = 1;
  keep(HostLayer::kCall, host_times({ts, dur, std::vector<std::uint32_t>(ts.size(), 1), name, {}}, gaps));
}

void HostActivities::keep(HostLayer layer, HostTimes times) {
  const bool is_python = layer == HostLayer::kPython;
  Layer& own = layers_.at(static_cast<std::size_t>(layer));
  own.times = std::move(times);
  TextById text(index_, is_python ? "SELECT s.value FROM frame f JOIN string s ON s.id = f.name_id WHERE f.id = ?"
                                  : "SELECT value FROM string WHERE id = ?");
  std::uint32_t last = kNoPlace;  // those of one place mostly follow each other
  for (const PlaceTime& time : own.times.times) {
    if (std::exchange(last, time.place) == time.place) continue;
    const auto [entry, is_new] = own.texts.try_emplace(time.place);
    if (is_new) entry->second = text.of(time.place).value_or("");
  }
}

HostActivity HostActivities::of(std::size_t tally) const {
  HostActivity out;
  if (tally >= tallies_.size()) return out;
  out.time = tallies_[tally].time;
  out.has_python = tallies_[tally].has_python;
  for (std::size_t layer = 0; layer < kHostLayers; ++layer) out.layers.at(layer) = layers_.at(layer).times.of(tally);
  return out;
}

HostActivity HostActivities::sum(std::span<const std::uint32_t> tallies) const {
  HostActivity out;
  for (std::size_t layer = 0; layer < kHostLayers; ++layer) {
    PlaceSums sums;
    for (const std::uint32_t tally : tallies) {
      for (const PlaceTime& time : layers_.at(layer).times.of(tally)) sums.add(time);
    }
    out.layers.at(layer) = out.sums.at(layer) = sums.sums();
  }
  for (const std::uint32_t tally : tallies) {
    out.time = saturating_add(out.time, tallies_[tally].time);
    out.has_python = out.has_python || tallies_[tally].has_python;
  }
  return out;
}

std::string_view HostActivities::text(HostLayer layer, std::uint32_t place) const {
  const auto& texts = layers_.at(static_cast<std::size_t>(layer)).texts;
  const auto found = texts.find(place);
  return found == texts.end() ? std::string_view() : found->second;
}

}  // namespace tracedb
