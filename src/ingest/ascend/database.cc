#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/lookup.h"
#include "base/text/json_text.h"
#include "base/unknown.h"
#include "ingest/ascend/readers.h"
#include "ingest/ascend/tasks.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

using Columns = SourceDatabase::Columns;

// A thread as the profiler writes it: the process in the upper half.
struct AscendThread {
  explicit AscendThread(std::int64_t id)
      : pid{id == kUnknownValue ? kUnknownValue : id >> 32U, {}},
        tid{id == kUnknownValue ? kUnknownValue : id & 0xffffffff, {}} {}
  TrackKey pid, tid;
};

class AscendDatabase {
 public:
  AscendDatabase(SourceTables& tables, RowSink& sink, TraceFacts& facts)
      : sink_(sink), facts_(facts), tables_(tables) {}

  void run() {
    strings_ = tables_.texts("STRING_IDS", "id", "value");
    data_types_ = tables_.texts("ENUM_HCCL_DATA_TYPE", "id", "name");
    api_types_ = tables_.texts("ENUM_API_TYPE", "id", "name");
    describe();
    read_connections();
    read_torch_calls();
    read_compute_info();
    read_communication_info();
    read_copies();
    read_tasks();
    read_collectives();
    read_calls();
    read_marks();
    read_steps();
    facts_.vendor = "ascend";
    sink_.find_operators_by_flow();
  }

 private:
  struct Compute {
    std::uint32_t name, config;
    bool has_times;  // a row of TASK
  };
  // A task of a collective.
  struct Communication {
    std::int64_t type, collective;  // string id of what it does; opId
  };

  // Of what the profiler writes where there is nothing to say, too: 0.
  std::uint32_t known_text(std::string_view text) {
    text = raw_string(text);
    return text.empty() || text == "N/A" ? 0 : sink_.text(text);
  }

  // Facts about the whole run: its metadata, devices and rank.
  void describe() {
    tables_.look_up("META_DATA", {{"name", "value"}, {}}, [&](const SourceRow& row) { tables_.add_header(row); });
    std::string devices;
    tables_.look_up("NPU_INFO", {{"id", "name"}, {}}, [&](const SourceRow& row) {
      if (const auto id = row[0].integer(); id && devices.size() <= kLargestHeader) {
        append_device(devices, *id, row[1].text());
      }
    });
    if (!devices.empty()) tables_.add_header("deviceProperties", "[" + devices + "]");
    std::size_t ranks = 0;
    tables_.look_up("RANK_DEVICE_MAP", {{"rankId", "deviceId"}, {}}, [&](const SourceRow& row) {
      const auto rank = row[0].integer();
      if (!rank || *rank < 0) return;
      facts_.rank = ++ranks == 1 ? rank : std::nullopt;
      facts_.rank_source = "RANK_DEVICE_MAP";
    });
  }

  // Which connections of tasks belong to a torch call.
  void read_connections() {
    tables_.look_up("CONNECTION_IDS", {{"id", "connectionId"}, {}}, [&](const SourceRow& row) {
      if (row.id(0) != kUnknownValue && row.id(1) != kUnknownValue) connections_[row.id(0)].push_back(row.id(1));
    });
  }

  void read_torch_calls() {
    const RowSink::Kind kind = sink_.kind("PYTORCH_API");
    tables_.read("PYTORCH_API", kind,
                 {{"startNs", "endNs", "globalTid", "name"},
                  {"connectionId", "sequenceNumber", "fwdThreadId", "inputDtypes", "inputShapes", "type"}},
                 [&](const SourceRow& row) {
                   if (const auto span = tables_.span(row, 0, 1, kind)) add_torch_call(row, *span, kind);
                 });
  }

  void add_torch_call(const SourceRow& row, const TimeSpan& span, RowSink::Kind kind) {
    const AscendThread global(row.integer(2));
    const std::uint32_t thread = sink_.thread(global.pid, global.tid);
    const std::string_view name = strings_.of(row.id(3));
    const std::string_view type = api_types_.of(row.id(9), "op");
    if (type == "trace") return sink_.add_python_call(kind, span, name, thread);
    if (type == "queue") return sink_.add_slice("queue", span, name, thread);
    if (type == "mstx" || is_mark_among_operators(name)) return add_annotation(span, name, thread);
    auto record = record_of<OperatorRecord>(span, sink_.text(name), thread);
    record.sequence_number = row.integer(5) == -1 ? kUnknownValue : row.integer(5);
    record.is_forward = row.id(6) == 0 ? 1 : 0;
    record.shape = shape(strings_.of(row.id(8)), strings_.of(row.id(7)));
    sink_.add(record);
    const auto* connected = find_in(connections_, row.id(4));
    if (connected == nullptr) return;
    for (const std::int64_t connection : *connected) add_flow(connection, span.ts, thread, 's');
  }

