// Kineto events (PyTorch profiler, Chrome trace format) to records. Knows the categories and arguments of the old and
// the new dialect; a category it does not know becomes a slice, never an error.
//
// One object per parse worker: it holds the worker's local ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "ingest/kineto/event_fields.h"
#include "ingest/kineto/local_ids.h"
#include "ingest/store/event_batch.h"

namespace tracedb {

enum class EventArguments : std::uint8_t { kOmit, kKeep };

struct EventOptions {
  PythonCalls python_calls = PythonCalls::kKeep;     // python_function events
  EventArguments arguments = EventArguments::kOmit;  // the JSON text of every event's args
  Clock clock = Clock::kMicroseconds;                // kCycles: a trace of tiles, whose B and E do not nest
};

class KinetoEvents {
 public:
  KinetoEvents(unsigned worker, const EventOptions& options) : worker_(worker), options_(options) {}

  // Appends what the event says to `batch`. `offset` is where it starts in the trace.
  void add(const EventFields& event, std::int64_t offset, EventBatch& batch);
  // Counts an array element that is no event.
  void skip(SkipReason reason, EventBatch& batch);
  void begin(EventBatch& batch);  // call before the first add() to a cleared batch

 private:
  struct Event;  // the one at hand

  // What records of all kinds have.
  template <class Record>
  Record common(const Event& event, std::uint32_t name, std::uint32_t track);
  template <class Record>
  Record common(const Event& event);

  void add_timed(Event& event);
  void add_slice_event(Event& event);
  void add_device_event(Event& event, DeviceEventType type);
  void add_mtia(Event& event);
  void add_operator(Event& event);
  void add_python(Event& event);
  void add_annotation(Event& event, std::uint32_t name);
  void add_gpu_annotation(Event& event);
  void add_other(Event& event);
  void add_task(Event& event);
  static void add_edges(const SliceRecord& slice, EventBatch& batch);  // which may be marks of a kernel of a tile
  void add_endpoint(Event& event);
  void add_instant(Event& event);
  void add_counter(Event& event);
  void add_flow(Event& event);
  static void add_metadata(Event& event);

  EventCount& event_count(std::uint32_t category, std::string_view ph, EventBatch& batch);
  std::uint32_t category_id(const RawEvent& event);
  std::uint32_t name_id(const Event& event);
  std::uint32_t text_id(EventField field, const Event& event);
  std::uint32_t value_text_id(std::string_view token, const Event& event);
  std::uint32_t collective_index(const Event& event);
  std::uint32_t args_index(const Event& event) const;

  unsigned worker_;
  EventOptions options_;
  LocalIds ids_;
  // Positions of kinds in the batch: the last one looked up, and those after the first few.
  static constexpr std::size_t kFirstKinds = 64;
  std::size_t last_kind_ = 0;
  std::map<std::pair<std::uint32_t, std::string>, std::size_t> later_kinds_;
};

}  // namespace tracedb
