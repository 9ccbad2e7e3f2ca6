// Kineto events (PyTorch profiler, Chrome trace format) to records. Knows the categories and arguments of the old and
// the new dialect; a category it does not know becomes a slice, never an error.
//
// One object per parse worker: it holds the worker's local ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/event_batch.h"
#include "ingest/event_fields.h"
#include "ingest/interner.h"

namespace tracedb {

enum class Keep : std::uint8_t { kNo, kYes };

struct EventOptions {
  Keep stacks = Keep::kYes;  // python_function events
  Keep args = Keep::kNo;     // the JSON text of every event's args
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
  enum class Category : std::uint8_t {
    kKernel, kMemcpy, kMemset, kOperator, kCall, kPython, kAnnotation, kGpuAnnotation, kOther
  };
  struct Context;  // the event at hand

  static Category category_of(std::string_view name);

  void add_timed(Context& context);
  void add_slice_event(Context& context);
  void add_kernel_or_copy(Context& context, DeviceEventType type);
  void add_operator(Context& context);
  void add_call(Context& context);
  void add_python(Context& context);
  void add_annotation(Context& context, bool on_device);
  void add_other(Context& context);
  void add_edge(Context& context);
  void add_instant(Context& context);
  void add_counter(Context& context);
  void add_flow(Context& context);
  void add_metadata(Context& context);

  KindCount& kind_count(std::uint32_t category, std::string_view ph, EventBatch& batch);
  std::uint32_t strings_id(std::string_view raw, Context& context);   // raw: still escaped, no quotes
  std::uint32_t string_id(std::string_view token, Context& context);  // token: as it stands in the trace
  std::uint32_t name_id(Context& context);
  std::uint32_t thread_id(Context& context);
  std::uint32_t stream_id(Context& context);
  std::uint32_t config_id(Context& context);
  std::uint32_t shape_id(Context& context);
  std::uint32_t collective_index(Context& context);
  std::uint32_t args_index(Context& context);
  std::int64_t integer(Field field, Context& context);
  std::int64_t duration(Context& context);

  unsigned worker_;
  EventOptions options_;
  Interner strings_, threads_, streams_, configs_, shapes_;
  std::vector<Category> categories_;  // by string id - 1; only set for strings used as category
  std::string key_;                   // scratch
  std::string last_pid_, last_tid_;   // most events repeat the thread of the event before
  std::uint32_t last_thread_ = 0;
  std::size_t last_kind_ = 0;
};

}  // namespace tracedb