  std::uint32_t shape(std::string_view dims, std::string_view types) {
    if (dims.empty() && types.empty()) return 0;
    return sink_.shape({dims.empty() ? "" : quote_json(dims), types.empty() ? "" : quote_json(types), {}, {}});
  }

  void add_annotation(const TimeSpan& span, std::string_view name, std::uint32_t thread) {
    sink_.add_annotation(span, name, thread);
    has_steps_ = has_steps_ || name.starts_with("ProfilerStep");
  }

  // As trace_view.json draws it from a torch operator to its task.
  void add_flow(std::int64_t connection, std::int64_t ts, std::uint32_t track, char ph) {
    const std::uint32_t category = sink_.text("async_npu");
    auto record = record_of<FlowRecord>({ts, 0}, sink_.text("torch_to_npu"), track);
    record.id = {static_cast<std::uint64_t>(connection), EventIdType::kHex};  // no number of a launch
    record.category = category;
    record.ph = ph;
    if (ph == 's') torch_connections_.insert(connection);
    sink_.read(ph == 's' ? flow_starts_ : flow_ends_);
    sink_.add(record);
  }

  void read_compute_info() {
    constexpr std::string_view kTables[] = {"COMPUTE_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO"};
    for (const std::string_view table : kTables) {
      tables_.look_up(table,
                      {{"globalTaskId", "name", "opType"},
                       {"taskType", "blockNum|blockDim", "mixBlockNum|mixBlockDim", "inputShapes", "inputDataTypes",
                        "inputFormats", "outputShapes", "outputDataTypes", "outputFormats", "opState"}},
                      [&](const SourceRow& row) { note_compute(row); });
    }
  }

  void note_compute(const SourceRow& row) {
    const std::int64_t id = row.id(0);
    if (id == kUnknownValue) return;
    const std::string_view name = strings_.of(row.id(1));
    const std::string_view type = strings_.of(row.id(2));
    LaunchConfig config = unknown_launch_config();
    config.values[0] = row.integer(4);
    TaskInfo& task = config.task;
    task.name = known_text(name);
    task.core = known_text(strings_.of(row.id(3)));
    if (row.integer(5) != kUnknownValue) task.mix_blocks = sink_.text(std::to_string(row.integer(5)));
    const std::array<std::uint32_t*, 7> texts = {&task.input_shapes,  &task.input_types,  &task.input_formats,
                                                 &task.output_shapes, &task.output_types, &task.output_formats,
                                                 &task.state};
    for (std::size_t i = 0; i < texts.size(); ++i) *texts[i] = known_text(strings_.of(row.id(6 + i)));
    const bool has_type = !type.empty() && type != "N/A";
    compute_.try_emplace(id, Compute{sink_.text(has_type ? type : name), sink_.config(config), false});
  }

  void read_communication_info() {
    tables_.look_up("COMMUNICATION_TASK_INFO", {{"globalTaskId"}, {"taskType", "opId"}}, [&](const SourceRow& row) {
      if (row.id(0) != kUnknownValue) communication_.try_emplace(row.id(0), Communication{row.id(1), row.id(2)});
    });
  }

  void read_copies() {
    tables_.look_up("MEMCPY_INFO", {{"globalTaskId", "size"}, {}}, [&](const SourceRow& row) {
      if (row.id(0) != kUnknownValue) copied_bytes_.try_emplace(row.id(0), row.integer(1));
    });
  }

  static constexpr std::int64_t kNoConnection = 0xffffffff;  // of a task that no call launches

  // A launch that fills memory for its operation has a task more than operations are recorded.
  void note_named_launches() {
    if (compute_.empty()) return;
    tables_.look_up("TASK", {{"globalTaskId"}, {"connectionId"}}, [&](const SourceRow& row) {
      const bool is_launch = row.id(1) != kUnknownValue && row.id(1) != kNoConnection;
      if (is_launch && compute_.contains(row.id(0))) named_launches_.insert(row.id(1));
    });
  }

