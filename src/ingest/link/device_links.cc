#include "ingest/link/device_links.h"

#include <cstddef>
#include <optional>

#include "base/statistics.h"
#include "ingest/link/launch_table.h"
#include "ingest/store/records.h"
#include "passes/classify/kernel_kind.h"

namespace tracedb {
namespace {

// Finds the calls behind kernels and memory operations.
class LaunchResolver {
 public:
  LaunchResolver(TraceStore& store, CpuLinks& cpu, FlowLinks& flows, FlowCheck& checked)
      : store_(store),
        cpu_(cpu),
        flows_(flows),
        checked_(checked),
        launches_(cpu.launches, store.spool(8)),
        flow_table_(flows.by_id, store.spool(6)) {
    flows_.origins.start();
    if (flows_.needed || store_.lacks_launches()) judge_external_ids();
    if (cpu_.calling_processes < 2) return;
    store_.device_events.for_each([this](const DeviceRecord& event) { vote(event); });
  }

  Origin origin_of(const DeviceRecord& event) {
    Origin origin = linked_origin(event);
    if (store_.operators_by_external_id) {
      if (const std::uint32_t own = operator_by_external_id(event)) {
        origin.cpu_op = own;
        origin.pass = cpu_.pass_of_operator[own - 1];
      }
    }
    if (origin.cpu_op < cpu_.stack_of_operator.size() && cpu_.stack_of_operator[origin.cpu_op] != 0)
      origin.stack = cpu_.stack_of_operator[origin.cpu_op];
    return origin;
  }

 private:
  Origin linked_origin(const DeviceRecord& event) {
    bool ambiguous = false;
    if (const std::optional<LaunchRecord> launch = launch_of(event, ambiguous)) {
      if (launch->ts > event.ts) store_.issues.add(IssueKind::kLaunchAfterKernel, -1, store_.strings.text(event.name));
      if (flow_table_.size() > 0) check(event, *launch);
      return flows_.for_users ? with_operator_of_flow(event, launch->origin) : launch->origin;
    }
    const Origin* flow = origin_by_flow(event);
    Origin origin = flow == nullptr ? Origin{} : *flow;
    checked_.linked += flow == nullptr ? 0 : 1;
    if (origin.call == 0) {
      store_.issues.add(ambiguous ? IssueKind::kAmbiguousLaunch : IssueKind::kKernelWithoutLaunch, -1,
                        store_.strings.text(event.name));
    }
    if (origin.call == 0 && origin.cpu_op == 0) take_operator(operator_by_external_id(event), origin);
    if (origin.call == 0 && origin.cpu_op != 0) origin.pass = cpu_.pass_of_operator[origin.cpu_op - 1];
    return origin;
  }

  [[nodiscard]] std::uint32_t device_of(const DeviceRecord& event) const {
    return store_.streams[event.stream - 1].device;
  }

  // The calls under the event's correlation, as positions in launches_.
  struct Calls {
    std::size_t first = 0, end = 0;
    bool one_process = true;
  };

  Calls calls_of(const DeviceRecord& event) {
    if (event.correlation == kUnknownValue) return {};
    Calls calls;
    calls.first = launches_.lower_bound({event.correlation, 0, 0, kUnknownValue});
    if (calls.first == launches_.size()) return {};
    const LaunchRecord& first = launches_.at(calls.first);
    if (first.correlation != event.correlation) return {};
    const std::uint32_t process = first.process;
    calls.end = calls.first + 1;
    if (calls.end == launches_.size() || launches_.at(calls.end).correlation != event.correlation) return calls;
    if (event.correlation == std::numeric_limits<std::int64_t>::max()) {
      calls.end = launches_.size();
    } else {
      calls.end = launches_.lower_bound({event.correlation + 1, 0, 0, kUnknownValue});
    }
    calls.one_process = launches_.at(calls.end - 1).process == process;
    return calls;
  }

