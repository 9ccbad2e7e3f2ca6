#include "ingest/device_links.h"

#include <algorithm>
#include <array>
#include <limits>

#include "ingest/device_owners.h"

namespace tracedb {
namespace {

struct LinkedDeviceRecord {
  std::int64_t ts, dur;
  DeviceRecord event;
  std::uint32_t call, cpu_op, stack, annotation, step, graph_step;
};

// "Kernels with equal start keep file order."
struct ByTimeThenFile {
  bool operator()(const LinkedDeviceRecord& a, const LinkedDeviceRecord& b) const {
    return a.ts != b.ts ? a.ts < b.ts : a.event.sequence < b.event.sequence;
  }
};

using LinkedSorter = ExternalSorter<LinkedDeviceRecord, ByTimeThenFile>;

std::int64_t cell(std::uint32_t id) { return id == 0 ? kUnset : std::int64_t{id}; }

// How likely a call of this kind is the one that started the device's work.
int launch_rank(CallKind kind) {
  switch (kind) {
    case CallKind::kLaunch:
    case CallKind::kGraphLaunch:
    case CallKind::kCopy:
      return 2;
    case CallKind::kOther:
      return 1;
    case CallKind::kSync:
      return 0;
  }
  return 0;
}

// Kernels and calls of one correlation at a time.
class Join {
 public:
  Join(TraceStore& store, CpuLinks& cpu, LinkedSorter& out) : store_(store), cpu_(cpu), out_(out) {}

  void run() {
    if (cpu_.calling_processes.size() > 1) {
      for_each_kernel([this](const DeviceRecord& event) { vote(event); });
    }
    for_each_kernel([this](const DeviceRecord& event) { link(event); });
    store_.device_events.release();
    cpu_.launches.release();
  }

 private:
  template <class Visit>
  void for_each_kernel(Visit visit) {
    store_.device_events.start();
    cpu_.launches.start();
    group_.clear();
    group_correlation_ = kUnset;
    for (; const DeviceRecord* event = store_.device_events.peek(); store_.device_events.pop()) {
      load_group(event->correlation);
      visit(*event);
    }
  }

  void load_group(std::int64_t correlation) {
    if (correlation == group_correlation_) return;
    group_.clear();
    group_correlation_ = correlation;
    const LaunchRecord* launch = cpu_.launches.peek();
    for (; launch != nullptr && launch->correlation <= correlation; launch = cpu_.launches.peek()) {
      if (launch->correlation == correlation) group_.push_back(*launch);
      cpu_.launches.pop();
    }
  }

  [[nodiscard]] std::uint32_t device_of(const DeviceRecord& event) const {
    return store_.streams[event.stream - 1].device;
  }

  void vote(const DeviceRecord& event) {
    for (const LaunchRecord& launch : group_) {
      owners_.vote(device_of(event), launch.process, event.ts - launch.ts,
                   event.external_id != kUnset && event.external_id == launch.external_id);
    }
  }

  // The call that launched `event`; nullptr when it is not in the trace or cannot be told.
  const LaunchRecord* launch_of(const DeviceRecord& event) {
    if (event.correlation == kUnset || group_.empty()) return nullptr;
    const bool one_process = std::all_of(group_.begin(), group_.end(), [&](const LaunchRecord& launch) {
      return launch.process == group_.front().process;
    });
    const std::uint32_t process = one_process ? group_.front().process : owners_.owner(device_of(event));
    const LaunchRecord* best = nullptr;
    for (const LaunchRecord& launch : group_) {
      if (launch.process == process && (best == nullptr || better(launch, *best, event.ts))) best = &launch;
    }
    if (best == nullptr) store_.issues.add(IssueKind::kAmbiguousLaunch, -1, store_.strings.text(event.name));
    return best;
  }

  static bool better(const LaunchRecord& a, const LaunchRecord& b, std::int64_t kernel_ts) {
    if (launch_rank(a.kind) != launch_rank(b.kind)) return launch_rank(a.kind) > launch_rank(b.kind);
    const bool a_before = a.ts <= kernel_ts;
    if (a_before != (b.ts <= kernel_ts)) return a_before;
    return a_before ? a.ts > b.ts : a.ts < b.ts;
  }

  void link(const DeviceRecord& event) {
    LinkedDeviceRecord linked{};
    linked.ts = event.ts;
    linked.dur = event.dur;
    linked.event = event;
    if (const LaunchRecord* launch = launch_of(event)) {
      linked.call = launch->call;
      linked.cpu_op = launch->cpu_op;
      linked.stack = launch->stack;
      linked.annotation = launch->annotation;
      linked.step = launch->step;
      linked.graph_step = launch->graph_step;
      if (launch->ts > event.ts) store_.issues.add(IssueKind::kLaunchAfterKernel, -1, store_.strings.text(event.name));
    } else {
      store_.issues.add(IssueKind::kKernelWithoutLaunch, -1, store_.strings.text(event.name));
      // Where External id is a copy of the correlation it says nothing about operators.
      if (event.external_id != event.correlation) linked.cpu_op = operator_by_external_id(event.external_id);
    }
    out_.push(linked);
  }

  // Only if it means one operator: merged traces repeat these numbers too.
  [[nodiscard]] std::uint32_t operator_by_external_id(std::int64_t external_id) const {
    if (external_id == kUnset || external_id == 0) return 0;
    std::uint32_t only = 0;
    for (const ExternalIdTable& process : cpu_.operator_by_external_id) {
      const std::uint32_t op = process.find(external_id);
      if (op == 0) continue;
      if (only != 0) return 0;
      only = op;
    }
    return only;
  }

