#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/lookup.h"
#include "base/text/decimal.h"
#include "base/text/json_text.h"
#include "base/unknown.h"
#include "ingest/rocm/readers.h"
#include "ingest/rocm/rocprof_records.h"

namespace tracedb {
namespace {

// A number among the members of an object; kUnknownValue where there is none.
std::int64_t member_number(std::string_view object, std::string_view key) {
  return parse_int64(json_member(object, key)).value_or(kUnknownValue);
}

// The tables of one process.
class RocpdProcess {
 public:
  RocpdProcess(SourceTables& tables, std::string suffix, RowSink& sink)
      : sink_(sink), tables_(tables), suffix_(std::move(suffix)) {}

  void run() {
    strings_ = tables_.texts(table("rocpd_string"), "id", "string");
    look_up("rocpd_metadata", {{"tag", "value"}, {}}, [&](const SourceRow& row) { tables_.add_header(row); });
    describe();
    kernel_names_ = tables_.texts(table("rocpd_info_kernel_symbol"), "id", "display_name|kernel_name");
    read_events();
    read_kernels();
    read_copies();
    read_regions();
    read_samples();
    read_allocations();
  }

 private:
  struct Event {
    std::int64_t stack = kUnknownValue, category = kUnknownValue;
  };

  [[nodiscard]] std::string table(std::string_view name) const { return std::string(name) + suffix_; }
  void look_up(std::string_view name, const SourceDatabase::Columns& columns, const SourceTables::Visit& visit) {
    tables_.look_up(table(name), columns, visit);
  }
  void read(std::string_view name, const SourceDatabase::Columns& columns,
            const std::function<void(const SourceRow&, const TimeSpan&)>& visit) {
    tables_.read_spans(name, columns, visit, suffix_);
  }

  void describe() {
    look_up("rocpd_info_process", {{"id", "pid"}, {"command"}}, [&](const SourceRow& row) {
      pids_[row.id(0)] = row.integer(1);
      const std::string_view command = row[2].text();
      if (!command.empty()) sink_.name_process({row.integer(1), {}}, command.substr(0, command.find(' ')));
    });
    look_up("rocpd_info_thread", {{"id", "tid"}, {"name"}}, [&](const SourceRow& row) {
      tids_[row.id(0)] = row.integer(1);
      thread_names_[row.id(0)] = row[2].text();
    });
    std::string devices;
    look_up("rocpd_info_agent", {{"id", "type"}, {"type_index", "name", "product_name", "extdata"}},
            [&](const SourceRow& row) {
              if (row[1].text() != "GPU" || devices.size() > kLargestHeader) return;
              const std::int64_t number = row.id(2) == kUnknownValue ? row.id(0) : row.id(2);
              devices_[row.id(0)] = number;
              const std::string_view product = row[4].text();
              const std::string_view more = row[5].text();
              append_rocprof_device(number, product.empty() ? row[3].text() : product, member_number(more, "cu_count"),
                                    member_number(more, "wave_front_size"), devices);
            });
    if (!devices.empty()) tables_.add_header("deviceProperties", "[" + devices + "]");
  }

  void read_events() {
    look_up("rocpd_event", {{"id", "stack_id"}, {"category_id", "extdata"}}, [&](const SourceRow& row) {
      if (row.id(0) == kUnknownValue) return;
      events_.try_emplace(row.id(0), Event{row.id(1), row.id(2)});
      const std::string_view message = json_member(row[3].text(), "message");
      if (!message.empty()) messages_[row.id(0)] = unescape(raw_string(message)).text;
    });
  }

  void read_kernels() {
    read("rocpd_kernel_dispatch",
         {{"start", "end", "agent_id", "kernel_id"},
          {"pid", "queue_id", "stream_id", "event_id", "group_segment_size", "grid_size_x", "grid_size_y",
           "grid_size_z", "workgroup_size_x", "workgroup_size_y", "workgroup_size_z"}},
         [&](const SourceRow& row, const TimeSpan& span) {
           RocprofKernel kernel{.span = span, .place = place(row, 2, 4), .name = kernel_names_.of(row.id(3))};
           if (kernel.name.empty()) sink_.issue(IssueKind::kMissingName, -1, row[3].text());
           kernel.shared_memory = row.integer(8);
           for (std::size_t i = 0; i < 3; ++i) {
             kernel.items[i] = row.integer(9 + i);
             kernel.group[i] = row.integer(12 + i);
           }
           add_rocprof_kernel(kernel, sink_);
         });
  }

  void read_copies() {
    read("rocpd_memory_copy",
         {{"start", "end", "name_id"},
          {"pid", "queue_id", "stream_id", "event_id", "size", "dst_agent_id", "src_agent_id"}},
         [&](const SourceRow& row, const TimeSpan& span) {
           RocprofCopy copy{.span = span, .place = place(row, devices_.contains(row.id(8)) ? 8 : 9, 3)};
           copy.operation = strings_.of(row.id(2));
           copy.bytes = row.integer(7);
           add_rocprof_copy(copy, sink_);
         });
  }

