// The facts of one event as fixed-size records: what parse workers produce, sorters spill and link passes read.
//
// Times are absolute nanoseconds as in the trace; kUnknownValue stands for "unknown" in every 64-bit field. `name`,
// `track` and the like are ids: local to a worker inside an EventBatch, global once the TraceStore took the batch. 0
// means none.
//
// The profiler's own numbers (correlation, external id, ...) have up to 64 bits, signed or not. Those that do not fit
// are wide: they are stored as kUnknownValue + the id of their text, so that equal numbers stay equal and others never
// become so.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/unknown.h"

namespace tracedb {

// Times and durations of this many ns (146 years) or more are rejected: sums and differences of two others always fit.
inline constexpr std::int64_t kTimeLimit = std::int64_t{1} << 62U;
inline bool is_time(std::int64_t ns) { return -kTimeLimit < ns && ns < kTimeLimit; }

inline bool is_wide(std::int64_t number) { return number < kLeastNumber && number != kUnknownValue; }
inline std::uint32_t wide_id(std::int64_t number) { return static_cast<std::uint32_t>(number - kUnknownValue); }

enum class PythonCalls : std::uint8_t { kOmit, kKeep };  // whether they are stored

struct PythonRecord {
  std::int64_t ts, dur;
  std::uint32_t python_id, parent_id;  // see below
  std::uint32_t name, track, args, unused;
};
// From here on wide: this plus the id of a text, for numbers that are negative or larger.
inline constexpr std::uint32_t kWidePythonId = 0x80000000;
inline constexpr std::uint32_t kNoPythonId = 0xFFFFFFFF;    // not given
inline constexpr std::uint32_t kRootPythonId = 0xFFFFFFFE;  // given as null: outermost frame

struct OperatorRecord {
  std::int64_t ts, dur, external_id, sequence_number;
  std::uint32_t name, track, shape, args;
  std::uint32_t is_forward;  // 1 where the trace says that it is the backward of no operator
  std::uint32_t stack;       // where its own is known: position + 1 in TraceStore::stacks; 0: its calls tell
};

struct CallRecord {
  std::int64_t ts, dur, correlation, external_id;
  std::uint32_t name, track, args, unused;
};

enum class DeviceEventType : std::uint32_t { kKernel, kMemcpy, kMemset };

struct DeviceRecord {
  std::int64_t ts, dur, correlation, external_id;
  std::int64_t graph_id_or_bytes;           // of a kernel its graph, of a memory operation its size
  std::int64_t graph_node_id_or_bandwidth;  // of a memory operation the bits of a double, in GB/s
  std::uint32_t name, stream, config, collective, args;
  DeviceEventType type;
};

struct AnnotationRecord {
  std::int64_t ts, dur, external_id;
  std::uint32_t name, track;         // track: thread id, or stream id where on_device
  std::uint16_t on_device, is_step;  // is_step: marks one whatever its name
  std::uint32_t args;
};

struct SliceRecord {
  std::int64_t ts, dur;
  std::uint32_t category, name, track, args;
  std::uint32_t end_args;     // of the end, where it is an event of its own
  std::uint32_t is_sync = 0;  // 1: a recorded synchronisation, which has the rest, as of table sync
  std::int64_t sync_correlation = kUnknownValue, wait_stream = kUnknownValue, wait_correlation = kUnknownValue;
  std::uint32_t sync_stream = 0;  // 0: the one whose track it is drawn on
};

// An event with a duration and no category whose arguments are those of a task or of its launch, as Ascend's profilers
// write them: what it is follows from the name of its process, known when all is read (ascend/tasks.h).
struct TaskRecord {
  std::int64_t ts, dur, connection, model, elements;
  std::uint32_t name, track, args;
  std::uint32_t type, data_type;  // string ids; 0: none
  std::uint32_t peer;             // rank at the other end + 1; 0: none
};

struct InstantRecord {
  std::int64_t ts, bytes;
  std::uint32_t category, name, track, args;
  // Of an allocation or a free; device_type: a number of c10.
  std::int64_t address, device_type, device_id, total_allocated, total_reserved;
};

struct CounterRecord {
  std::int64_t ts;
  double value;
  std::uint32_t category, name, track, series;
  std::uint32_t continued, args;  // continued: not the first series of its event
};

// kText: but not hexadecimal ("0x1f") or decimal text that the number reproduces.
enum class EventIdType : std::uint8_t { kNone, kInteger, kNegative, kHex, kText };

// What binds flows and asynchronous slices together.
struct EventId {
  std::uint64_t number = 0;  // a negative one as its two's complement; of text its string id
  EventIdType type = EventIdType::kNone;
};

// Device work that one thread launches for another: where it was asked for.
struct HandoffRecord {
  std::int64_t ts;        // of the device event
  std::int64_t asked_ts;  // when the thread asked
  std::uint32_t stream, track;
};

struct FlowRecord {
  EventId id;
  std::int64_t ts;
  std::uint32_t category, name, track, args;
  char ph;
};

// B E; b e; S F; B E of events of tiles, which do not nest.
enum class PairKind : std::uint8_t { kThread, kNested, kNamed, kTile };

// One end of a slice given as two events.
struct SliceEndpointRecord {
  EventId id;  // of kThread the thread, of kTile the process
  std::int64_t ts;
  std::uint32_t category, name, track, args;  // name: 0 if an end has none
  std::uint32_t scope;                        // 0: none
  PairKind kind;
  char ph;
  std::uint8_t is_end;
};

static_assert(std::is_trivially_copyable_v<DeviceRecord> && sizeof(PythonRecord) == 40 && sizeof(DeviceRecord) == 72);

// A record of which no more is known than this; `track`: of a device event its stream. Its other numbers are unknown.
template <class Record>
Record record_of(std::int64_t ts, std::int64_t dur, std::uint32_t name, std::uint32_t track) {
  Record record{};
  record.ts = ts;
  record.name = name;
  if constexpr (requires { record.dur; }) record.dur = dur;
  if constexpr (requires { record.stream; }) {
    record.stream = track;
    record.graph_id_or_bytes = record.graph_node_id_or_bandwidth = kUnknownValue;
  } else {
    record.track = track;
  }
  if constexpr (requires { record.correlation; }) record.correlation = kUnknownValue;
  if constexpr (requires { record.external_id; }) record.external_id = kUnknownValue;
  if constexpr (requires { record.sequence_number; }) record.sequence_number = kUnknownValue;
  if constexpr (requires { record.bytes; }) record.bytes = kUnknownValue;
  if constexpr (requires { record.device_type; }) {
    record.address = record.device_type = record.device_id = kUnknownValue;
    record.total_allocated = record.total_reserved = kUnknownValue;
  }
  return record;
}

// end of [ts, ts+dur), with an unknown length taken as empty
inline std::int64_t end_of(std::int64_t ts, std::int64_t dur) { return dur == kUnknownValue ? ts : ts + dur; }

}  // namespace tracedb