  // The likeliest call of the process of the call at `position`, which is its first.
  LaunchRecord likeliest(const DeviceRecord& event, const Calls& calls, std::size_t position) {
    const LaunchRecord first = launches_.at(position);
    return position + 1 == calls.end ? first : last_before(event.ts, first, position);
  }

  // Of the calls of the process and rank of `first`, which is the earliest, the last one before the kernel.
  LaunchRecord last_before(std::int64_t kernel_ts, const LaunchRecord& first, std::size_t position) {
    if (kernel_ts < first.ts) return first;
    LaunchKey after = key_of(first);
    if (kernel_ts == std::numeric_limits<std::int64_t>::max()) {
      ++after.rank;
      after.ts = kUnknownValue;
    } else {
      after.ts = kernel_ts + 1;
    }
    const std::size_t end = launches_.lower_bound(after);
    return end > position ? launches_.at(end - 1) : first;
  }

  void vote(const DeviceRecord& event) {
    const Calls calls = calls_of(event);
    if (calls.end == calls.first) return;
    if (!owners_.count_kernel(device_of(event), !calls.one_process, calls.end - calls.first)) return;
    for (std::size_t position = calls.first; position < calls.end;) {
      const LaunchRecord launch = likeliest(event, calls, position);
      std::int64_t delay = 0;
      if (!__builtin_sub_overflow(event.ts, launch.ts, &delay)) {
        owners_.vote(device_of(event), launch.process, delay,
                     event.external_id != kUnknownValue && event.external_id == launch.external_id);
      }
      position = launches_.lower_bound({event.correlation, launch.process + 1, 0, kUnknownValue});
    }
  }

  // The call that launched `event`; nullopt when it is not in the trace or is ambiguous.
  std::optional<LaunchRecord> launch_of(const DeviceRecord& event, bool& ambiguous) {
    const Calls calls = calls_of(event);
    if (calls.end == calls.first) return std::nullopt;
    const std::uint32_t process = store_.streams[event.stream - 1].process;
    if (process != 0) return call_in(process, event, calls);
    if (cpu_.calling_processes < 2) return likeliest(event, calls, calls.first);
    const std::uint32_t device = device_of(event);
    if (calls.one_process && owners_.mostly_unique(device)) return likeliest(event, calls, calls.first);
    const std::uint32_t owner = owner_of(device);
    if (const auto own = call_in(owner, event, calls)) return own;
    ambiguous = owner == 0;
    return std::nullopt;
  }

  std::optional<LaunchRecord> call_in(std::uint32_t process, const DeviceRecord& event, const Calls& calls) {
    const std::size_t own = launches_.lower_bound({event.correlation, process, 0, kUnknownValue});
    if (own >= calls.end || launches_.at(own).process != process) return std::nullopt;
    return likeliest(event, calls, own);
  }

  std::uint32_t owner_of(std::uint32_t device) {
    if (device_owner_.size() <= device) device_owner_.resize(device + 1);
    if (!device_owner_[device]) device_owner_[device] = owners_.owner(device);
    return *device_owner_[device];
  }

  // Whether the flows that end at the event start in the call that its correlation names.
  void check(const DeviceRecord& event, const LaunchRecord& launch) {
    const FlowArrow in_call{event.correlation, event.ts, event.stream, launch.thread, launch.ts};
    const std::size_t found = first_flow(in_call);
    const auto reaches_event = [&](const FlowArrow& arrow) {
      return arrow.id == event.correlation && arrow.end_ts == event.ts && arrow.stream == event.stream;
    };
    bool any = false;
    if (found < flow_table_.size()) {
      any = reaches_event(flow_);
      if (any && flow_.thread == launch.thread && flow_.start_ts - launch.ts <= std::int64_t{launch.dur}) {
        ++checked_.confirmed;
        return;
      }
    }
    if (!any && (found == 0 || !reaches_event(flow_table_.at(found - 1)))) return;
    ++checked_.contradicted;
    store_.issues.add(IssueKind::kFlowContradictsLaunch, -1, store_.strings.text(event.name));
  }

