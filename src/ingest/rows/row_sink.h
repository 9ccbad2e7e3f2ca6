// Receives the rows of tables (CSV files, databases): gives ids to texts, tracks and configurations, counts the rows
// read and skipped, and passes batches on to the TraceStore. Formats with JSON events use KinetoEvents instead.
//
// Every row that is read is counted under its table's name (Kind) and then either added as one record or skipped with a
// reason, so that read = stored + skipped. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unknown.h"
#include "ingest/store/event_batch.h"
#include "ingest/store/trace_store.h"

namespace tracedb {

// When something happened, as in records.h.
struct TimeSpan {
  std::int64_t ts = 0, dur = kUnknownValue;
};

template <class Record>
Record record_of(const TimeSpan& span, std::uint32_t name, std::uint32_t track) {
  return record_of<Record>(span.ts, span.dur, name, track);
}

class RowSink {
 public:
  using Kind = std::size_t;

  // `on_batch` is called with the number of rows read so far, now and then; it may throw to end the reading.
  RowSink(TraceStore& store, PythonCalls python_calls, std::function<void(std::uint64_t)> on_batch);

  // Rows of one table; the name becomes event_count.category.
  // `ph`: the Chrome phase letter where it matters: C of counters, s and f of flows.
  Kind kind(std::string_view table, std::string_view ph = {});
  void read(Kind kind, std::uint64_t rows = 1);
  void skip(Kind kind, SkipReason reason, std::uint64_t rows = 1);
  // `offset`: of the row in the trace; -1 where it has none.
  void issue(IssueKind kind, std::int64_t offset, std::string_view sample, std::uint64_t count = 1) {
    batch_.issues.add(kind, offset, sample, count);
  }

  // Numbers of this sink, from 1. Text that is no UTF-8 or holds NUL is made storable, with an issue each time.
  std::uint32_t text(std::string_view text, std::int64_t offset = -1);
  std::uint32_t thread(const TrackKey& pid, const TrackKey& tid);
  // A stream is drawn on a track of its own: flows may end there. `process`: whose it is, where the trace says so; only
  // calls of that process launch its events.
  std::uint32_t stream(const TrackKey& device, const TrackKey& number, const TrackKey& process = {});
  // `key`: bytes that are equal exactly for equal configurations; `make` is asked for those that are new.
  template <class Make>
  std::uint32_t config(std::string_view key, Make make) {
    return configs_.id_of(key, [&] { batch_.configs.push_back(make()); });
  }
  std::uint32_t config(const LaunchConfig& config);
  std::uint32_t shape(const ShapeDefinition& shape);
  // A call path of an operator itself, for OperatorRecord::stack: ids of the frames' names, outermost first. 0: none.
  std::uint32_t stack(const std::vector<std::uint32_t>& frames);
  // For DeviceRecord::collective of the next record.
  std::uint32_t collective(const CollectiveRecord& record);

  // ts and dur as in records.h; ids are those of this sink.
  void add(const DeviceRecord& record) { push(batch_.device_events, record); }
  void add(const CallRecord& record) { push(batch_.calls, record); }
  void add(const OperatorRecord& record) { push(batch_.operators, record); }
  void add(const PythonRecord& record) { push(batch_.python, record); }
  void add(const AnnotationRecord& record) { push(batch_.annotations, record); }
  void add(const SliceRecord& record) { push(batch_.slices, record); }
  void add(const InstantRecord& record) { push(batch_.instants, record); }
  void add(const CounterRecord& record) { push(batch_.counters, record); }
  void add(const FlowRecord& record) { push(batch_.flows, record); }
  void add_handoff(const HandoffRecord& record) { push(batch_.handoffs, record); }
  // Records of which no more is known. `track`: of thread() or stream().
  void add_call(const TimeSpan& span, std::string_view name, std::uint32_t track, std::int64_t correlation);
  void add_annotation(const TimeSpan& span, std::string_view name, std::uint32_t track);
  // Of no number. Skips the row, which is one of `kind`, where such calls are left out.
  void add_python_call(Kind kind, const TimeSpan& span, std::string_view name, std::uint32_t track);
  // `name`: before its number.
  void add_device_step(const TimeSpan& span, std::string_view name, std::int64_t number, std::uint32_t stream);
  void add_slice(std::string_view category, const TimeSpan& span, std::string_view name, std::uint32_t track);
  void add_instant(std::string_view category, std::int64_t ts, std::string_view name, std::uint32_t track);
  // Text as it is stored: what is no UTF-8, and NUL, is U+FFFD, with an issue.
  std::string storable(std::string_view text, std::int64_t offset = -1);
  // See TraceStore.
  void find_operators_by_flow() { store_.operators_by_flow = true; }
  void find_operators_by_external_id() { store_.operators_by_external_id = true; }
  void count_derived(std::uint64_t rows) { store_.derived_rows += rows; }
  [[nodiscard]] std::filesystem::path spool_directory() const { return store_.spool(1).directory; }
  void name_process(const TrackKey& pid, std::string_view name);
  void name_thread(const TrackKey& pid, const TrackKey& tid, std::string_view name);

  // After the last row: hands over what is left, and finishes the store.
  void finish() {
    flush();
    store_.finish();
  }

 private:
  static constexpr std::size_t kBatchRecords = 4096;

  template <class Record>
  void push(std::vector<Record>& records, const Record& record) {
    if (batch_.first_ts == kUnknownValue || record.ts < batch_.first_ts) batch_.first_ts = record.ts;
    records.push_back(record);
    if (++records_ == kBatchRecords) flush();
  }
  [[nodiscard]] bool has_room(std::string_view text);
  void flush();

  TraceStore& store_;
  PythonCalls python_calls_;
  std::function<void(std::uint64_t)> on_batch_;
  EventBatch batch_;
  std::size_t records_ = 0;  // in batch_
  std::uint64_t rows_ = 0;   // read
  std::vector<EventCount> kinds_;
  Interner texts_, threads_, streams_, configs_, shapes_, paths_;
  std::vector<bool> replaced_;  // by text: it was not storable as it is
  std::string key_;             // scratch
  // Names of threads and shapes refer to texts that others have, too: what they may take together.
  std::size_t room_ = std::size_t{32} << 20U;
};

// One of which nothing is known yet.
LaunchConfig unknown_launch_config();

}  // namespace tracedb
