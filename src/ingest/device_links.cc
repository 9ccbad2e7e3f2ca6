#include "ingest/device_links.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "ingest/device_owners.h"
#include "ingest/launch_table.h"

namespace tracedb {
namespace {

// What is known about the origin of a kernel or memory operation; ids, 0 where unknown.
struct Origin {
  std::uint32_t call = 0, cpu_op = 0, stack = 0, annotation = 0, step = 0, graph_step = 0;
};

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

// Finds the calls behind kernels and memory operations.
class Join {
 public:
  Join(TraceStore& store, CpuLinks& cpu) : store_(store), cpu_(cpu), launches_(cpu.launches, store.spool(8)) {
    if (cpu_.calling_processes.size() > 1) {
      store_.device_events.start();
      for (; const DeviceRecord* event = store_.device_events.peek(); store_.device_events.pop()) vote(*event);
    }
  }

  Origin origin_of(const DeviceRecord& event) {
    Origin origin;
    if (const LaunchRecord* launch = launch_of(event)) {
      if (launch->ts > event.ts) store_.issues.add(IssueKind::kLaunchAfterKernel, -1, store_.strings.text(event.name));
      return {launch->call, launch->cpu_op, launch->stack, launch->annotation, launch->step, launch->graph_step};
    }
    store_.issues.add(IssueKind::kKernelWithoutLaunch, -1, store_.strings.text(event.name));
    // Where External id is a copy of the correlation it says nothing about operators.
    if (event.external_id != event.correlation) origin.cpu_op = operator_by_external_id(event.external_id);
    return origin;
  }

 private:
  [[nodiscard]] std::uint32_t device_of(const DeviceRecord& event) const {
    return store_.streams[event.stream - 1].device;
  }

  void vote(const DeviceRecord& event) {
    for (const LaunchRecord& launch : launches_.find(event.correlation)) {
      owners_.vote(device_of(event), launch.process, event.ts - launch.ts,
                   event.external_id != kUnset && event.external_id == launch.external_id);
    }
  }

  // The call that launched `event`; nullptr when it is not in the trace or cannot be told.
  const LaunchRecord* launch_of(const DeviceRecord& event) {
    const std::span<const LaunchRecord> group = launches_.find(event.correlation);
    if (group.empty()) return nullptr;
    const bool one_process = std::all_of(group.begin(), group.end(), [&](const LaunchRecord& launch) {
      return launch.process == group.front().process;
    });
    const std::uint32_t process = one_process ? group.front().process : owners_.owner(device_of(event));
    const LaunchRecord* best = nullptr;
    for (const LaunchRecord& launch : group) {
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
  LaunchTable launches_;
  DeviceOwners owners_;
};

// Kernels and memory operations in time order, to rows.
class Emit {
 public:
  Emit(TraceStore& store, RowStream& rows, CpuLinks& cpu, DeviceLinks& out)
      : store_(store), rows_(rows), cpu_(cpu), out_(out), open_steps_(store.streams.size()) {}

  void run(Join& join) {
    store_.device_events.start();
    for (; const DeviceRecord* event = store_.device_events.peek(); store_.device_events.pop()) {
      Origin origin = join.origin_of(*event);
      origin.step = step_of(*event, origin);
      if (origin.step == 0 && !cpu_.steps.empty()) {
        store_.issues.add(IssueKind::kKernelWithoutStep, -1, store_.strings.text(event->name));
      }
      if (event->type == DeviceEventType::kKernel) {
        kernel(*event, origin);
      } else {
        memory_op(*event, origin);
      }
    }
    store_.device_events.release();
  }

 private:
  std::uint32_t step_of(const DeviceRecord& event, const Origin& origin) {
    if (origin.step != 0) return origin.step;
    for (; next_interval_ < cpu_.device_steps.size(); ++next_interval_) {
      const DeviceStepInterval& interval = cpu_.device_steps[next_interval_];
      if (interval.ts > event.ts) break;
      open_steps_[interval.stream - 1].push(interval.end, interval.step);
    }
    OpenIntervals<std::uint32_t>& open = open_steps_[event.stream - 1];
    open.advance(event.ts);
    if (const std::uint32_t* step = open.innermost(event.ts)) return *step;
    return origin.graph_step;
  }

  void kernel(const DeviceRecord& event, const Origin& origin) {
    const KernelKind kind = kind_of(event);
    cover(event, origin);
    const std::uint32_t id = rows_.row(
        EventTable::kKernel, event.args,
        {event.ts - store_.first_ts, event.dur, event.name, event.stream, event.correlation, event.external_id,
         cell(origin.call), cell(origin.cpu_op), cell(origin.stack), cell(origin.annotation), cell(origin.step),
         event.graph_id_or_bytes, event.graph_node_id, cell(event.config), static_cast<std::int64_t>(kind)});
    if (event.collective != 0) out_.collectives.push_back({id, event.collective});
    std::uint8_t step_kind = 0;
    if (origin.step != 0) {
      StepRow& row = cpu_.steps[origin.step - 1];
      step_kind = static_cast<std::uint8_t>(static_cast<unsigned>(row.info.kind) + 1);
      if (row.first_kernel == 0) row.first_kernel = id;
      row.last_kernel = id;
    }
    out_.sums.add({event.name, step_kind, event.stream}, event.dur);
  }

  void cover(const DeviceRecord& event, const Origin& origin) {
    const std::int64_t dur = event.dur == kUnset ? 0 : event.dur;
    const auto count = [dur](Coverage& coverage, bool known) {
      coverage.kernels += known ? 1 : 0;
      if (__builtin_add_overflow(coverage.ns, known ? dur : 0, &coverage.ns)) {
        coverage.ns = std::numeric_limits<std::int64_t>::max();
      }
    };
    count(out_.all, true);
    count(out_.with_launch, origin.call != 0);
    count(out_.with_operator, origin.cpu_op != 0);
    count(out_.with_stack, origin.stack != 0);
    count(out_.with_step, origin.step != 0);
  }

  void memory_op(const DeviceRecord& event, const Origin& origin) {
    const bool copy = event.type == DeviceEventType::kMemcpy;
    rows_.row(EventTable::kMemoryOp, event.args,
              {event.ts - store_.first_ts, event.dur, copy ? 0 : 1, copy ? direction_of(event) : kUnset, event.name,
               event.graph_id_or_bytes, event.stream, event.correlation, event.external_id, cell(origin.call),
               cell(origin.cpu_op), cell(origin.stack), cell(origin.annotation), cell(origin.step)});
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
  Join join(store, cpu);
  Emit(store, rows, cpu, out).run(join);
}

}  // namespace tracedb