  // Position of the first flow not before `key`, which is put into flow_. Launches and their kernels mostly follow each
  // other in one order, so it is often one of the next after the last that was asked for.
  std::size_t first_flow(const FlowArrow& key) {
    constexpr std::size_t kNear = 4;
    const std::size_t end = std::min(next_flow_ + kNear, flow_table_.size());
    if (next_flow_ > 0 && flow_ < key) {
      for (std::size_t i = next_flow_; i < end; ++i) {
        flow_ = flow_table_.at(i);
        next_flow_ = i + 1;
        if (flow_ >= key) return i;
      }
    }
    const std::size_t found = flow_table_.lower_bound(key);
    if (found == flow_table_.size()) return found;
    flow_ = flow_table_.at(found);
    next_flow_ = found + 1;
    return found;
  }

  // What is open where a flow starts that ends at the event. Events come in time order.
  const Origin* origin_by_flow(const DeviceRecord& event) {
    if (flows_.origins.size() == 0) return nullptr;
    if (!ending_.empty() && ending_.front().end_ts != event.ts) ending_.clear();
    for (const FlowOrigin* flow = flows_.origins.peek(); flow != nullptr && flow->end_ts <= event.ts;
         flow = flows_.origins.peek()) {
      if (flow->end_ts == event.ts) ending_.push_back(*flow);
      flows_.origins.pop();
    }
    const auto flow = std::ranges::lower_bound(ending_, event.stream, {}, &FlowOrigin::stream);
    if (flow == ending_.end() || flow->stream != event.stream) return nullptr;
    if (!store_.operators_by_flow) return &flow->origin;
    // Several flows may end there: from the call that launches, and from the operator that asked for it.
    const auto asked = std::find_if(flow, ending_.end(), [&](const FlowOrigin& other) {
      return other.stream == event.stream && other.origin.cpu_op != 0;
    });
    return asked == ending_.end() ? &flow->origin : &asked->origin;
  }

  // Of a launch that a queue's thread makes for an operator on another one.
  Origin with_operator_of_flow(const DeviceRecord& event, Origin origin) {
    const Origin* asked = origin_by_flow(event);
    if (asked == nullptr || (origin.cpu_op != 0 && store_.operators_by_flow)) return origin;
    if (origin.cpu_op == 0) {
      origin.cpu_op = asked->cpu_op;
      origin.pass = asked->pass;
    }
    if (origin.stack == 0) origin.stack = asked->stack;
    if (origin.annotation == 0) origin.annotation = asked->annotation;
    if (origin.step == 0) origin.step = asked->step;
    return origin;
  }

  // Where External ids of device events name operators that start behind them, they are of another numbering, and those
  // that happen to name an earlier operator are no better.
  void judge_external_ids() {
    std::int64_t known = 0;
    std::int64_t late = 0;
    store_.device_events.for_each([&](const DeviceRecord& event) {
      const OperatorTable::Entry op = only_operator(event);
      known += op.row != 0 ? 1 : 0;
      late += op.row != 0 && op.ts > event.ts ? 1 : 0;
    });
    constexpr std::int64_t kFew = 20;  // one in so many may be a clock's fault
    external_ids_ = late * kFew <= known;
  }

  // As that of something whose launch is lost, with what is around it.
  void take_operator(std::uint32_t op, Origin& origin) const {
    origin.cpu_op = op;
    if (op == 0 || op > cpu_.place_of_operator.size()) return;
    const CpuLinks::OperatorPlace& place = cpu_.place_of_operator[op - 1];
    if (origin.annotation == 0) origin.annotation = place.annotation;
    if (origin.step == 0) origin.step = place.step;
  }

  [[nodiscard]] std::uint32_t operator_by_external_id(const DeviceRecord& event) const {
    const OperatorTable::Entry op = only_operator(event);
    return external_ids_ && op.ts <= event.ts ? op.row : 0;
  }

