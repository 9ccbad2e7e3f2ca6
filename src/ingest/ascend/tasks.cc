#include "ingest/ascend/tasks.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "base/text/decimal.h"
#include "base/unknown.h"
#include "ingest/rows/row_sink.h"

namespace tracedb {
namespace {

struct Level {
  std::string_view name, prefix;
};
constexpr std::array<Level, 6> kLevels = {{{"acl", "AscendCL@"},
                                           {"node", "Node@"},
                                           {"hccl", "Hccl@"},
                                           {"communication", "Communication@"},
                                           {"model", "Model@"},
                                           {"runtime", "Runtime@"}}};

// Types of tasks on cores that compute, beside those of kernels; the profiler writes "Other" where it does not know.
constexpr std::array<std::string_view, 9> kComputeTypes = {
    "AI_CORE", "AI_VECTOR_CORE", "AIV", "MIX_AIC", "MIX_AIV", "AI_CPU", "DSA_SQE", "FFTS_PLUS", "Other"};
// How names and types of tasks begin that only order, wait, signal or move.
constexpr std::array<std::string_view, 17> kNoWork = {
    "EVENT_", "NOTIFY_", "PROFILING_",  "PLACE_HOLDER", "STREAM_",      "MODEL_",  "LABEL_", "SDMA",       "RDMA",
    "PCIE_",  "Notify ", "Write Value", "WRITE_VALUE",  "STARS_COMMON", "CAPTURE", "FLIP",   "MAINTENANCE"};

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

enum class TaskTrack : std::uint8_t { kOther, kHardware, kCollectives, kHost };

TaskTrack task_track_of(std::string_view process) {
  if (process == "Ascend Hardware") return TaskTrack::kHardware;
  if (process == "HCCL" || process == "Communication" || process == "COMMUNICATION") return TaskTrack::kCollectives;
  return process == "CANN" ? TaskTrack::kHost : TaskTrack::kOther;
}

// Whether the profiler draws something else as this process.
bool is_drawn_process(std::string_view process) {
  constexpr std::array<std::string_view, 8> kOthers = {"Overlap Analysis", "HBM",     "LLC", "NPU MEM",
                                                       "Stars Soc Info",   "Acc PMU", "QoS", "AI Core Freq"};
  return task_track_of(process) != TaskTrack::kOther || std::ranges::find(kOthers, process) != kOthers.end();
}

class TaskPlacer {
 public:
  explicit TaskPlacer(TraceStore& store) : store_(store) {
    for (const ProcessInfo& process : store.processes) tracks_.push_back(task_track_of(process.name));
  }

  bool run() {
    store_.tasks.drain([this](const TaskRecord& task) { place(task); });
    store_.operators_by_flow = store_.operators_by_flow || any_;
    return any_;
  }

 private:
  [[nodiscard]] std::string_view text(std::uint32_t id) const {
    return id == 0 ? std::string_view() : store_.strings.text(id);
  }

  void place(const TaskRecord& task) {
    const TaskTrack track = tracks_[store_.threads[task.track - 1].process - 1];
    any_ = any_ || track != TaskTrack::kOther;
    const std::string_view name = text(task.name);
    if (track == TaskTrack::kHost) {
      const auto call = record_of_task<CallRecord>(task, caller_on(task.track));
      store_.count(call);
      return store_.calls.push(call);
    }
    if (track == TaskTrack::kCollectives && is_hcom(name)) return add_collective(task, name);
    if (track == TaskTrack::kCollectives) add_peer(task);
    if (track == TaskTrack::kHardware && is_memory_task(name)) return add_memory_operation(task, name);
    const TaskWork work = work_of_task(text(task.type), name);
    if (track == TaskTrack::kHardware && work == TaskWork::kCompute) return add_kernel(task, name);
    if (track == TaskTrack::kHardware && work == TaskWork::kUnknown)
      store_.issues.add(IssueKind::kUnknownTask, -1, text(task.type));
    store_.slices.push(record_of_task<SliceRecord>(task, task.track));
  }

  template <class Record>
  static Record record_of_task(const TaskRecord& task, std::uint32_t track) {
    auto record = record_of<Record>(task.ts, task.dur, task.name, track);
    if constexpr (requires { record.correlation; }) record.correlation = task.connection;
    record.args = task.args;
    return record;
  }

