// Slices given as two events, and flows: what belongs together.
#include <doctest/doctest.h>

#include "support/ingested.h"

namespace tracedb {
namespace {

// `rest` are further members, with a comma in front.
std::string edge(char ph, std::string_view name, int ts, std::string_view rest = {}) {
  return fmt::format(R"({{"ph":"{}","name":"{}","pid":1,"tid":1,"ts":{}{}}},)", ph, name, ts, rest);
}

constexpr const char* kPairSlices =
    "SELECT s.value, l.ts / 1000, l.dur / 1000 FROM slice l JOIN string s ON s.id = l.name_id ORDER BY l.id";
constexpr const char* kUnmatched = "SELECT ph, flow_id, typeof(flow_id) FROM flow_unmatched ORDER BY id";

std::string flow(char ph, std::string_view id, std::string_view name = "n", std::string_view category = "c") {
  return fmt::format(R"({{"ph":"{}","cat":"{}","name":"{}",{}"pid":1,"tid":1,"ts":1}},)", ph, category, name,
                     id.empty() ? std::string() : fmt::format(R"("id":{},)", id));
}

}  // namespace

TEST_CASE("begin and end pair by time, wherever they stand in the file") {
  Ingested index(trace_of(edge('E', "a", 20) + edge('B', "a", 10) + edge('B', "b", 50) + edge('B', "b", 30) +
                          edge('E', "b", 40) + edge('E', "b", 60)));
  CHECK(index.rows(kPairSlices) == "a 0 10; b 20 10; b 40 10");
  CHECK(index.rows("SELECT count(*) FROM issue WHERE kind NOT IN ('foreign_format', 'no_device_events')") == "0");
}

TEST_CASE("an end needs no name, and gets no warning") {
  Ingested index(trace_of(edge('B', "a", 10) + edge('B', "b", 12) + R"({"ph":"E","pid":1,"tid":1,"ts":15},)" +
                          R"({"ph":"E","name":"","pid":1,"tid":1,"ts":20},{"ph":"E","pid":1,"tid":1,"ts":21},)"));
  CHECK(index.rows(kPairSlices) == "a 0 10; b 2 3");
  CHECK(index.issues(IssueKind::kMissingName) == 0);
  CHECK(index.issues(IssueKind::kEndWithoutBegin) == 1);
}

TEST_CASE("asynchronous slices pair by category, id and scope, the old ones by name too") {
  Ingested index(trace_of(
      edge('b', "x", 10, R"(,"cat":"c","id":"0x1")") + edge('b', "y", 11, R"(,"cat":"c","id":"0x2")") +
      edge('e', "x", 20, R"(,"cat":"c","id":"0x1")") + edge('e', "y", 31, R"(,"cat":"c","id":"0x2")") +
      edge('b', "scoped", 40, R"(,"cat":"c","id":1,"scope":"s")") + edge('e', "scoped", 45, R"(,"cat":"c","id":1)") +
      edge('e', "scoped", 46, R"(,"cat":"c","id":1,"scope":"s")") +
      edge('b', "local", 50, R"(,"cat":"c","id2":{"local":"0x9"})") +
      edge('e', "local", 51, R"(,"cat":"c","id2":{"global":"0x9"})") +
      R"({"ph":"e","cat":"c","id2":{"local":"0x9"},"name":"local","pid":2,"ts":52},)" +
      R"({"ph":"e","cat":"c","id2":{"local":"0x9"},"pid":1,"tid":5,"ts":53},)" +
      edge('S', "old", 60, R"(,"cat":"c","id":3)") + edge('F', "other", 61, R"(,"cat":"c","id":3)") +
      edge('F', "old", 62, R"(,"cat":"c","id":"3")") + edge('b', "open", 70, R"(,"cat":"c","id":"text")")));
  CHECK(index.rows(kPairSlices) == "x 0 10; y 1 20; scoped 30 6; local 40 3; old 50 2; open 60 -");
  CHECK(index.issues(IssueKind::kEndWithoutBegin) == 4);
  CHECK(index.issues(IssueKind::kBeginWithoutEnd) == 1);
  CHECK(index.rows("SELECT ph, read, stored, skipped FROM event_count ORDER BY ph") ==
        "F 2 0 2; S 1 1 0; b 5 5 0; e 7 0 7");
}

TEST_CASE("points in time of every phase are instants, no loss") {
  std::string events;
  for (const char ph : std::string_view("iIRPnTpNODVvc()")) events += edge(ph, "point", 1, R"(,"cat":"c","id":1)");
  Ingested index(trace_of(events));
  CHECK(index.rows("SELECT count(*) FROM instant") == "15");
  CHECK(index.rows("SELECT count(*) FROM issue WHERE kind NOT IN ('foreign_format', 'no_device_events')") == "0");
}

TEST_CASE("flows are one by category, name and id") {
  Ingested index(trace_of(flow('s', "1") + flow('f', "1") + flow('s', "2", "a") + flow('f', "2", "b") +
                          flow('s', "3", "n", "c") + flow('f', "3", "n", "d") + flow('s', "\"4\"") + flow('f', "4.0")));
  CHECK(index.rows(kUnmatched) == "s 3 integer; s 2 integer; f 2 integer; f 3 integer");
}

TEST_CASE("ids of flows: only numbers written as such are numbers, none binds to nothing") {
  Ingested index(trace_of(flow('s', "7") + flow('f', "\"007\"") + flow('s', "-5") + flow('s', "") + flow('f', "") +
                          flow('s', "null") + flow('s', "\"0x1f\"") + flow('f', "\"0x1F\"") + flow('f', "31") +
                          flow('s', "\"0xab\"") + flow('f', "\"0xab\"") + flow('s', "\"null\"") +
                          flow('s', "-9223372036854775808")));
  CHECK(index.rows("SELECT group_concat(t, ' ') FROM (SELECT ph || coalesce(flow_id, '-') || typeof(flow_id) AS t "
                   "FROM flow_unmatched ORDER BY 1)") ==
        "f-null f007text f0x1Ftext f31integer s-5integer s-9223372036854775808text s-null s-null s0x1ftext s7integer "
        "snulltext");
}

}  // namespace tracedb
