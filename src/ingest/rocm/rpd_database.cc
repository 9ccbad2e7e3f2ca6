#include "ingest/rocm/rpd_database.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/text/decimal.h"
#include "base/unknown.h"
#include "ingest/rows/source_rows.h"

namespace tracedb {
namespace {

class RpdDatabase {
 public:
  RpdDatabase(SourceDatabase& database, RowSink& sink, TraceFacts& facts)
      : sink_(sink), facts_(facts), tables_(database, sink, facts) {}

  void run() {
    strings_ = tables_.texts("rocpd_string", "id", "string");
    tables_.look_up("rocpd_metadata", {{"tag", "value"}, {}}, [&](const SourceRow& row) { tables_.add_header(row); });
    read_launches();
    read_operations();
    read_calls();
    read_monitor();
    tables_.add_header("tables_not_read", tables_.not_read());
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
    const auto call = call_of_.find(row.id(2));
    if (call != call_of_.end()) record.correlation = call->second;
    if (record.type == DeviceEventType::kKernel) {
      const auto config = config_of_.find(record.correlation);
      if (config != config_of_.end()) record.config = config->second;
    } else {
      const auto bytes = bytes_of_.find(record.correlation);
      if (bytes != bytes_of_.end()) record.graph_id_or_bytes = bytes->second;
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
  SourceTables tables_;
  SourceTexts strings_;
  std::unordered_map<std::int64_t, std::int64_t> call_of_;     // by operation
  std::unordered_map<std::int64_t, std::uint32_t> config_of_;  // by call
  std::unordered_map<std::int64_t, std::int64_t> bytes_of_;    // by call
};

}  // namespace

bool is_rpd_database(const std::vector<std::string>& tables) {
  const auto has = [&](std::string_view name) { return std::find(tables.begin(), tables.end(), name) != tables.end(); };
  return has("rocpd_string") && (has("rocpd_op") || has("rocpd_api"));
}

void read_rpd_database(const std::filesystem::path& file, const std::atomic<bool>* cancel, RowSink& sink,
                       TraceFacts& facts) {
  SourceDatabase database(file, cancel);
  RpdDatabase(database, sink, facts).run();
}

}  // namespace tracedb
