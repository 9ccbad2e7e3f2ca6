#include "ingest/nsys/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/lookup.h"
#include "base/text/decimal.h"
#include "base/unknown.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

// A thread as Nsight Systems writes it: 24 bits each of process and thread, below those of host and machine.
struct NsysThread {
  explicit NsysThread(std::int64_t id) {
    if (id == kUnknownValue) return;
    pid.number = id >> 24U & 0xffffff;
    tid.number = id & 0xffffff;
  }
  TrackKey pid, tid;
};

// As the PyTorch profiler writes them; the numbers are CUPTI's, and behind them those of migrations of unified memory.
std::string_view direction(std::int64_t kind) {
  constexpr std::array<std::string_view, 14> kNames = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                                       "DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
  return kind > 0 && kind < std::ssize(kNames) ? kNames[static_cast<std::size_t>(kind)] : kNames[0];
}
std::string_view memory_kind(std::int64_t kind) {
  constexpr std::array<std::string_view, 7> kNames = {"Pageable", "Pinned",        "Device",        "Array",
                                                      "Managed",  "Device Static", "Managed Static"};
  return kind >= 0 && kind < std::ssize(kNames) ? kNames[static_cast<std::size_t>(kind)] : "Unknown";
}

class NsysDatabase {
 public:
  NsysDatabase(SourceTables& tables, RowSink& sink, TraceFacts& facts) : sink_(sink), facts_(facts), tables_(tables) {}

  void run() {
    strings_ = tables_.texts("StringIds", "id", "value");
    describe();
    name_tracks();
    read_kernels();
    read_graphs();
    read_copies();
    read_fills();
    read_calls();
    read_waits();
    read_os_calls();
    read_ranges();
    end_open_ranges();
    facts_.vendor = "nvidia";
  }

 private:
  void describe() {
    tables_.look_up("TARGET_INFO_SESSION_START_TIME", {{"utcEpochNs"}, {"systemClockNs"}}, [&](const SourceRow& row) {
      const auto utc = row[0].integer();
      const std::int64_t clock = row[1].integer().value_or(0);
      std::int64_t zero = 0;
      if (utc && !__builtin_sub_overflow(*utc, clock, &zero)) facts_.time_zero_ns = zero;
    });
    tables_.look_up("META_DATA_EXPORT", {{"name", "value"}, {}}, [&](const SourceRow& row) {
      if (row[0].text().starts_with("EXPORT_")) tables_.add_header(row);
    });
    tables_.look_up("DIAGNOSTIC_EVENT", {{"text"}, {}}, [&](const SourceRow& row) {
      if (tells_of_loss(row[0].text())) sink_.issue(IssueKind::kDroppedEvents, -1, row[0].text());
    });
    tables_.look_up("TARGET_INFO_CUDA_DEVICE", {{"pid", "cudaId", "gpuId"}, {}}, [&](const SourceRow& row) {
      if (row.id(2) != kUnknownValue) gpus_[{row.id(0), row.id(1)}] = row.id(2);
    });
    const std::string_view number = gpus_.empty() ? "cuDevice|id" : "id";
    std::string devices;
    tables_.look_up("TARGET_INFO_GPU",
                    {{number, "name"}, {"totalMemory", "smCount", "threadsPerWarp", "computeMajor", "computeMinor"}},
                    [&](const SourceRow& row) {
                      if (!row[0].integer() || devices.size() > kLargestHeader) return;
                      append_device(devices, *row[0].integer(), row[1].text(),
                                    {{"totalGlobalMem", row.id(2)},
                                     {"numSms", row.id(3)},
                                     {"warpSize", row.id(4)},
                                     {"computeMajor", row.id(5)},
                                     {"computeMinor", row.id(6)}});
                    });
    if (!devices.empty()) tables_.add_header("deviceProperties", "[" + devices + "]");
  }

  void name_tracks() {
    tables_.look_up("PROCESSES", {{"globalPid", "name"}, {}}, [&](const SourceRow& row) {
      if (const NsysThread global(row.id(0)); global.pid.number != kUnknownValue)
        process_names_[global.pid.number] = row[1].text();
    });
    tables_.look_up("ThreadNames", {{"globalTid", "nameId"}, {}}, [&](const SourceRow& row) {
      if (row.id(0) != kUnknownValue) thread_names_[row.id(0)] = row.id(1);
    });
  }

