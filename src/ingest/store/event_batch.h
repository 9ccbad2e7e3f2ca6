// The records of one chunk of the trace. Ids in the records are local to the worker that filled the batch; every id a
// worker uses for the first time travels with the batch as a definition, so the store can give it its global number in
// file order, whatever the number of workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/dense_index.h"
#include "base/stream/content_hash.h"
#include "base/unknown.h"
#include "ingest/store/records.h"
#include "trace/issue.h"

namespace tracedb {

// A pid, tid, device or stream as in the trace: a number, or other text.
struct TrackKey {
  std::int64_t number = kUnknownValue;  // kUnknownValue: text
  std::string text;                     // empty: unknown
  friend bool operator==(const TrackKey&, const TrackKey&) = default;
};

// A thread (process, tid) or a stream (device, number).
struct TrackDefinition {
  TrackKey owner;
  TrackKey track;
};

// A stream, and the track that its events are drawn on, which flows refer to: often, but not always, device and number.
struct StreamDefinition {
  TrackDefinition stream, drawn_on;
  TrackKey process = {};  // whose stream it is, where the trace says so
};

// What profilers of tasks (Ascend) say of a kernel beyond its name, as ids of texts; 0: they do not say.
struct TaskInfo {
  std::uint32_t name = 0, core = 0, state = 0;
  std::uint32_t input_shapes = 0, input_types = 0, input_formats = 0;
  std::uint32_t output_shapes = 0, output_types = 0, output_formats = 0;
  std::uint32_t mix_blocks = 0;  // decimal
  friend bool operator==(const TaskInfo&, const TaskInfo&) = default;
};

struct LaunchConfig {
  std::int64_t values[8];  // grid xyz, block xyz, registers, shared memory; kUnknownValue: unknown
  double rates[4];         // achieved and theoretical occupancy %, blocks per SM, warps per SM; NaN: unknown
  TaskInfo task = {};
};
static_assert(sizeof(LaunchConfig) == 12 * 8 + 10 * 4);  // compared by its bytes

struct ShapeDefinition {
  std::string dims, types, strides, concrete_inputs, detail = {};  // JSON text; empty: absent
};

struct CollectiveRecord {
  std::uint32_t name = 0, group_name = 0, group_description = 0, ranks = 0, dtype = 0, comms_id = 0;  // string ids
  std::uint32_t in_splits = 0, out_splits = 0;
  std::int64_t group_size = kUnknownValue, in_elements = kUnknownValue, out_elements = kUnknownValue;
  std::int64_t sequence = kUnknownValue, source_rank = kUnknownValue, destination_rank = kUnknownValue;
};

// Metadata ("M") events: names and order of processes and threads.
enum class MetadataKind : std::uint8_t {
  kProcessName,
  kProcessLabels,
  kProcessSortIndex,
  kThreadName,
  kThreadSortIndex,
};
struct MetadataRecord {
  MetadataKind kind;
  TrackKey pid, tid;
  std::string text;
  std::int64_t number = kUnknownValue;
};

enum class SkipReason : std::uint8_t {
  kNone,
  kMatchedFlow,
  kMetadata,
  kEndOfSlice,
  kEndWithoutBegin,
  kNotAnObject,
  kMalformed,
  kNoTimestamp,
  kUnsupportedPhase,
  kOption,
  kOversized,
  kNotRead,
  kCount
};

// Events of one category and phase.
struct EventCount {
  std::uint32_t category = 0;  // string id; 0: the event has none
  std::string ph;
  std::uint64_t read = 0;
  std::uint64_t skipped[static_cast<std::size_t>(SkipReason::kCount)] = {};
};

struct EventBatch {
  unsigned worker = 0;
  std::vector<std::string> strings;  // definitions, in order of local ids
  std::vector<std::string> numbers;  // wide ones, in decimal
  std::vector<std::string> scopes;   // keys of what ids are unique in
  std::vector<TrackDefinition> threads;
  std::vector<StreamDefinition> streams;
  std::vector<LaunchConfig> configs;
  std::vector<ShapeDefinition> shapes;
  std::vector<std::vector<std::uint32_t>> stacks;  // of operators: ids of the frames' names, outermost first

  std::vector<PythonRecord> python;
  std::vector<OperatorRecord> operators;
  std::vector<CallRecord> calls;
  std::vector<DeviceRecord> device_events;
  std::vector<CollectiveRecord> collectives;  // DeviceRecord::collective counts from 1 within the batch
  std::vector<AnnotationRecord> annotations;
  std::vector<SliceRecord> slices;
  std::vector<TaskRecord> tasks;
  std::vector<InstantRecord> instants;
  std::vector<CounterRecord> counters;
  std::vector<FlowRecord> flows;
  std::vector<HandoffRecord> handoffs;
  std::vector<SliceEndpointRecord> endpoints;
  std::vector<MetadataRecord> metadata;
  std::vector<std::string> args;  // with keep_args: JSON text; `args` of a record counts from 1 within the batch

  std::vector<EventCount> kinds;
  std::int64_t first_ts = kUnknownValue;  // smallest timestamp of a timed event
  std::uint64_t end = 0;                  // position in the trace behind what the batch was made of
  IssueLog issues;

  void clear() {
    const auto clear_all = [](auto&... lists) { (lists.clear(), ...); };
    clear_all(strings, numbers, scopes, threads, streams, configs, shapes, stacks);
    clear_all(python, operators, calls, device_events, collectives, annotations, slices, tasks, instants, counters);
    clear_all(handoffs, flows, endpoints, metadata, args, kinds, issues);
    first_ts = kUnknownValue;
  }
};

// Small integers for repeated byte strings, numbered from 1 in order of first appearance. Bytes are compared, not only
// their hashes. One thread.
class Interner {
 public:
  struct Entry {
    std::uint32_t id;
    bool is_new;
  };

  Entry intern(std::string_view bytes) {
    const auto [index, is_new] =
        index_.index_of(hash64(bytes), [&](std::uint32_t known) { return texts_[known] == bytes; });
    if (is_new) texts_.emplace_back(bytes);
    return {index + 1, is_new};
  }
  // Its number; on_new() is called for bytes that are new.
  template <class OnNew>
  std::uint32_t id_of(std::string_view bytes, OnNew on_new) {
    const Entry entry = intern(bytes);
    if (entry.is_new) on_new();
    return entry.id;
  }
  // The newest number; it will be given again.
  void forget_last() {
    index_.forget_last(hash64(texts_.back()));
    texts_.pop_back();
  }
  [[nodiscard]] std::string_view text(std::uint32_t id) const { return texts_[id - 1]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  DenseIndex index_;
  std::deque<std::string> texts_;
};

}  // namespace tracedb