  void read_regions() {
    read("rocpd_region", {{"start", "end", "pid", "tid", "name_id"}, {"event_id"}},
         [&](const SourceRow& row, const TimeSpan& span) {
           RocprofRegion region{.span = span, .thread = thread(row, 2)};
           region.operation = strings_.of(row.id(4));
           add_region(region, row.id(5));
         });
  }

  void add_region(RocprofRegion& region, std::int64_t id) {
    if (const Event* event = find_in(events_, id)) {
      region.domain = strings_.of(event->category);
      region.correlation = event->stack;
    }
    if (const std::string* message = find_in(messages_, id)) region.message = *message;
    add_rocprof_region(region, sink_);
  }

  void read_samples() {
    look_up("rocpd_track", {{"id"}, {"pid", "tid", "name_id"}}, [&](const SourceRow& row) {
      tracks_[row.id(0)] = {thread(row, 1), row.id(3)};
    });
    const RowSink::Kind kind = sink_.kind("rocpd_sample");
    tables_.read(table("rocpd_sample"), kind, {{"timestamp", "track_id"}, {"event_id"}}, [&](const SourceRow& row) {
      const auto ts = tables_.time(row, 0, kind);
      if (!ts) return;
      const Track track = tracks_[row.id(1)];
      const std::string* message = find_in(messages_, row.id(2));
      const std::string_view name = message == nullptr ? strings_.of(track.name) : *message;
      const Event* event = find_in(events_, row.id(2));
      const std::string_view domain = event == nullptr ? "" : strings_.of(event->category);
      sink_.add_instant(domain.starts_with("MARKER_") ? "roctx" : domain, *ts, name, track.thread);
    });
  }

  void read_allocations() {
    read("rocpd_memory_allocate", {{"start", "end", "pid", "tid"}, {"type"}},
         [&](const SourceRow& row, const TimeSpan& span) {
           sink_.add_slice("MEMORY_ALLOCATION", span, row[4].text(), thread(row, 2));
         });
  }

  // `agent`: the column of the device; `first`: those of process, queue, stream and event.
  RocprofPlace place(const SourceRow& row, std::size_t agent, std::size_t first) {
    RocprofPlace place{
        .stream = row.integer(first + 2), .queue = row.integer(first + 1), .process = process(row, first)};
    if (const auto* device = find_in(devices_, row.id(agent))) place.device = *device;
    if (const Event* event = find_in(events_, row.id(first + 3))) place.correlation = event->stack;
    return place;
  }

  TrackKey process(const SourceRow& row, std::size_t column) {
    const auto* pid = find_in(pids_, row.id(column));
    return {pid == nullptr ? row.integer(column) : *pid, {}};
  }

  // `column`: of the process; that of the thread follows it.
  std::uint32_t thread(const SourceRow& row, std::size_t column) {
    const TrackKey process = this->process(row, column);
    const auto* tid = find_in(tids_, row.id(column + 1));
    const TrackKey number{tid == nullptr ? row.integer(column + 1) : *tid, {}};
    std::string* name = find_in(thread_names_, row.id(column + 1));
    if (name != nullptr && !name->empty()) sink_.name_thread(process, number, std::exchange(*name, {}));
    return sink_.thread(process, number);
  }

  struct Track {
    std::uint32_t thread = 0;
    std::int64_t name = kUnknownValue;
  };

  RowSink& sink_;
  SourceTables& tables_;
  std::string suffix_;  // of the names of the tables
  SourceTexts strings_, kernel_names_;
  std::unordered_map<std::int64_t, std::int64_t> pids_, tids_, devices_;  // by id in the database
  std::unordered_map<std::int64_t, std::string> thread_names_;            // the same; those not yet given
  std::unordered_map<std::int64_t, Event> events_;
  std::unordered_map<std::int64_t, std::string> messages_;  // by event
  std::unordered_map<std::int64_t, Track> tracks_;
};

std::vector<std::string> suffixes(const std::vector<std::string>& tables) {
  constexpr std::array<std::string_view, 4> kTables = {"rocpd_info_process", "rocpd_kernel_dispatch", "rocpd_region",
                                                       "rocpd_memory_copy"};
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const std::string& table : tables) {
    for (const std::string_view name : kTables) {
      if (!table.starts_with(name)) continue;
      const std::string suffix = table.substr(name.size());
      if (seen.insert(suffix).second) out.push_back(suffix);
    }
  }
  return out;
}

class RpdDatabase {
 public:
  RpdDatabase(SourceTables& tables, RowSink& sink, TraceFacts& facts) : sink_(sink), facts_(facts), tables_(tables) {}

  void run() {
    strings_ = tables_.texts("rocpd_string", "id", "string");
    tables_.look_up("rocpd_metadata", {{"tag", "value"}, {}}, [&](const SourceRow& row) { tables_.add_header(row); });
    read_launches();
    read_operations();
    read_calls();
    read_monitor();
    facts_.vendor = "amd";
  }