  // Only threads with events are named: the export knows every thread of the machine.
  std::uint32_t thread(std::int64_t global_id) {
    const auto [entry, is_new] = threads_.try_emplace(global_id, 0);
    if (!is_new) return entry->second;
    const NsysThread global(global_id);
    entry->second = sink_.thread(global.pid, global.tid);
    if (const std::string* name = find_in(process_names_, global.pid.number)) sink_.name_process(global.pid, *name);
    if (const auto* name = find_in(thread_names_, global_id))
      sink_.name_thread(global.pid, global.tid, strings_.of(*name));
    return entry->second;
  }

  // Where work of the device ran.
  struct Place {
    std::int64_t device;
    std::uint32_t stream;  // of the sink; 0: any of a context
  };

  static TrackKey process(std::int64_t global_pid) {
    return NsysThread(global_pid == 0 ? kUnknownValue : global_pid).pid;
  }
  // A process numbers the devices that it sees.
  [[nodiscard]] std::int64_t device_of(const TrackKey& pid, std::int64_t number) const {
    const auto* gpu = find_in(gpus_, {pid.number, number});
    return gpu == nullptr ? number : *gpu;
  }

  // Columns 2 and 3 are device and stream; `process_column` is followed by that of the context.
  std::uint32_t stream(const SourceRow& row, std::size_t process_column) {
    const TrackKey pid = process(row.integer(process_column));
    const std::int64_t device = device_of(pid, row.integer(2)), number = row.integer(3);
    const std::uint32_t stream = sink_.stream({device, {}}, {number, {}}, pid);
    if (const std::int64_t context = row.integer(process_column + 1); context != kUnknownValue) {
      places_.try_emplace({pid.number, context, number}, Place{device, stream});
      places_.try_emplace({pid.number, context, kUnknownValue}, Place{device, 0});
    }
    return stream;
  }

  void read_kernels() {
    tables_.read_spans(
        "CUPTI_ACTIVITY_KIND_KERNEL",
        {{"start", "end", "deviceId", "streamId", "demangledName|shortName"},
         {"correlationId", "graphId", "graphNodeId", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
          "registersPerThread", "staticSharedMemory", "dynamicSharedMemory", "globalPid", "contextId"}},
        [&](const SourceRow& row, const TimeSpan& span) {
          auto record = record_of<DeviceRecord>(span, sink_.text(strings_.of(row.id(4))), stream(row, 17));
          record.correlation = row.integer(5);
          record.graph_id_or_bytes = row.integer(6);
          record.graph_node_id_or_bandwidth = row.integer(7);
          record.config = config(row);
          sink_.add(record);
        });
  }

  std::uint32_t config(const SourceRow& row) {
    LaunchConfig config = unknown_launch_config();
    for (std::size_t i = 0; i < 7; ++i) config.values[i] = row.integer(8 + i);
    const std::int64_t fixed = row.integer(15);
    const std::int64_t dynamic = row.integer(16);
    std::int64_t& shared = config.values[7];
    if (fixed == kUnknownValue || dynamic == kUnknownValue || __builtin_add_overflow(fixed, dynamic, &shared))
      shared = kUnknownValue;
    return sink_.config(config);
  }

  // Where whole graphs were traced, there are no rows of their kernels.
  void read_graphs() {
    tables_.read_spans(
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        {{"start", "end", "deviceId", "streamId"}, {"correlationId", "graphId", "globalPid", "contextId"}},
        [&](const SourceRow& row, const TimeSpan& span) {
          auto record = record_of<DeviceRecord>(span, sink_.text("CUDA graph"), stream(row, 6));
          record.correlation = row.integer(4);
          record.graph_id_or_bytes = row.integer(5);
          sink_.issue(IssueKind::kWholeGraph, -1, "");
          sink_.add(record);
        });
  }

  struct MemoryColumns {
    std::size_t process, correlation;
  };
  void add_memory_operation(const SourceRow& row, const TimeSpan& span, DeviceEventType type, std::string_view name,
                            MemoryColumns columns) {
    auto record = record_of<DeviceRecord>(span, sink_.text(name), stream(row, columns.process));
    record.type = type;
    record.graph_id_or_bytes = row.integer(4);
    record.correlation = row.integer(columns.correlation);
    sink_.add(record);
  }