  // Whether a task computes, by its type, and nothing says what. Not so of "AI_CORE": collectives are that, too.
  [[nodiscard]] bool is_unnamed_kernel(std::int64_t id, std::string_view type, std::int64_t launch) const {
    const bool on_core = (is_kernel_type(type) && type != "KERNEL_AICPU") || type.starts_with("MIX_AI");
    return on_core && id != kUnknownValue && !named_launches_.contains(launch);
  }

  Compute unnamed_kernel(std::string_view type) {
    LaunchConfig config = unknown_launch_config();
    config.task.core = known_text(type);
    return {config.task.core, sink_.config(config), false};
  }

  void read_tasks() {
    note_named_launches();
    tables_.read_spans(
        "TASK", {{"startNs", "endNs", "globalTaskId", "streamId"}, {"deviceId", "connectionId", "taskType", "modelId"}},
        [&](const SourceRow& row, const TimeSpan& span) { add_task(row, span); });
    const auto timeless = static_cast<std::uint64_t>(
        std::ranges::count_if(compute_, [](const auto& task) { return !task.second.has_times; }));
    if (timeless == 0) return;
    const RowSink::Kind without = sink_.kind("COMPUTE_TASK_INFO");
    sink_.read(without, timeless);
    sink_.skip(without, SkipReason::kNoTimestamp, timeless);
    sink_.issue(IssueKind::kMissingTimestamp, -1, "COMPUTE_TASK_INFO without TASK", timeless);
  }

  void add_task(const SourceRow& row, const TimeSpan& span) {
    const std::int64_t id = row.id(2);
    const TrackKey device{row.integer(4), {}};
    const TrackKey stream{row.integer(3), {}};
    if (device.number != kUnknownValue) devices_.insert(device.number);
    const std::string_view type = strings_.of(row.id(6));
    if (const Communication* part = find_in(communication_, id); part != nullptr && !compute_.contains(id)) {
      const std::int64_t collective = part->collective;
      if (collective != kUnknownValue && device.number != kUnknownValue)
        device_of_collective_.try_emplace(collective, device.number);
      return sink_.add_slice("communication task", span, strings_.of(part->type), sink_.thread(device, stream));
    }
    Compute* compute = find_in(compute_, id);
    if (compute == nullptr && is_unnamed_kernel(id, type, row.integer(5))) {
      compute = &compute_.emplace(id, unnamed_kernel(type)).first->second;
      sink_.issue(IssueKind::kUnnamedKernel, -1, type);
    }
    if (compute == nullptr && !is_memory_task(type)) {
      if (work_of_task(type, type) == TaskWork::kUnknown) sink_.issue(IssueKind::kUnknownTask, -1, type);
      return sink_.add_slice("task", span, type, sink_.thread(device, stream));
    }
    auto record = record_of<DeviceRecord>(span, 0, sink_.stream(device, stream));
    record.correlation = row.integer(5);
    if (compute == nullptr) {
      record.type = is_memset_task(type) ? DeviceEventType::kMemset : DeviceEventType::kMemcpy;
      record.name = sink_.text(type);
      if (const auto* bytes = find_in(copied_bytes_, id)) record.graph_id_or_bytes = *bytes;
    } else {
      compute->has_times = true;
      record.name = compute->name;
      record.config = compute->config;
      streams_.insert(record.stream);
      if (row.integer(7) != kNoModel) record.graph_id_or_bytes = row.integer(7);
    }
    sink_.add(record);
    if (torch_connections_.contains(record.correlation)) {
      add_flow(record.correlation, span.ts, sink_.thread(device, stream), 'f');
    }
  }

  void read_collectives() {
    tables_.read_spans("COMMUNICATION_OP",
                       {{"startNs", "endNs", "opName", "opType"},
                        {"connectionId", "groupName", "dataType", "count", "deviceId", "opId"}},
                       [&](const SourceRow& row, const TimeSpan& span) { add_collective(row, span); });
  }

