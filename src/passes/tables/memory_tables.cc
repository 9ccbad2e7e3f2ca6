// Allocations and frees of memory as the trace describes them, each with what it ended and where the host was. Linear.
#include <map>
#include <optional>

#include "base/unknown.h"
#include "index/packed_columns.h"
#include "passes/stacks/stack_times.h"
#include "passes/tables/pass_tables.h"

namespace tracedb {
namespace {

constexpr std::uint32_t kNoRow = 0;

// By event, in order of time; rows count from 1, as ids do.
struct MemoryEvents {
  std::vector<std::int64_t> ts, bytes, device_type, device_id;
  std::vector<std::int64_t> allocated, reserved;  // of its device after it; kUnknownValue: not recorded
  std::vector<std::uint32_t> thread, ended;       // ended: row of the allocation that it ends; kNoRow: none is known
  std::vector<bool> has_address;

  explicit MemoryEvents(const Index& index) {
    Database& database = index.database();
    const ScannedColumns packed = read_columns(database, "memory_event", packed_table("memory_event")->columns);
    const EventColumns instants(index, "instant");
    const auto all_ts = instants.int64s("ts"), all_bytes = instants.int64s("bytes");
    const auto threads = instants.ids("thread_id");
    const auto instant = packed.columns[0].ids.span();
    const auto numbers = [&](std::size_t column) { return packed.columns[column].numbers.span(); };
    std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, std::int64_t>> totals;  // by device
    for (std::size_t i = 0; i < packed.rows; ++i) {
      const bool known = instant[i] > 0 && instant[i] <= all_ts.size();  // else: a damaged index
      ts.push_back(known ? all_ts[instant[i] - 1] : 0);
      bytes.push_back(known ? std::max(all_bytes[instant[i] - 1], -std::numeric_limits<std::int64_t>::max()) : 0);
      thread.push_back(known ? threads[instant[i] - 1] : 0);
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
    // Modulo 2^64, as ingest took it apart.
    last = static_cast<std::int64_t>(static_cast<std::uint64_t>(last) + static_cast<std::uint64_t>(change) +
                                     static_cast<std::uint64_t>(more));
    return last;
  }
};

// For each event, the innermost interval that is open on its thread; intervals come in order of start.
class InnermostOpen {
 public:
  explicit InnermostOpen(const MemoryEvents& events) : events_(events), found_(events.size(), 0) {
    for (const std::uint32_t thread : events.thread) {
      if (thread >= open_.size()) open_.resize(thread + std::size_t{1});
      open_[thread].wanted = true;
    }
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

// By event, number of the step that is marked on the host then, plus 1; 0: none.
std::vector<std::uint32_t> steps_of(const StepSet& set, const MemoryEvents& events) {
  std::vector<std::uint32_t> out(events.size(), 0);
  std::size_t next = 0;
  std::uint32_t last = 0;  // begun last
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (; next < set.steps.size() && set.steps[next].ts <= events.ts[i]; ++next) {
      if (!set.steps[next].on_device && set.steps[next].ts != kUnknownValue)
        last = static_cast<std::uint32_t>(next + 1);
    }
    if (last == 0) continue;
    const StepFacts& step = set.steps[last - 1];
    if (events.ts[i] < saturating_add(step.ts, duration_or_zero(step.dur))) out[i] = last;
  }
  return out;
}

std::string_view type_name(std::int64_t device_type) {
  static const std::map<std::int64_t, std::string_view> kTypes = {
      {0, "cpu"}, {1, "cuda"}, {6, "hip"}, {9, "xla"}, {12, "xpu"}, {13, "mps"}, {19, "mtia"}, {20, "other"}};
  const auto found = kTypes.find(device_type);
  return found == kTypes.end() ? "unknown" : found->second;
}

std::string device_text(std::int64_t type, std::int64_t number) {
  const std::string name(type_name(type));
  return number == kUnknownValue || number < 0 ? name : name + " " + std::to_string(number);
}

void fill_memory_events(Workload& workload, const PassOptions&, TableRows& rows) {
  const Index& index = workload.index();
  const MemoryEvents events(index);
  if (events.size() == 0) return;
  const std::vector<std::uint32_t> ops = operators_of(index, events), stacks = stacks_of(index, events),
                                   steps = steps_of(workload.steps(), events);
  const InnermostModules modules(index);
  std::vector<std::uint32_t> freed(events.size() + 1, kNoRow);  // by row of an allocation: what ended it
  for (std::uint32_t row = 1; row <= events.size(); ++row) freed[events.ended[row - 1]] = row;
  TextById name_of(index, "SELECT s.value FROM cpu_op o JOIN string s ON s.id = o.name_id WHERE o.id = ?");
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> sums;  // by device
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::int64_t id = events.device_id[i];
    std::int64_t& sum = sums[{events.device_type[i], id}];
    // Where no total is recorded, it goes on from the last one.
    const bool is_relative = events.allocated[i] == kUnknownValue;
    sum = is_relative ? saturating_add(sum, events.bytes[i]) : events.allocated[i];
    const bool on_host = id == kUnknownValue || id < 0;
    rows.add(i + 1).add(events.ts[i]).add(device_text(events.device_type[i], id));
    rows.add(on_host ? std::nullopt : std::optional(id)).add(events.bytes[i]);
    rows.add(sum)
        .add(known_time(events.reserved[i]))
        .add(std::int64_t{is_relative})
        .add(std::int64_t{events.has_address[i]});
    rows.add(known_id(events.ended[i])).add(known_id(freed[i + 1]));
    rows.add(freed[i + 1] == kNoRow ? std::nullopt : std::optional(events.ts[freed[i + 1] - 1]));
    rows.add(name_of.of(ops[i])).add(known_id(ops[i]));
    rows.add(known_text(modules.of(stacks[i])));
    rows.add(known_id(stacks[i])).add(steps[i] == 0 ? std::nullopt : std::optional(std::int64_t{steps[i]} - 1));
  }
}

}  // namespace

PassTable memory_events_table() { return declared_table("memory_events", fill_memory_events); }

}  // namespace tracedb
