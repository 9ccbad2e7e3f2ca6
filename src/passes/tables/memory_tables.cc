// Allocations and frees of memory as the trace describes them, each with what it ended and where the host was. Linear.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/unknown.h"
#include "index/packed_columns.h"
#include "passes/stacks/stack_times.h"
#include "passes/tables/pass_tables.h"
#include "trace/process_marks.h"

namespace tracedb {
namespace {

constexpr std::uint32_t kNoRow = 0;

using DeviceKey = std::pair<std::int64_t, std::int64_t>;  // type and number

// Modulo 2^64: whoever wrote the trace chose its numbers.
std::int64_t sum_after(std::int64_t sum, std::int64_t from, std::int64_t to) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(to) -
                                   static_cast<std::uint64_t>(from));
}

struct MemoryEvent {
  std::int64_t ts = 0, bytes = 0;
  DeviceKey device;
  std::int64_t allocated = kUnknownValue, reserved = kUnknownValue;  // of its device after it, if recorded
  std::uint32_t thread = 0, process = 0;
  std::uint32_t ended = kNoRow;  // row of the allocation that it ends, from 1, as ids count; kNoRow: none is known
  bool has_address = false;
};
using MemoryEvents = std::vector<MemoryEvent>;  // in order of time

std::int64_t total_after(std::int64_t& last, std::int64_t change, std::int64_t more) {
  if (change == kUnknownValue) return kUnknownValue;
  last = sum_after(sum_after(last, 0, change), 0, more);
  return last;
}

MemoryEvents read_events(const Index& index) {
  const ScannedColumns packed = read_columns(index.database(), "memory_event", packed_table("memory_event")->columns);
  const EventColumns instants(index, "instant");
  const auto ts = instants.int64s("ts"), bytes = instants.int64s("bytes");
  const auto threads = instants.ids("thread_id");
  const auto instant = packed.columns[0].ids.span();
  const auto numbers = [&](std::size_t column) { return packed.columns[column].numbers.span(); };
  const std::vector<std::uint32_t> process_of = ids_by_id(index, "thread", "process_id");
  std::map<DeviceKey, std::pair<std::int64_t, std::int64_t>> totals;
  MemoryEvents out(packed.rows);
  for (std::size_t i = 0; i < out.size(); ++i) {
    MemoryEvent& own = out[i];
    if (instant[i] > 0 && instant[i] <= ts.size()) {  // else: a damaged index
      own.ts = ts[instant[i] - 1];
      own.bytes = std::max(bytes[instant[i] - 1], -std::numeric_limits<std::int64_t>::max());
      own.thread = threads[instant[i] - 1];
    }
    if (own.thread < process_of.size()) own.process = process_of[own.thread];
    own.device = {numbers(1)[i], numbers(2)[i]};
    const std::int64_t back = numbers(3)[i];
    own.has_address = back != kUnknownValue;
    if (back > 0 && back <= static_cast<std::int64_t>(i))
      own.ended = static_cast<std::uint32_t>(i + 1) - static_cast<std::uint32_t>(back);
    auto& [allocated, reserved] = totals[own.device];
    own.allocated = total_after(allocated, numbers(4)[i], own.bytes);
    own.reserved = total_after(reserved, numbers(5)[i], 0);
  }
  return out;
}

// For each event, the innermost interval that is open on its thread; intervals come in order of start.
class InnermostOpen {
 public:
  explicit InnermostOpen(const MemoryEvents& events) : events_(events), found_(events.size(), 0) {
    for (const MemoryEvent& one : events) for_id(open_, one.thread).wanted = true;
  }
  void add(std::int64_t ts, std::int64_t dur, std::uint32_t thread, std::uint32_t what) {
    take_until(ts);
    if (thread >= open_.size() || !open_[thread].wanted) return;
    close(open_[thread], ts);
    open_[thread].intervals.push_back({saturating_add(ts, duration_or_zero(dur)), what});
  }
  // By event; 0: none is open.
  std::vector<std::uint32_t> finish() {
    take_until(std::numeric_limits<std::int64_t>::max());
    return std::move(found_);
  }

 private:
  struct Open {
    std::int64_t end;
    std::uint32_t what;
  };
  struct OnThread {
    bool wanted = false;
    std::vector<Open> intervals;
  };
  static void close(OnThread& thread, std::int64_t until) {
    while (!thread.intervals.empty() && thread.intervals.back().end <= until) thread.intervals.pop_back();
  }
  // The events before the interval that starts then.
  void take_until(std::int64_t ts) {
    for (; next_ < events_.size() && events_[next_].ts < ts; ++next_) {
      OnThread& thread = open_[events_[next_].thread];
      close(thread, events_[next_].ts);
      if (!thread.intervals.empty()) found_[next_] = thread.intervals.back().what;
    }
  }

  const MemoryEvents& events_;
  std::vector<std::uint32_t> found_;
  std::vector<OnThread> open_;  // by thread
  std::size_t next_ = 0;
};

std::vector<std::uint32_t> operators_of(const Index& index, const MemoryEvents& events) {
  InnermostOpen open(events);
  const EventColumns ops(index, "cpu_op", {"ts", "dur", "thread_id"});
  const auto ts = ops.int64s("ts"), dur = ops.int64s("dur");
  const auto thread = ops.ids("thread_id");
  for (std::size_t i = 0; i < ts.size(); ++i) open.add(ts[i], dur[i], thread[i], static_cast<std::uint32_t>(i + 1));
  return open.finish();
}

std::vector<std::uint32_t> stacks_of(const Index& index, const MemoryEvents& events) {
  InnermostOpen open(events);
  BlockReader calls(index.database(), "python_call", packed_table("python_call")->columns);
  while (calls.next()) {
    for (std::size_t i = 0; i < calls.rows(); ++i) {
      open.add(calls.numbers(0)[i], calls.numbers(1)[i], calls.ids(2)[i], calls.ids(3)[i]);
    }
  }
  return open.finish();
}