  // The profiler gives a collective no stream: its tasks have one each.
  void add_collective(const SourceRow& row, const TimeSpan& span) {
    const std::string_view name = strings_.of(row.id(2));
    const std::string_view type = strings_.of(row.id(3));
    TrackKey device{row.integer(8), {}};
    const auto* known = find_in(device_of_collective_, row.id(9));
    if (device.number == kUnknownValue && known != nullptr) device.number = *known;
    if (device.number == kUnknownValue && devices_.size() == 1) device.number = *devices_.begin();
    auto record = record_of<DeviceRecord>(span, sink_.text(type.empty() ? name : type), sink_.stream(device, {}));
    record.correlation = row.integer(4);
    streams_.insert(record.stream);
    LaunchConfig config = unknown_launch_config();
    config.task.name = known_text(name);
    record.config = sink_.config(config);
    CollectiveRecord collective;
    collective.in_elements = row.integer(7);
    collective.group_name = known_text(strings_.of(row.id(5)));
    collective.dtype = known_text(data_types_.of(row.id(6)));
    if (const auto parts = parse_hcom_name(name)) {
      collective.name = sink_.text(parts->operation);
      collective.sequence = parts->sequence;
    }
    record.collective = sink_.collective(collective);
    sink_.add(record);
    if (torch_connections_.contains(record.correlation)) {
      add_flow(record.correlation, span.ts, sink_.thread(device, {}), 'f');
    }
  }

  void read_calls() {
    tables_.read_spans("CANN_API", {{"startNs", "endNs", "globalTid", "name"}, {"type", "connectionId"}},
                       [&](const SourceRow& row, const TimeSpan& span) {
                         const AscendThread global(row.integer(2));
                         sink_.add_call(span, cann_call_name(api_types_.of(row.id(4)), strings_.of(row.id(3))),
                                        sink_.thread(global.pid, global.tid), row.integer(5));
                       });
  }

  void read_marks() {
    tables_.read_spans("MSTX_EVENTS", {{"startNs", "endNs", "message", "globalTid"}, {"eventType"}},
                       [&](const SourceRow& row, const TimeSpan& span) {
                         const AscendThread global(row.integer(3));
                         const std::uint32_t thread = sink_.thread(global.pid, global.tid);
                         constexpr std::int64_t kMarker = 0;  // of ENUM_MSTX_EVENT_TYPE
                         if (row.id(4) != kMarker) return add_annotation(span, strings_.of(row.id(2)), thread);
                         sink_.add_instant("mstx", span.ts, strings_.of(row.id(2)), thread);
                       });
  }

  // On every stream, by time: without the framework's marks no thread is known to make steps.
  void read_steps() {
    const RowSink::Kind kind = sink_.kind("STEP_TIME");
    tables_.look_up("STEP_TIME", {{"startNs", "endNs", "id"}, {}}, [&](const SourceRow& row) {
      if (has_steps_) return;
      sink_.read(kind);
      const auto span = tables_.span(row, 0, 1, kind);
      if (!span) return;
      if (streams_.empty()) return sink_.skip(kind, SkipReason::kMetadata);
      sink_.read(kind, streams_.size() - 1);
      for (const std::uint32_t stream : streams_) {
        sink_.add_device_step(*span, "ProfilerStep#", row.integer(2), stream);
      }
    });
  }

  RowSink& sink_;
  TraceFacts& facts_;
  SourceTables& tables_;
  SourceTexts strings_, data_types_, api_types_;
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> connections_;
  std::unordered_set<std::int64_t> torch_connections_;
  std::unordered_map<std::int64_t, Compute> compute_;  // by globalTaskId
  std::unordered_map<std::int64_t, Communication> communication_;
  std::unordered_map<std::int64_t, std::int64_t> copied_bytes_;
  std::unordered_map<std::int64_t, std::int64_t> device_of_collective_;  // by opId
  std::unordered_set<std::int64_t> named_launches_;                      // connections of tasks of which compute_ knows
  std::set<std::int64_t> devices_;
  std::set<std::uint32_t> streams_;  // with kernels
  bool has_steps_ = false;
  RowSink::Kind flow_starts_ = sink_.kind("async_npu", "s"), flow_ends_ = sink_.kind("async_npu", "f");
};

}  // namespace

bool is_ascend_database(const std::vector<std::string>& tables) {
  const auto has = [&](std::string_view name) { return std::ranges::find(tables, name) != tables.end(); };
  return has("STRING_IDS") && (has("TASK") || has("CANN_API") || has("PYTORCH_API"));
}

void read_ascend_database(SourceTables& tables, RowSink& sink, TraceFacts& facts) {
  AscendDatabase(tables, sink, facts).run();
}

}  // namespace tracedb