 private:
  // Facts about a call, which its operation gets through rocpd_api_ops.
  void read_launches() {
    tables_.look_up("rocpd_api_ops", {{"api_id", "op_id"}, {}}, [&](const SourceRow& row) {
      if (row.id(1) != kUnknownValue) call_of_.try_emplace(row.id(1), row.id(0));
    });
    tables_.look_up(
        "rocpd_kernelapi",
        {{"api_ptr_id"}, {"gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ", "groupSegmentSize"}},
        [&](const SourceRow& row) {
          LaunchConfig config = unknown_launch_config();
          for (std::size_t i = 0; i < 6; ++i) config.values[i] = row.id(1 + i);
          config.values[7] = row.id(7);
          if (row.id(0) != kUnknownValue) config_of_.try_emplace(row.id(0), sink_.config(config));
        });
    tables_.look_up("rocpd_copyapi", {{"api_ptr_id", "size"}, {}}, [&](const SourceRow& row) {
      if (row.id(0) != kUnknownValue) bytes_of_.try_emplace(row.id(0), row.id(1));
    });
  }

  void read_operations() {
    tables_.read_spans("rocpd_op", {{"start", "end", "id", "gpuId", "queueId", "description_id", "opType_id"}, {}},
                       [&](const SourceRow& row, const TimeSpan& span) { add_operation(row, span); });
  }

  void add_operation(const SourceRow& row, const TimeSpan& span) {
    const TrackKey device{row.integer(3), {}};
    const TrackKey queue{row.integer(4), {}};
    const std::string_view type = strings_.of(row.id(6));
    const std::string_view described = strings_.of(row.id(5));
    const std::string_view name = described.empty() ? type : described;
    if (type.starts_with("Barrier")) return sink_.add_slice("rocpd_op", span, type, sink_.thread(device, queue));
    auto record = record_of<DeviceRecord>(span, sink_.text(name), sink_.stream(device, queue));
    if (type.starts_with("Copy")) record.type = DeviceEventType::kMemcpy;
    if (type.starts_with("Fill")) record.type = DeviceEventType::kMemset;
    if (const auto* call = find_in(call_of_, row.id(2))) record.correlation = *call;
    if (record.type == DeviceEventType::kKernel) {
      if (const auto* config = find_in(config_of_, record.correlation)) record.config = *config;
    } else {
      if (const auto* bytes = find_in(bytes_of_, record.correlation)) record.graph_id_or_bytes = *bytes;
      record.config = sink_.text(type);  // tells the direction
    }
    sink_.add(record);
  }

  void read_calls() {
    tables_.read_spans("rocpd_api", {{"start", "end", "pid", "tid", "id", "apiName_id"}, {"args_id"}},
                       [&](const SourceRow& row, const TimeSpan& span) {
                         const std::uint32_t thread = sink_.thread({row.integer(2), {}}, {row.integer(3), {}});
                         const std::string_view name = strings_.of(row.id(5));
                         if (name == "UserMarker") return sink_.add_annotation(span, strings_.of(row.id(6)), thread);
                         sink_.add_call(span, name, thread, row.integer(4));
                       });
  }

  void read_monitor() {
    const RowSink::Kind kind = sink_.kind("rocpd_monitor", "C");
    tables_.read("rocpd_monitor", kind, {{"start", "deviceId", "monitorType", "value"}, {"deviceType"}},
                 [&](const SourceRow& row) {
                   const auto ts = tables_.time(row, 0, kind);
                   if (!ts) return;
                   const std::uint32_t category = sink_.text("rocpd_monitor");
                   auto record = record_of<CounterRecord>({*ts, 0}, sink_.text(row[2].text()),
                                                          sink_.thread({row.integer(1), {}}, {}));
                   record.value = parse_double(row[3].text()).value_or(std::numeric_limits<double>::quiet_NaN());
                   record.category = category;
                   record.series = sink_.text(row[4].text());
                   sink_.add(record);
                 });
  }

  RowSink& sink_;
  TraceFacts& facts_;
  SourceTables& tables_;
  SourceTexts strings_;
  std::unordered_map<std::int64_t, std::int64_t> call_of_;     // by operation
  std::unordered_map<std::int64_t, std::uint32_t> config_of_;  // by call
  std::unordered_map<std::int64_t, std::int64_t> bytes_of_;    // by call
};

}  // namespace

bool is_rocpd_database(const std::vector<std::string>& tables) {
  return std::ranges::any_of(tables, [](const std::string& name) { return name.starts_with("rocpd_info_"); });
}

void read_rocpd_database(SourceTables& tables, RowSink& sink, TraceFacts& facts) {
  for (const std::string& suffix : suffixes(tables.names())) RocpdProcess(tables, suffix, sink).run();
  facts.vendor = "amd";
}

bool is_rpd_database(const std::vector<std::string>& tables) {
  const auto has = [&](std::string_view name) { return std::ranges::find(tables, name) != tables.end(); };
  return has("rocpd_string") && (has("rocpd_op") || has("rocpd_api"));
}

void read_rpd_database(SourceTables& tables, RowSink& sink, TraceFacts& facts) {
  RpdDatabase(tables, sink, facts).run();
}

}  // namespace tracedb