// By event, number of the step that is marked on the host then, plus 1; 0: none. The marks of its own thread come
// first, then those that take in other threads of the process, as for launches; of which pass an event is, is not
// known.
std::vector<std::uint32_t> steps_of(const Index& index, const StepSet& set, const MemoryEvents& events) {
  const std::vector<std::uint32_t> processes = ids_by_id(index, "thread", "process_id");
  InnermostOpen own(events);
  std::unordered_map<std::uint32_t, ProcessMarks> others;
  std::vector<std::uint32_t> around(events.size(), 0);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < around.size(); ++i) {
    for (; next < set.steps.size() && set.steps[next].ts <= events[i].ts; ++next) {
      const StepFacts& step = set.steps[next];
      if (step.on_device || step.ts == kUnknownValue || step.track >= processes.size()) continue;
      own.add(step.ts, step.dur, step.track, next + 1);
      others[processes[step.track]].open(saturating_add(step.ts, duration_or_zero(step.dur)), step.track, next + 1,
                                         step_scope(step.name));
    }
    around[i] = others[events[i].process].step_at(events[i].ts, true);
  }
  std::vector<std::uint32_t> out = own.finish();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 0) out[i] = around[i];
  }
  return out;
}

std::string device_text(const DeviceKey& device) {
  static const std::map<std::int64_t, std::string_view> kTypes = {
      {0, "cpu"}, {1, "cuda"}, {6, "hip"}, {9, "xla"}, {12, "xpu"}, {13, "mps"}, {19, "mtia"}, {20, "other"}};
  const auto& [type, number] = device;
  const auto known = kTypes.find(type);
  const std::string name = known == kTypes.end() ? fmt::format("type-{}", type) : std::string(known->second);
  return number < 0 ? name : fmt::format("{} {}", name, number);
}

// Whose memory is that of the host.
bool is_on_host(const DeviceKey& device) {
  constexpr std::int64_t kCpu = 0, kMps = 13;
  return device.second < 0 || device.first == kCpu || device.first == kMps;
}

struct Held {
  std::int64_t allocated = 0, reserved = 0;
};

// What devices hold after each event: what all processes do.
class Totals {
 public:
  explicit Totals(const MemoryEvents& events) {
    struct Before {
      std::int64_t sum = 0, least = 0, reserved = 0;
      bool is_recorded = false;
    };
    std::map<Key, Before> all;
    for (const MemoryEvent& one : events) {
      Before& before = all[{one.process, one.device}];
      if (before.is_recorded) continue;
      before.sum = saturating_add(before.sum, one.bytes);
      before.is_recorded = one.allocated != kUnknownValue;
      if (before.is_recorded && one.reserved != kUnknownValue) before.reserved = one.reserved;
      // What was freed without an allocation was there; a total says what else was.
      before.least = std::max(before.least, sum_after(before.is_recorded ? one.allocated : 0, before.sum, 0));
    }
    for (const auto& [key, before] : all) {
      processes_[key] = {before.least, before.reserved};
      Held& device = devices_[key.second];
      device = {sum_after(device.allocated, 0, before.least), sum_after(device.reserved, 0, before.reserved)};
    }
  }
  Held after(const MemoryEvent& event) {
    Held& own = processes_[{event.process, event.device}];
    Held& device = devices_[event.device];
    // Where no total is recorded, it goes on from the last one.
    const std::int64_t now =
        event.allocated == kUnknownValue ? saturating_add(own.allocated, event.bytes) : event.allocated;
    device.allocated = sum_after(device.allocated, std::exchange(own.allocated, now), now);
    if (event.reserved == kUnknownValue) return {device.allocated, kUnknownValue};
    device.reserved = sum_after(device.reserved, std::exchange(own.reserved, event.reserved), event.reserved);
    return device;
  }

 private:
  using Key = std::pair<std::uint32_t, DeviceKey>;  // process and device

  std::map<Key, Held> processes_;
  std::map<DeviceKey, Held> devices_;
};

}  // namespace

void fill_memory_events(Workload& workload, const PassOptions&, TableRows& rows) {
  const Index& index = workload.index();
  const MemoryEvents events = read_events(index);
  if (events.empty()) return;
  const std::vector<std::uint32_t> ops = operators_of(index, events), stacks = stacks_of(index, events),
                                   steps = steps_of(index, workload.steps(), events);
  const InnermostModules modules(index);
  std::vector<std::uint32_t> freed(events.size() + 1, kNoRow);  // by row of an allocation: what ended it
  for (std::uint32_t row = 1; row <= events.size(); ++row) freed[events[row - 1].ended] = row;
  TextById name_of(index, "SELECT s.value FROM cpu_op o JOIN string s ON s.id = o.name_id WHERE o.id = ?");
  Totals totals(events);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const MemoryEvent& own = events[i];
    const Held held = totals.after(own);
    rows.add(i + 1, own.ts, device_text(own.device));
    rows.add(is_on_host(own.device) ? std::nullopt : std::optional(own.device.second), own.bytes, held.allocated);
    rows.add(known_time(held.reserved), own.allocated == kUnknownValue, own.has_address, known_id(own.ended));
    rows.add(known_id(freed[i + 1]),
             freed[i + 1] == kNoRow ? std::nullopt : std::optional(events[freed[i + 1] - 1].ts));
    rows.add(name_of.of(ops[i]), known_id(ops[i]), known_text(modules.of(stacks[i])));
    rows.add(known_id(stacks[i]), steps[i] == 0 ? std::nullopt : std::optional(std::int64_t{steps[i]} - 1));
  }
}

}  // namespace tracedb