  DeviceRecord device_record(const TaskRecord& task, DeviceEventType type, std::uint32_t stream) {
    auto record = record_of_task<DeviceRecord>(task, stream);
    record.type = type;
    store_.count(record);
    return record;
  }

  void add_memory_operation(const TaskRecord& task, std::string_view name) {
    const auto type = is_memset_task(name) ? DeviceEventType::kMemset : DeviceEventType::kMemcpy;
    store_.device_events.push(device_record(task, type, stream_of(task, HasNumber::kYes)));
  }

  void add_kernel(const TaskRecord& task, std::string_view name) {
    DeviceRecord record = device_record(task, DeviceEventType::kKernel, stream_of(task, HasNumber::kYes));
    if (task.model != kUnknownValue && task.model != kNoModel) record.graph_id_or_bytes = task.model;
    record.config = config_of(task);
    record.name = store_.string_id(operation_type(name));
    store_.device_events.push(record);
  }

  void add_collective(const TaskRecord& task, std::string_view name) {
    DeviceRecord record = device_record(task, DeviceEventType::kKernel, stream_of(task, HasNumber::kNo));
    record.config = config_of(task);
    CollectiveRecord collective;
    collective.in_elements = task.elements;
    collective.dtype = task.data_type;
    if (const auto parts = parse_hcom_name(name)) {
      collective.sequence = parts->sequence;
      collective.name = store_.string_id(parts->operation);
      collective.group_name = store_.string_id(parts->group);
      record.name = store_.string_id(parts->type);
    }
    store_.collectives.push_back(collective);
    record.collective = static_cast<std::uint32_t>(store_.collectives.size());
    store_.device_events.push(record);
    peers_.clear();
    collective_end_ = saturating_add(task.ts, duration_or_zero(task.dur));
  }

  // Tasks say with which ranks a collective deals, itself included.
  void add_peer(const TaskRecord& task) {
    if (task.peer == 0 || store_.collectives.empty() || task.ts > collective_end_) return;
    if (peers_.insert(task.peer).second && peers_.size() > 1) {
      store_.collectives.back().group_size = static_cast<std::int64_t>(peers_.size());
    }
  }

  std::uint32_t config_of(const TaskRecord& task) {
    LaunchConfig config = unknown_launch_config();
    config.task.name = task.name;
    config.task.core = task.type;
    return store_.config_id(config);
  }

  // The profiler packs its process, a layer and the device into the pid: process << 10 | layer << 5 | device; others,
  // process * 100 + layer.
  static constexpr std::int64_t kDeviceBits = 31;
  static constexpr std::int64_t kPackedBy[] = {1024, 100};

  // The thread of the process itself, where the trace has that process.
  std::uint32_t caller_on(std::uint32_t track) {
    if (const std::uint32_t known = store_.caller_on(track); known != track) return known;
    const ThreadInfo& drawn = store_.threads[track - 1];
    const std::uint32_t process = packed_process(store_.processes[drawn.process - 1].pid);
    if (process == 0) return track;
    const std::uint32_t own = store_.thread_id(TrackKey(store_.processes[process - 1].pid), TrackKey(drawn.tid));
    return store_.threads[track - 1].caller = own;
  }

  // The process that a drawn one's pid names, where the trace has it; else 0.
  [[nodiscard]] std::uint32_t packed_process(const TrackKey& pid) const {
    for (const std::int64_t packed_by : kPackedBy) {
      const TrackKey process{pid.number / packed_by, {}};
      const auto found = std::ranges::find(store_.processes, process, &ProcessInfo::pid);
      if (process.number > 0 && found != store_.processes.end() && !is_drawn_process(found->name))
        return static_cast<std::uint32_t>(found - store_.processes.begin()) + 1;
    }
    return 0;
  }

  enum class HasNumber : std::uint8_t { kNo, kYes };  // the track's number is that of a stream