  // Only if the id means one operator: merged traces repeat these numbers too. Where it is a copy of the correlation it
  // says nothing about operators.
  [[nodiscard]] OperatorTable::Entry only_operator(const DeviceRecord& event) const {
    if (event.external_id == kUnknownValue || event.external_id == 0 || event.external_id == event.correlation)
      return {};
    return cpu_.operator_by_external_id.find(event.external_id);
  }

  TraceStore& store_;
  CpuLinks& cpu_;
  FlowLinks& flows_;
  FlowCheck& checked_;
  LaunchTable launches_;
  FlowTable flow_table_;
  std::size_t next_flow_ = 0;  // position behind that of flow_; 0: there is none yet
  FlowArrow flow_{};
  std::vector<FlowOrigin> ending_;  // flows that end when the event at hand starts
  bool external_ids_ = true;        // of device events are those of operators
  DeviceOwners owners_;
  std::vector<std::optional<std::uint32_t>> device_owner_;  // by device id
};

// Kernels and memory operations in time order, to rows.
class DeviceRowEmitter {
 public:
  DeviceRowEmitter(TraceStore& store, RowStream& rows, CpuLinks& cpu, DeviceLinks& out)
      : store_(store), rows_(rows), cpu_(cpu), out_(out), open_steps_(store.streams.size()) {}

  void run(LaunchResolver& resolver) {
    store_.device_events.drain([&](const DeviceRecord& event) {
      Origin origin = resolver.origin_of(event);
      origin.step = step_of(event, origin);
      if (origin.step == 0 && !cpu_.steps.steps.empty()) {
        store_.issues.add(IssueKind::kKernelWithoutStep, -1, store_.strings.text(event.name));
      }
      if (event.type == DeviceEventType::kKernel) {
        kernel(event, origin);
      } else {
        memory_op(event, origin);
      }
    });
  }

 private:
  std::uint32_t step_of(const DeviceRecord& event, const Origin& origin) {
    if (origin.step != 0) return origin.step;
    for (; next_interval_ < cpu_.steps.on_device.size(); ++next_interval_) {
      const DeviceStepInterval& interval = cpu_.steps.on_device[next_interval_];
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
         id_cell(origin.call), id_cell(origin.cpu_op), id_cell(origin.stack), id_cell(origin.annotation),
         id_cell(origin.step), event.graph_id_or_bytes, event.graph_node_id_or_bandwidth, id_cell(event.config),
         first_of_launch(origin), kind_cell(kind), cpu_.passes->cell(origin.pass)});
    if (event.collective != 0) out_.collectives.push_back({id, event.collective});
    if (origin.step != 0) {
      StepRow& row = cpu_.steps.steps[origin.step - 1];
      if (row.first_kernel == 0) row.first_kernel = id;
      row.last_kernel = id;
    }
    out_.sums.add(event.name, event.dur);
  }

  // A graph launch starts many kernels.
  std::int64_t first_of_launch(const Origin& origin) {
    if (origin.call == 0) return kUnknownValue;
    if (origin.call >= has_kernel_.size()) has_kernel_.resize(2 * std::size_t{origin.call} + 1);
    if (has_kernel_[origin.call]) return 0;
    has_kernel_[origin.call] = true;
    return 1;
  }

  void cover(const DeviceRecord& event, const Origin& origin) {
    const std::int64_t dur = duration_or_zero(event.dur);
    const auto count = [dur](Coverage& coverage, bool known) {
      coverage.kernels += known ? 1 : 0;
      if (known) coverage.ns = saturating_add(coverage.ns, dur);
    };
    count(out_.all, true);
    count(out_.with_launch, origin.call != 0);
    count(out_.with_operator, origin.cpu_op != 0);
    count(out_.with_stack, origin.stack != 0);
    count(out_.with_step, origin.step != 0);
  }