  TraceStore& store_;
  CpuLinks& cpu_;
  LinkedSorter& out_;
  DeviceOwners owners_;
  std::vector<LaunchRecord> group_;
  std::int64_t group_correlation_ = kUnset;
};

// Linked kernels and memory operations in time order, to rows.
class Emit {
 public:
  Emit(TraceStore& store, RowStream& rows, CpuLinks& cpu, DeviceLinks& out)
      : store_(store), rows_(rows), cpu_(cpu), out_(out), open_steps_(store.streams.size()) {}

  void run(LinkedSorter& events) {
    events.start();
    for (; const LinkedDeviceRecord* linked = events.peek(); events.pop()) {
      const std::uint32_t step = step_of(*linked);
      if (step == 0 && !cpu_.steps.empty()) {
        store_.issues.add(IssueKind::kKernelWithoutStep, -1, store_.strings.text(linked->event.name));
      }
      if (linked->event.type == DeviceEventType::kKernel) {
        kernel(*linked, step);
      } else {
        memory_op(*linked, step);
      }
    }
  }

 private:
  std::uint32_t step_of(const LinkedDeviceRecord& linked) {
    if (linked.step != 0) return linked.step;
    for (; next_interval_ < cpu_.device_steps.size(); ++next_interval_) {
      const DeviceStepInterval& interval = cpu_.device_steps[next_interval_];
      if (interval.ts > linked.ts) break;
      open_steps_[interval.stream - 1].push(interval.end, interval.step);
    }
    OpenIntervals<std::uint32_t>& open = open_steps_[linked.event.stream - 1];
    open.advance(linked.ts);
    if (const std::uint32_t* step = open.innermost(linked.ts)) return *step;
    return linked.graph_step;
  }

  void kernel(const LinkedDeviceRecord& linked, std::uint32_t step) {
    const DeviceRecord& event = linked.event;
    const KernelKind kind = kind_of(event);
    cover(linked, step);
    const std::uint32_t id = rows_.row(
        EventTable::kKernel, event.args,
        {linked.ts - store_.first_ts, linked.dur, event.name, event.stream, event.correlation, event.external_id,
         cell(linked.call), cell(linked.cpu_op), cell(linked.stack), cell(linked.annotation), cell(step),
         event.graph_id, event.graph_node_id, cell(event.config), static_cast<std::int64_t>(kind)});
    if (event.collective != 0) out_.collectives.push_back({id, event.collective});
    std::uint8_t step_kind = 0;
    if (step != 0) {
      StepRow& row = cpu_.steps[step - 1];
      step_kind = static_cast<std::uint8_t>(static_cast<unsigned>(row.info.kind) + 1);
      if (row.first_kernel == 0) row.first_kernel = id;
      row.last_kernel = id;
    }
    out_.sums.add({event.name, step_kind, event.stream}, linked.dur);
  }

  void cover(const LinkedDeviceRecord& linked, std::uint32_t step) {
    const std::int64_t dur = linked.dur == kUnset ? 0 : linked.dur;
    const auto count = [dur](Coverage& coverage, bool known) {
      coverage.kernels += known ? 1 : 0;
      if (__builtin_add_overflow(coverage.ns, known ? dur : 0, &coverage.ns)) {
        coverage.ns = std::numeric_limits<std::int64_t>::max();
      }
    };
    count(out_.all, true);
    count(out_.with_launch, linked.call != 0);
    count(out_.with_operator, linked.cpu_op != 0);
    count(out_.with_stack, linked.stack != 0);
    count(out_.with_step, step != 0);
  }

  void memory_op(const LinkedDeviceRecord& linked, std::uint32_t step) {
    const DeviceRecord& event = linked.event;
    const bool copy = event.type == DeviceEventType::kMemcpy;
    rows_.row(EventTable::kMemoryOp, event.args,
              {linked.ts - store_.first_ts, linked.dur, copy ? 0 : 1, copy ? direction_of(event) : kUnset, event.name,
               event.bytes, event.stream, event.correlation, event.external_id, cell(linked.call), cell(linked.cpu_op),
               cell(linked.stack), cell(linked.annotation), cell(step)});
  }

  std::int64_t direction_of(const DeviceRecord& event) const {
    const std::size_t by_name = copy_direction_index(store_.strings.text(event.name));
    if (by_name != 0 || event.config == 0) return by_name == 0 ? kUnset : static_cast<std::int64_t>(by_name);
    const std::size_t by_kind = copy_direction_index(store_.strings.text(event.config));
    return by_kind == 0 ? kUnset : static_cast<std::int64_t>(by_kind);
  }

  KernelKind kind_of(const DeviceRecord& event) {
    const auto [entry, is_new] = kinds_.try_emplace(event.name);
    if (is_new) {
      entry->second = kernel_kind(store_.strings.text(event.name));
      out_.kernel_names.push_back(event.name);
    }
    // The profiler attaches collective arguments to communication kernels only, whatever their name.
    return entry->second == KernelKind::kCompute && event.collective != 0 ? KernelKind::kComm : entry->second;
  }

  TraceStore& store_;
  RowStream& rows_;
  CpuLinks& cpu_;
  DeviceLinks& out_;
  std::vector<OpenIntervals<std::uint32_t>> open_steps_;
  std::size_t next_interval_ = 0;
  std::unordered_map<std::uint32_t, KernelKind> kinds_;
};

}  // namespace

void link_device_events(TraceStore& store, RowStream& rows, CpuLinks& cpu, DeviceLinks& out) {
  LinkedSorter linked(store.spool(12));
  Join(store, cpu, linked).run();
  Emit(store, rows, cpu, out).run(linked);
}

}  // namespace tracedb
