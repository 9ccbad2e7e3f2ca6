// Chrome trace events as text, one a line: what ui.perfetto.dev, chrome://tracing and trace-ingest read. Times are
// given in ns and written as microseconds with three decimals, so that none is lost; every text is escaped.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "report/json_text.h"
#include "sql/database.h"

namespace tracedb {

// Where an event is drawn. Both numbers are made up where the trace has none.
struct EventTrack {
  std::int64_t process = 0, thread = 0;
};

struct TraceSlice {
  EventTrack track;
  std::string_view category, name;
  std::int64_t ts = 0, dur = 0;  // ns; kUnknownValue as length: none is written
};

class TraceEventWriter {
 public:
  // `members`: of the top level, besides the events. The stream must outlive the object.
  TraceEventWriter(std::ostream& out, const JsonWriter& members);
  TraceEventWriter& operator=(TraceEventWriter&&) = delete;

  void slice(const TraceSlice& slice, const JsonWriter& args) { event('X', slice, args); }
  void instant(const TraceSlice& point, const JsonWriter& args) { event('i', point, args); }
  void counter(const TraceSlice& sample, const JsonWriter& series) { event('C', sample, series); }
  // From a point inside a slice of one track to the slice that begins at a point of another.
  void flow_start(const EventTrack& track, std::int64_t ts, std::int64_t id) { flow('s', track, ts, id); }
  void flow_end(const EventTrack& track, std::int64_t ts, std::int64_t id) { flow('f', track, ts, id); }
  // process_name, process_labels, process_sort_index, thread_name, thread_sort_index
  void metadata(std::string_view kind, const EventTrack& track, const JsonWriter& args);

  void finish();  // nothing may follow

 private:
  void begin(char ph, const EventTrack& track, std::string_view category, std::string_view name);
  void time(std::string_view key, std::int64_t ns);
  void end(const JsonWriter& args);
  void event(char ph, const TraceSlice& event, const JsonWriter& args);
  void flow(char ph, const EventTrack& track, std::int64_t ts, std::int64_t id);

  std::ostream& out_;
  std::string text_;  // not written yet
  bool any_ = false;
};

// Cells of an index as arguments of exported events; unknown ones, and numbers that JSON has not, are left out.

// A number of the profiler's own (type ANY): an integer, also one that is stored as text because it takes more than 63
// bits; other text as text.
void add_number(JsonWriter& args, std::string_view key, const Statement& row, int column);
void add_real(JsonWriter& args, std::string_view key, const Statement& row, int column);
void add_text(JsonWriter& args, std::string_view key, const Statement& row, int column);
// Valid JSON.
void add_json(JsonWriter& args, std::string_view key, const Statement& row, int column);
// "grid": [x, y, z] of three columns; unknown ones at the end are left out.
void add_triple(JsonWriter& args, std::string_view key, const Statement& row, int first_column);

}  // namespace tracedb