  void read_copies() {
    tables_.read_spans("CUPTI_ACTIVITY_KIND_MEMCPY",
                       {{"start", "end", "deviceId", "streamId", "bytes", "copyKind"},
                        {"correlationId", "srcKind", "dstKind", "globalPid", "contextId"}},
                       [&](const SourceRow& row, const TimeSpan& span) {
                         const std::string name = fmt::format("Memcpy {} ({} -> {})", direction(row.id(5)),
                                                              memory_kind(row.id(7)), memory_kind(row.id(8)));
                         add_memory_operation(row, span, DeviceEventType::kMemcpy, name, {9, 6});
                       });
  }

  void read_fills() {
    tables_.read_spans(
        "CUPTI_ACTIVITY_KIND_MEMSET",
        {{"start", "end", "deviceId", "streamId", "bytes"}, {"correlationId", "memKind", "globalPid", "contextId"}},
        [&](const SourceRow& row, const TimeSpan& span) {
          const std::string name = fmt::format("Memset ({})", memory_kind(row.id(6)));
          add_memory_operation(row, span, DeviceEventType::kMemset, name, {7, 5});
        });
  }

  void read_calls() {
    tables_.read_spans("CUPTI_ACTIVITY_KIND_RUNTIME", {{"start", "end", "globalTid", "nameId"}, {"correlationId"}},
                       [&](const SourceRow& row, const TimeSpan& span) {
                         const std::string_view name = without_api_version(strings_.of(row.id(3)));
                         sink_.add_call(span, name, thread(row.integer(2)), row.integer(4));
                       });
  }

  void read_ranges() {
    const RowSink::Kind kind = sink_.kind("NVTX_EVENTS");
    tables_.read("NVTX_EVENTS", kind, {{"start", "end", "eventType", "globalTid"}, {"text", "textId"}},
                 [&](const SourceRow& row) {
                   // Of ENUM_NSYS_EVENT_TYPE: marks, and ranges pushed or started, each also of the text format.
                   constexpr std::array<std::int64_t, 2> kMarks = {34, 65};
                   constexpr std::array<std::int64_t, 4> kRanges = {59, 60, 70, 71};
                   const auto is_one_of = [type = row.id(2)](const auto& types) {
                     return std::ranges::find(types, type) != types.end();
                   };
                   const std::string_view text = row[4].is_null() ? strings_.of(row.id(5)) : row[4].text();
                   if (is_one_of(kMarks)) {
                     add_mark(row, text, kind);
                   } else if (is_one_of(kRanges) && row[1].is_null()) {
                     if (const auto ts = tables_.time(row, 0, kind))
                       open_ranges_.push_back({*ts, thread(row.integer(3)), std::string(text)});
                   } else if (is_one_of(kRanges)) {
                     if (const auto span = tables_.span(row, 0, 1, kind))
                       add_range(*span, text, thread(row.integer(3)));
                   } else {
                     sink_.skip(kind, SkipReason::kMetadata);  // names of categories, domains and threads
                   }
                 });
  }

  // They were open when the recording ended: at the latest end of what it has.
  void end_open_ranges() {
    for (const OpenRange& range : open_ranges_) {
      sink_.issue(IssueKind::kOpenRange, -1, range.text);
      add_range({range.ts, std::max<std::int64_t>(0, tables_.latest_end() - range.ts)}, range.text, range.track);
    }
  }

  void add_range(const TimeSpan& span, std::string_view text, std::uint32_t track) {
    const auto op = parse_nvtx_operator(text);
    if (!op || is_mark_among_operators(op->name)) {
      return sink_.add_annotation(span, op ? op->name : text, track);
    }
    auto record = record_of<OperatorRecord>(span, sink_.text(op->name), track);
    record.sequence_number = op->sequence_number.value_or(kUnknownValue);
    if (!op->sizes.empty()) record.shape = sink_.shape({std::string(op->sizes), {}, {}, {}});
    sink_.add(record);
  }

  void add_mark(const SourceRow& row, std::string_view text, RowSink::Kind kind) {
    if (const auto ts = tables_.time(row, 0, kind)) sink_.add_instant("nvtx", *ts, text, thread(row.integer(3)));
  }

  // After the device's work: these rows may all name one device, so that the context tells it. Which call recorded the
  // event that is waited for is not in them.
  void read_waits() {
    tables_.read_spans(
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        {{"start", "end", "deviceId", "streamId"}, {"syncType", "correlationId", "globalPid", "contextId"}},
        [&](const SourceRow& row, const TimeSpan& span) { add_wait(row, span); });
  }

