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

// By event, in order of time; rows count from 1, as ids do.
struct MemoryEvents {
  std::vector<std::int64_t> ts, bytes, device_type, device_id;
  std::vector<std::int64_t> allocated, reserved;  // of its device after it; kUnknownValue: not recorded
  std::vector<std::uint32_t> thread, process;
  std::vector<std::uint32_t> ended;  // row of the allocation that it ends; kNoRow: none is known
  std::vector<bool> has_address;

  explicit MemoryEvents(const Index& index) {
    Database& database = index.database();
    const ScannedColumns packed = read_columns(database, "memory_event", packed_table("memory_event")->columns);
    const EventColumns instants(index, "instant");
    const auto all_ts = instants.int64s("ts"), all_bytes = instants.int64s("bytes");
    const auto threads = instants.ids("thread_id");
    const auto instant = packed.columns[0].ids.span();
    const auto numbers = [&](std::size_t column) { return packed.columns[column].numbers.span(); };
    const std::vector<std::uint32_t> process_of = ids_by_id(index, "thread", "process_id");
    std::map<DeviceKey, std::pair<std::int64_t, std::int64_t>> totals;
    for (std::size_t i = 0; i < packed.rows; ++i) {
      const bool known = instant[i] > 0 && instant[i] <= all_ts.size();  // else: a damaged index
      ts.push_back(known ? all_ts[instant[i] - 1] : 0);
      bytes.push_back(known ? std::max(all_bytes[instant[i] - 1], -std::numeric_limits<std::int64_t>::max()) : 0);
      thread.push_back(known ? threads[instant[i] - 1] : 0);
      process.push_back(thread.back() < process_of.size() ? process_of[thread.back()] : 0);
      device_type.push_back(numbers(1)[i]);
      device_id.push_back(numbers(2)[i]);
      const std::int64_t back = numbers(3)[i];
      has_address.push_back(back != kUnknownValue);
      ended.push_back(back > 0 && back <= static_cast<std::int64_t>(i)
                          ? static_cast<std::uint32_t>(i + 1) - static_cast<std::uint32_t>(back)
                          : kNoRow);
      auto& [last_allocated, last_reserved] = totals[{device_type.back(), device_id.back()}];
      allocated.push_back(after(last_allocated, numbers(4)[i], bytes.back()));
      reserved.push_back(after(last_reserved, numbers(5)[i], 0));
    }
  }
  [[nodiscard]] std::size_t size() const { return ts.size(); }

 private:
  static std::int64_t after(std::int64_t& last, std::int64_t change, std::int64_t more) {
    if (change == kUnknownValue) return kUnknownValue;
    last = sum_after(sum_after(last, 0, change), 0, more);
    return last;
  }
};

// For each event, the innermost interval that is open on its thread; intervals come in order of start.
class InnermostOpen {
 public:
  explicit InnermostOpen(const MemoryEvents& events) : events_(events), found_(events.size(), 0) {
    for (const std::uint32_t thread : events.thread) for_id(open_, thread).wanted = true;
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
    for (; next_ < events_.size() && events_.ts[next_] < ts; ++next_) {
      OnThread& thread = open_[events_.thread[next_]];
      close(thread, events_.ts[next_]);
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
    for (; next < set.steps.size() && set.steps[next].ts <= events.ts[i]; ++next) {
      const StepFacts& step = set.steps[next];
      if (step.on_device || step.ts == kUnknownValue || step.track >= processes.size()) continue;
      own.add(step.ts, step.dur, step.track, next + 1);
      others[processes[step.track]].open(saturating_add(step.ts, duration_or_zero(step.dur)), step.track, next + 1,
                                         step_scope(step.name));
    }
    around[i] = others[events.process[i]].step_at(events.ts[i], true);
  }
  std::vector<std::uint32_t> out = own.finish();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 0) out[i] = around[i];
  }
  return out;
}

std::string type_name(std::int64_t device_type) {
  static const std::map<std::int64_t, std::string_view> kTypes = {
      {0, "cpu"}, {1, "cuda"}, {6, "hip"}, {9, "xla"}, {12, "xpu"}, {13, "mps"}, {19, "mtia"}, {20, "other"}};
  const auto found = kTypes.find(device_type);
  return found == kTypes.end() ? fmt::format("type-{}", device_type) : std::string(found->second);
}