  std::uint32_t stream_of(const TaskRecord& task, HasNumber has_number) {
    if (streams_.size() < task.track) streams_.resize(task.track);
    std::uint32_t& stream = streams_[task.track - 1];
    if (stream != 0) return stream;
    const ThreadInfo& thread = store_.threads[task.track - 1];
    const TrackKey& pid = store_.processes[thread.process - 1].pid;
    const TrackKey device = pid.number == kUnknownValue ? pid : TrackKey{pid.number & kDeviceBits, {}};
    // Merged traces number the connections of each process alike.
    stream = store_.stream_id(device, has_number == HasNumber::kYes ? thread.tid : TrackKey{}, packed_process(pid));
    store_.stream_tracks.try_emplace(track_text(pid, thread.tid), stream);
    return stream;
  }

  TraceStore& store_;
  std::vector<TaskTrack> tracks_;       // by process - 1
  std::vector<std::uint32_t> streams_;  // by thread - 1
  std::set<std::uint32_t> peers_;       // of the latest collective
  std::int64_t collective_end_ = 0;
  bool any_ = false;
};

// Of a node of a graph, which is its type and a counter; a version ("MatMulV2") has one digit. Types are in CamelCase;
// what comes before digits that are no counter names a function or a type of data.
std::string_view without_counter(std::string_view node) {
  constexpr std::array<std::string_view, 14> kWithDigits = {"Int", "INT",  "Fp",   "FP",  "Bf",   "BF",  "Float",
                                                            "Hif", "Relu", "Atan", "Exp", "Expm", "Log", "Log1p"};
  if (node.empty() || node[0] < 'A' || node[0] > 'Z' || node.find('_') != std::string_view::npos) return node;
  std::size_t end = node.find_last_not_of("0123456789") + 1;
  const std::string_view type = node.substr(0, end);
  if (std::ranges::any_of(kWithDigits, [type](std::string_view word) { return type.ends_with(word); })) return node;
  if (type.ends_with('V')) ++end;
  return node.substr(0, end);
}

}  // namespace

TaskWork work_of_task(std::string_view task_type, std::string_view name) {
  const auto is_no_work = [](std::string_view text) {
    return is_kernel_type(text) ||
           std::ranges::any_of(kNoWork, [text](auto prefix) { return text.starts_with(prefix); });
  };
  if (is_no_work(name)) return TaskWork::kNone;
  if (is_kernel_type(task_type) || std::ranges::find(kComputeTypes, task_type) != kComputeTypes.end())
    return TaskWork::kCompute;
  return is_no_work(task_type) ? TaskWork::kNone : TaskWork::kUnknown;
}

std::string_view operation_type(std::string_view task_name) {
  constexpr std::string_view kConversion = "trans_", kFill = "MemSet";
  if (task_name.ends_with("_MemSet")) return kFill;
  const std::size_t last = task_name.rfind('_');
  if (task_name.starts_with("aclnn") && std::ranges::count(task_name, '_') >= 2 && last + 1 < task_name.size() &&
      !is_digits(task_name.substr(last + 1))) {
    return task_name.substr(last + 1);
  }
  const bool converts = task_name.starts_with(kConversion) && last != std::string_view::npos &&
                        last > kConversion.size() && is_digits(task_name.substr(last + 1));
  return converts ? task_name.substr(kConversion.size(), last - kConversion.size()) : without_counter(task_name);
}

std::string cann_call_name(std::string_view level, std::string_view call) {
  const auto found = std::ranges::find_if(kLevels, [level](const Level& known) { return known.name == level; });
  return std::string(found == kLevels.end() ? "" : found->prefix).append(call);
}

std::optional<HcomName> parse_hcom_name(std::string_view name) {
  constexpr std::string_view kPrefix = "hcom_";
  const std::size_t separator = name.find("__");
  if (!is_hcom(name) || separator == std::string_view::npos || separator <= kPrefix.size()) return std::nullopt;
  HcomName out;
  out.type = name.substr(0, separator + 1);
  out.operation = name.substr(kPrefix.size(), separator - kPrefix.size());
  const std::string_view rest = name.substr(separator + 2);
  const std::size_t group_end = rest.find('_');
  if (group_end == std::string_view::npos) return std::nullopt;
  out.group = rest.substr(0, group_end);
  const std::string_view behind = rest.substr(group_end + 1);
  const auto sequence = parse_int64(behind.substr(0, behind.find('_')));
  if (!sequence || *sequence < 0) return std::nullopt;
  out.sequence = *sequence;
  return out;
}

bool place_tasks(TraceStore& store) { return TaskPlacer(store).run(); }

}  // namespace tracedb
