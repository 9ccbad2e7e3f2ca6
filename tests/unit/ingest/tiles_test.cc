// Traces of AI Engine tiles: what their events become.
#include <doctest/doctest.h>

#include "support/ingested.h"

namespace tracedb {
namespace {

std::string process(int pid, std::string_view name) {
  return fmt::format(R"({{"name":"process_name","ph":"M","pid":{},"args":{{"name":"{}"}}}},)", pid, name);
}
std::string edge(char ph, std::string_view name, std::string_view ts, int pid = 0) {
  return fmt::format(R"({{"name":"{}","ts":{},"ph":"{}","pid":{},"tid":1}},)", name, ts, ph, pid);
}
std::string tiles(std::string events) {
  events.pop_back();
  return "[" + events + "]";
}
std::string core(std::string_view events) { return tiles(process(0, "core_trace for tile2,1").append(events)); }

constexpr const char* kSlices =
    "SELECT s.value, l.ts, l.dur FROM slice l JOIN string s ON s.id = l.name_id ORDER BY l.id";
constexpr const char* kInstants = "SELECT s.value, i.ts FROM instant i JOIN string s ON s.id = i.name_id ORDER BY i.id";
constexpr const char* kKernels =
    "SELECT n.name, st.number, k.ts, k.dur FROM kernel k JOIN kernel_name n ON n.id = k.name_id "
    "JOIN stream st ON st.id = k.stream_id ORDER BY k.id";

}  // namespace

TEST_CASE("tiles: times are cycles, and events do not nest") {
  Ingested index(core(edge('B', "LOCK_STALL", "10") + edge('E', "LOCK_STALL", "30") + edge('B', "LOCK_STALL", "40") +
                      edge('B', "LOCK_STALL", "50") + edge('E', "LOCK_STALL", "60") + edge('E', "LOCK_STALL", "90")));
  CHECK(index.meta("format") == "aie");
  CHECK(index.meta("time_unit") == "cycle");
  CHECK(index.meta("vendor") == "aie");
  CHECK(index.rows(kSlices) == "LOCK_STALL 0 20; LOCK_STALL 30 -; LOCK_STALL 40 10");
  CHECK(index.rows(kInstants) == "LOCK_STALL 80");
  CHECK(index.issues(IssueKind::kBeginWithoutEnd) == 1);
  CHECK(index.issues(IssueKind::kEndWithoutBegin) == 1);
  CHECK(index.result().events_read == index.result().events_stored + index.result().events_skipped);
  CHECK(index.result().events_stored == 4);
}

TEST_CASE("tiles: kernels from the marks of cores, wherever they stand in the file") {
  const std::string marks = edge('E', "INSTR_EVENT_1", "100") + edge('B', "INSTR_EVENT_0", "0") +
                            edge('E', "INSTR_EVENT_1", "200") + edge('B', "INSTR_EVENT_0", "100") +
                            edge('B', "INSTR_EVENT_0", "0", 1) + edge('E', "INSTR_EVENT_1", "50", 1);
  Ingested index(tiles(marks + process(1, "mem_trace for tile2,1") + process(0, "core_trace for tile2,1")));
  CHECK(index.rows(kKernels) ==
        "INSTR_EVENT_0..INSTR_EVENT_1 tile2,1 0 100; INSTR_EVENT_0..INSTR_EVENT_1 tile2,1 100 100");
  CHECK(index.meta("kernels_from_marks") == "2");
}

TEST_CASE("tiles: times as text and with a fraction, and those that are none") {
  Ingested index(core(edge('B', "Event0", "\" 7\"") + edge('E', "Event1", "16.6") + edge('E', "Event1", "\"x\"") +
                      edge('B', "Event0", "1e300")));
  CHECK(index.rows(kKernels) == "Event0..Event1 tile2,1 0 10");
  CHECK(index.issues(IssueKind::kBadTimestamp) == 2);
}

TEST_CASE("tiles: other arrays of events are no tiles") {
  Ingested index(tiles(process(0, "python") + edge('B', "a", "1") + edge('E', "a", "2")));
  CHECK(index.meta("format") == "chrome-json");
  CHECK(index.meta("time_unit").empty());
  CHECK(index.rows(kSlices) == "a 0 1000");
}

}  // namespace tracedb