  void add_wait(const SourceRow& row, const TimeSpan& span) {
    constexpr std::array<std::string_view, 5> kNames = {"Unknown", "Event Sync", "Stream Wait Event", "Stream Sync",
                                                        "Context Sync"};
    const std::int64_t type = row.id(4), number = row.integer(3), context = row.integer(7);
    const bool known = type > 0 && type < std::ssize(kNames);
    const TrackKey pid = process(row.integer(6));
    const Place* place = find_in(places_, {pid.number, context, number});
    if (place == nullptr) place = find_in(places_, {pid.number, context, kUnknownValue});
    const std::int64_t device = place != nullptr ? place->device : device_of(pid, row.integer(2));
    auto record = record_of<SliceRecord>(span, sink_.text(kNames[known ? static_cast<std::size_t>(type) : 0]),
                                         sink_.thread({device, {}}, {number, {}}));
    record.category = sink_.text("cuda_sync");
    record.is_sync = 1;
    record.sync_correlation = row.integer(5);
    if (place != nullptr) record.sync_stream = place->stream;
    sink_.add(record);
  }

  void read_os_calls() {
    tables_.read_spans("OSRT_API", {{"start", "end", "globalTid", "nameId"}, {}},
                       [&](const SourceRow& row, const TimeSpan& span) {
                         sink_.add_slice("osrt", span, strings_.of(row.id(3)), thread(row.integer(2)));
                       });
  }

  struct OpenRange {
    std::int64_t ts;
    std::uint32_t track;
    std::string text;
  };

  RowSink& sink_;
  TraceFacts& facts_;
  SourceTables& tables_;
  SourceTexts strings_;
  std::vector<OpenRange> open_ranges_;
  std::unordered_map<std::int64_t, std::string> process_names_;         // by pid
  std::unordered_map<std::int64_t, std::int64_t> thread_names_;         // by globalTid: string id
  std::unordered_map<std::int64_t, std::uint32_t> threads_;             // the same: number in the sink
  std::map<std::array<std::int64_t, 3>, Place> places_;                 // by pid, context and stream
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> gpus_;  // by pid and number of the device there
};

// The value after `key` up to the next comma; empty: none.
std::string_view value_of(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + key.size());
  return rest.substr(0, rest.find(','));
}

}  // namespace

bool is_nsys_database(const std::vector<std::string>& tables) {
  const bool has_texts = std::ranges::find(tables, "StringIds") != tables.end();
  return has_texts && std::ranges::any_of(tables, [](const std::string& name) {
           return name.starts_with("CUPTI_ACTIVITY_KIND_") || name.starts_with("TARGET_INFO_") || name == "NVTX_EVENTS";
         });
}

void read_nsys_database(SourceTables& tables, RowSink& sink, TraceFacts& facts) {
  NsysDatabase(tables, sink, facts).run();
}

std::optional<NvtxOperator> parse_nvtx_operator(std::string_view text) {
  constexpr std::string_view kSizes = ", sizes = ";
  const std::size_t sequence = text.find(", seq = ");
  const std::size_t id = text.find(", op_id = ");
  const std::size_t end = std::min(sequence, id);
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const std::string_view numbers = text.substr(end);
  NvtxOperator out{text.substr(0, end), parse_int64(value_of(numbers, ", seq = ")), {}};
  // Without its number, as older versions of PyTorch wrote it, it may be a range of the user: "decode, seq = 4096".
  const bool is_named_so =
      out.name.find("::") != std::string_view::npos || out.name.find("Backward") != std::string_view::npos;
  if (id == std::string_view::npos && (!is_named_so || !out.sequence_number)) return std::nullopt;
  if (id != std::string_view::npos && !parse_int64(value_of(numbers, ", op_id = "))) return std::nullopt;
  const std::size_t sizes = numbers.find(kSizes);
  if (sizes == std::string_view::npos) return out;
  const std::string_view rest = numbers.substr(sizes + kSizes.size());
  out.sizes = rest.substr(0, rest.rfind(']') + 1);  // other lists may follow: ", input_op_ids = [...]"
  if (const std::size_t next = rest.find("]], "); next != std::string_view::npos) out.sizes = rest.substr(0, next + 2);
  return out;
}

std::string_view without_api_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos || at == 0 || at + 2 == name.size()) return name;
  const std::string_view digits = name.substr(at + 2);
  const bool version = digits.find_first_not_of("0123456789") == std::string_view::npos && digits.size() >= 4;
  return version ? name.substr(0, at) : name;
}

}  // namespace tracedb