  void memory_op(const DeviceRecord& event, const Origin& origin) {
    const bool copy = event.type == DeviceEventType::kMemcpy;
    const bool is_negative = event.graph_id_or_bytes < 0 && event.graph_id_or_bytes >= kLeastNumber;
    if (is_negative) store_.issues.add(IssueKind::kBadNumber, -1, store_.strings.text(event.name));
    rows_.row(
        EventTable::kMemoryOp, event.args,
        {event.ts - store_.first_ts, event.dur, kind_cell(copy ? MemoryKind::kMemcpy : MemoryKind::kMemset),
         copy ? direction_of(event) : kUnknownValue, event.name, is_negative ? kUnknownValue : event.graph_id_or_bytes,
         event.graph_node_id_or_bandwidth, event.stream, event.correlation, event.external_id, id_cell(origin.call),
         id_cell(origin.cpu_op), id_cell(origin.stack), id_cell(origin.annotation), id_cell(origin.step),
         cpu_.passes->cell(origin.pass)});
  }

  std::int64_t direction_of(const DeviceRecord& event) const {
    const std::size_t by_name = copy_direction_index(store_.strings.text(event.name));
    if (by_name != 0 || event.config == 0) return by_name == 0 ? kUnknownValue : static_cast<std::int64_t>(by_name);
    const std::size_t by_kind = copy_direction_index(store_.strings.text(event.config));
    return by_kind == 0 ? kUnknownValue : static_cast<std::int64_t>(by_kind);
  }

  KernelKind kind_of(const DeviceRecord& event) {
    const auto [entry, is_new] = kinds_.try_emplace(event.name);
    if (is_new) {
      entry->second = kernel_kinds_.of(store_.strings.text(event.name));
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
  std::vector<bool> has_kernel_;  // by call
  std::size_t next_interval_ = 0;
  KernelKinds kernel_kinds_;
  std::unordered_map<std::uint32_t, KernelKind> kinds_;  // by name
};

}  // namespace

void link_device_events(TraceStore& store, RowStream& rows, CpuLinks& cpu, FlowLinks& flows, DeviceLinks& out) {
  LaunchResolver resolver(store, cpu, flows, out.flows);
  DeviceRowEmitter(store, rows, cpu, out).run(resolver);
}

void KernelSums::Durations::add(std::int64_t dur) {
  if (dur >= 0 && dur <= std::numeric_limits<std::uint32_t>::max()) {
    shorter.push_back(static_cast<std::uint32_t>(dur));
  } else {
    longer.push_back(dur);
  }
}

void KernelSums::Durations::sort() {
  if (!std::ranges::is_sorted(shorter)) std::ranges::sort(shorter);
  std::ranges::sort(longer);
}

void KernelSums::add(std::uint32_t name, std::int64_t dur) {
  const auto [index, is_new] = index_.index_of(name);
  if (is_new) names_.push_back({name, 0, {}});
  Samples& samples = names_[index];
  ++samples.n;
  if (dur != kUnknownValue) samples.durations.add(dur);
}

KernelSum KernelSums::summarise(Samples& samples) {
  Durations& sorted = samples.durations;
  KernelSum sum;
  sum.name = samples.name;
  sum.n = samples.n;
  sum.known = static_cast<std::int64_t>(sorted.size());
  if (sorted.size() == 0) return sum;
  sorted.sort();
  const auto add = [&](std::int64_t dur) {
    sum.total = saturating_add(sum.total, dur);
    sum.sum_of_squares += static_cast<double>(dur) * static_cast<double>(dur);
  };
  for (const std::uint32_t dur : sorted.shorter) add(dur);
  for (const std::int64_t dur : sorted.longer) add(dur);
  sum.median = sorted_median(sorted);
  sum.min = sorted[0];
  sum.max = sorted[sorted.size() - 1];
  sum.p50 = sorted[nearest_rank(sorted.size(), 50)];
  sum.p90 = sorted[nearest_rank(sorted.size(), 90)];
  sum.p99 = sorted[nearest_rank(sorted.size(), 99)];
  return sum;
}

std::vector<KernelSum> KernelSums::finish() {
  std::vector<KernelSum> out;
  for (Samples& samples : names_) {
    out.push_back(summarise(samples));
    samples.durations = {};
  }
  return out;
}

}  // namespace tracedb