std::string device_text(std::int64_t type, std::int64_t number) {
  const std::string name = type_name(type);
  return number < 0 ? name : name + " " + std::to_string(number);
}

// Whose memory is that of the host.
bool is_on_host(std::int64_t type, std::int64_t number) {
  constexpr std::int64_t kCpu = 0, kMps = 13;
  return number < 0 || type == kCpu || type == kMps;
}

struct Held {
  std::int64_t allocated = 0, reserved = 0;
};

// What devices hold after each event: what all processes do.
class Totals {
 public:
  explicit Totals(const MemoryEvents& events) : events_(events) {
    struct Before {
      std::int64_t sum = 0, least = 0;
      bool is_recorded = false;
    };
    std::map<Key, Before> all;
    for (std::size_t i = 0; i < events.size(); ++i) {
      Before& before = all[key(i)];
      if (before.is_recorded) continue;
      before.sum = saturating_add(before.sum, events.bytes[i]);
      before.is_recorded = events.allocated[i] != kUnknownValue;
      // What was freed without an allocation was there; a total says what else was.
      before.least = std::max(before.least, sum_after(before.is_recorded ? events.allocated[i] : 0, before.sum, 0));
    }
    for (const auto& [key, before] : all) {
      processes_[key].allocated = before.least;
      std::int64_t& device = devices_[{std::get<1>(key), std::get<2>(key)}].allocated;
      device = sum_after(device, 0, before.least);
    }
  }
  Held after(std::size_t event) {
    Held& own = processes_[key(event)];
    Held& device = devices_[{events_.device_type[event], events_.device_id[event]}];
    // Where no total is recorded, it goes on from the last one.
    const std::int64_t now = events_.allocated[event] == kUnknownValue
                                 ? saturating_add(own.allocated, events_.bytes[event])
                                 : events_.allocated[event];
    device.allocated = sum_after(device.allocated, std::exchange(own.allocated, now), now);
    const std::int64_t reserved = events_.reserved[event];
    if (reserved == kUnknownValue) return {device.allocated, kUnknownValue};
    device.reserved = sum_after(device.reserved, std::exchange(own.reserved, reserved), reserved);
    return device;
  }

 private:
  using Key = std::tuple<std::uint32_t, std::int64_t, std::int64_t>;  // process, type and number of the device
  [[nodiscard]] Key key(std::size_t i) const {
    return {events_.process[i], events_.device_type[i], events_.device_id[i]};
  }

  const MemoryEvents& events_;
  std::map<Key, Held> processes_;
  std::map<DeviceKey, Held> devices_;
};

}  // namespace

void fill_memory_events(Workload& workload, const PassOptions&, TableRows& rows) {
  const Index& index = workload.index();
  const MemoryEvents events(index);
  if (events.size() == 0) return;
  const std::vector<std::uint32_t> ops = operators_of(index, events), stacks = stacks_of(index, events),
                                   steps = steps_of(index, workload.steps(), events);
  const InnermostModules modules(index);
  std::vector<std::uint32_t> freed(events.size() + 1, kNoRow);  // by row of an allocation: what ended it
  for (std::uint32_t row = 1; row <= events.size(); ++row) freed[events.ended[row - 1]] = row;
  TextById name_of(index, "SELECT s.value FROM cpu_op o JOIN string s ON s.id = o.name_id WHERE o.id = ?");
  Totals totals(events);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::int64_t id = events.device_id[i];
    const bool is_relative = events.allocated[i] == kUnknownValue;
    const Held held = totals.after(i);
    const bool on_host = is_on_host(events.device_type[i], id);
    rows.add(i + 1, events.ts[i], device_text(events.device_type[i], id));
    rows.add(on_host ? std::nullopt : std::optional(id), events.bytes[i]);
    rows.add(held.allocated, known_time(held.reserved), std::int64_t{is_relative}, std::int64_t{events.has_address[i]});
    rows.add(known_id(events.ended[i]), known_id(freed[i + 1]));
    rows.add(freed[i + 1] == kNoRow ? std::nullopt : std::optional(events.ts[freed[i + 1] - 1]));
    rows.add(name_of.of(ops[i]), known_id(ops[i]), known_text(modules.of(stacks[i])));
    rows.add(known_id(stacks[i]), steps[i] == 0 ? std::nullopt : std::optional(std::int64_t{steps[i]} - 1));
  }
}

}  // namespace tracedb
