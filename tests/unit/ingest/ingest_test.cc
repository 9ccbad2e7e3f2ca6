#include "ingest/ingest.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "support/compressed_text.h"
#include "support/ingested.h"
#include "support/refused.h"

namespace tracedb {
namespace {

// Whole traces to whole indexes.

// Whether ingest ends with an error of this code.
bool is_refused(const std::filesystem::path& trace, const std::filesystem::path& index, ErrorCode code) {
  return !refused(code, [&] { ingest_trace(trace, index, Ingested::small_options()); }).empty();
}

// A trace with something of everything, broken parts included.
std::string mixed_trace() {
  std::string events = R"({"ph":"M","name":"process_name","pid":100,"tid":0,"args":{"name":"python"}},)";
  for (int i = 0; i < 60; ++i) {
    const auto at = [i](int offset) { return std::to_string(1000 * i + offset); };
    const std::string ids = fmt::format(R"("correlation":{},"External id":{})", i, i);
    events += event("python_function", fmt::format("f.py({}): f", i % 5), i % 2 == 0 ? kMainThread : kOtherThread,
                    at(0), "900",
                    fmt::format(R"("Python id":{},"Python parent id":{})", i, i == 0 ? "null" : std::to_string(i - 1)));
    events += event("user_annotation", fmt::format("ProfilerStep#{}", i), kMainThread, at(1), "800");
    events += event("cpu_op", "aten::mm", kMainThread, at(2), "50", ids + R"(,"Input Dims":[[1,2],[3]])");
    events += event("cuda_runtime", "hipLaunchKernel", kMainThread, at(3), "5", ids);
    events += event("kernel", fmt::format("k{} \\u0041 \\u0000", i % 7), kGpuStream, at(100), "3.5",
                    ids + fmt::format(R"(,"stream":{},"grid":[{},1,1],"registers per thread":"N/A")", i % 3, i % 4));
    events += fmt::format(R"({{"ph":"C","name":"c","pid":1,"tid":0,"ts":{},"args":{{"a":{},"b":NaN}}}},)", i, i);
    events += fmt::format(R"({{"ph":"s","cat":"ac2g","name":"ac2g","id":{},"pid":100,"tid":1,"ts":{}}},)", i, i);
    if (i % 3 == 0)
      events += fmt::format(R"({{"ph":"f","cat":"ac2g","name":"ac2g","id":{},"pid":0,"tid":7,"ts":{}}},)", i, i);
    events += fmt::format(R"({{"ph":"{}","name":"pair","pid":5,"tid":5,"ts":{}}},)", i % 2 == 0 ? 'B' : 'E', i);
    if (i % 8 == 1) events += "\n  17 ,";
    if (i % 8 == 2) events += R"({"ph":"X" "broken":1},)";
    if (i % 8 == 3) events += "{\"ph\":\"i\",\"name\":\"raw \x01 \xFF\",\"pid\":1,\"tid\":1,\"ts\":3},";
    if (i % 8 == 4) events += " ,";
  }
  return R"({"a":1,"traceEvents":[)" + events + R"(], "deviceProperties":[{"id":0,"name":"AMD Instinct"}]})";
}

std::string content(Ingested& index) {
  std::string out;
  for (const char* table :
       {"event_count",    "string",        "device",         "process", "thread",      "stream",
        "kernel_name",    "launch_config", "task_info",      "kernel",  "memory_op",   "runtime_call",
        "op_shape",       "cpu_op",        "frame",          "stack",   "python_call", "annotation",
        "step",           "collective",    "slice",          "instant", "counter",     "flow_unmatched",
        "event_argument", "issue",         "kernel_name_sum"}) {
    out += fmt::format("{}: {}\n", table, index.rows(fmt::format("SELECT * FROM {}", table)));
  }
  return out;
}

TEST_CASE("times are exact to the nanosecond at epoch magnitude") {
  Ingested index(trace_of(event("kernel", "k", kGpuStream, "1709839458013123.457", "0.001") +
                          event("kernel", "k", kGpuStream, "1709839458013123.458", "1234567.891") +
                          event("kernel", "k", kGpuStream, "\"1709839458013124.000\"", "\"2\"")));
  CHECK(index.meta("base_time_ns") == "1709839458013123457");
  CHECK(index.rows("SELECT ts, dur FROM kernel ORDER BY id") == "0 1; 1 1234567891; 543 2000");
  CHECK(index.rows("SELECT n, total, min, max FROM kernel_name_sum") == "3 1234569892 1 1234567891");
}

TEST_CASE("a device property without a name is none") {
  Ingested index(R"({"deviceProperties":[{"id":0,"name":"GPU","":9,"numSms":80}],"traceEvents":[]})");
  CHECK(index.rows("SELECT name, sm_count, properties FROM device") ==
        R"(GPU 80 {"id":0,"name":"GPU","":9,"numSms":80})");
}

TEST_CASE("the base time of the header is added") {
  Ingested index(R"({"baseTimeNanoseconds":1700000000000000000,"traceEvents":[)" +
                 std::string(R"({"ph":"i","name":"x","pid":1,"tid":1,"ts":5}]})"));
  CHECK(index.meta("base_time_ns") == "1700000000000005000");
  CHECK(index.meta("trace.baseTimeNanoseconds") == "1700000000000000000");
}

TEST_CASE("a base time that is no number, or beyond 64 bits, is an issue and does no harm") {
  const auto based = [](std::string_view base) {
    return fmt::format(R"({{"baseTimeNanoseconds":{},"traceEvents":[{{"ph":"i","name":"x","pid":1,"ts":5000000}}]}})",
                       base);
  };
  for (const char* base : {"9223372036854775807", "\"text\"", "1.5", "{}"}) {
    CAPTURE(base);
    Ingested index(based(base));
    CHECK(index.meta("base_time_ns") == "5000000000");
    CHECK(index.issues(IssueKind::kBadBaseTime) == 1);
    CHECK(index.rows("SELECT offset FROM issue WHERE kind = 'bad_base_time'") ==
          std::to_string(based(base).find(base)));
  }
  Ingested whole(based("1e18"));
  CHECK(whole.meta("base_time_ns") == "1000000005000000000");
  CHECK(whole.issues(IssueKind::kBadBaseTime) == 0);
}

TEST_CASE("threads, chunk sizes, memory and compression do not change the tables") {
  const std::string trace = mixed_trace();
  Ingested expected(trace);
  const std::string tables = content(expected);
  CHECK(expected.result().events_read == expected.result().events_stored + expected.result().events_skipped);
  CHECK(expected.rows("SELECT kind, count FROM issue WHERE kind IN ('bad_number', 'malformed_event', 'not_an_object', "
                      "'repaired_text', 'replaced_character', 'stray_comma') ORDER BY kind") ==
        "bad_number 60; malformed_event 8; not_an_object 8; repaired_text 8; replaced_character 60; stray_comma 8");
  for (const unsigned threads : {1U, 2U, 3U}) {
    for (const std::size_t chunk_size : {std::size_t{64}, std::size_t{300}, std::size_t{5000}}) {
      IngestOptions options;
      options.threads = threads;
      options.chunk_size = chunk_size;
      options.memory_bytes = threads == 2 ? 4096 : std::size_t{96} << 20U;
      Ingested other(trace, options);
      CAPTURE(threads);
      CAPTURE(chunk_size);
      CHECK(content(other) == tables);
    }
  }
  Ingested packed(gzip_text(trace));
  CHECK(content(packed) == tables);
}

TEST_CASE("a trace that cannot be read leaves nothing behind") {
  const TempDirectory directory;
  const auto index = directory / "out.tracedb";
  for (const char* text : {"", "not json", "<html>", "{a", "version https://git-lfs.github.com/spec/v1\n"}) {
    CHECK(is_refused(directory.write("t", text), index, ErrorCode::kInput));
  }
  CHECK(is_refused(directory / "missing", index, ErrorCode::kInput));
  CHECK(is_refused(directory.path(), index, ErrorCode::kInput));
  CHECK(directory.files() == std::vector<std::string>{"t"});
  CHECK(is_refused(directory.write("t", "[]"), directory / "no" / "such" / "out", ErrorCode::kResource));
}

TEST_CASE("an index that exists stays when its trace has gone bad, and is replaced when it has not") {
  const TempDirectory directory;
  const auto index = directory / "out";
  ingest_trace(directory.write("t", "[]"), index, Ingested::small_options());
  const auto size = std::filesystem::file_size(index);
  CHECK(is_refused(directory.write("t", "broken"), index, ErrorCode::kInput));
  CHECK(std::filesystem::file_size(index) == size);
  ingest_trace(directory.write("t", trace_of(event("kernel", "k", kGpuStream, "1", "1"))), index,
               Ingested::small_options());
  CHECK(Database(index, Database::Mode::kReadOnly).query_int64("SELECT count(*) FROM kernel") == 1);
  CHECK(directory.files() == std::vector<std::string>{"out", "t"});
}

TEST_CASE("the rank is what the trace says, else what its name says") {
  const TempDirectory directory;
  const auto rank_of = [&](const char* name, const char* content) {
    ingest_trace(directory.write(name, content), directory / "index", Ingested::small_options());
    Database index(directory / "index", Database::Mode::kReadOnly);
    return index
        .query_text("SELECT group_concat(value, ' ') FROM (SELECT value FROM meta WHERE key LIKE 'rank%' ORDER BY key)")
        .value_or("none");
  };
  CHECK(rank_of("rank3.json", R"({"distributedInfo": {"rank": 5}, "traceEvents": []})") == "5 distributedInfo");
  CHECK(rank_of("rank3.json", R"({"distributedInfo": {"rank": -1}, "traceEvents": []})") == "3 file name: rank3");
  CHECK(rank_of("rank3.json", R"({"distributedInfo": {"rank": null}, "traceEvents": []})") == "3 file name: rank3");
  CHECK(rank_of("rank3.json", R"({"traceEvents": []})") == "3 file name: rank3");
  CHECK(rank_of("mi300x.json", R"({"traceEvents": []})") == "none");
}

TEST_CASE("arguments are kept on request, python left out on request") {
  const std::string trace = trace_of(event("python_function", "p", kMainThread, "1", "5", R"("Python id":1)") +
                                     event("kernel", "b", kGpuStream, "9", "1", R"("x": [1, 2])") +
                                     event("kernel", "a", kGpuStream, "3", "1", R"("y": "z")") +
                                     event("other", "s", kMainThread, "3", "1", R"("q":1)"));
  IngestOptions options = Ingested::small_options();
  options.events = {PythonCalls::kOmit, EventArguments::kKeep};
  Ingested index(trace, options);
  CHECK(index.rows("SELECT event_table, event_id, args FROM event_argument ORDER BY event_table, event_id") ==
        R"(kernel 1 {"y":"z"}; kernel 2 {"x":[1,2]}; slice 1 {"q":1})");
  CHECK(index.rows("SELECT count(*) FROM python_call") == "0");
  CHECK(index.rows("SELECT read, stored, skipped FROM event_count WHERE category = 'python_function'") == "1 0 1");
  Ingested plain(trace);
  CHECK(plain.rows("SELECT count(*) FROM event_argument") == "0");
  CHECK(plain.rows("SELECT count(*) FROM python_call") == "1");
}

TEST_CASE("arguments are kept for every event that has a row, whatever fits in memory") {
  std::string events;
  for (int i = 0; i < 3000; ++i) {
    events += fmt::format(R"({{"ph":"{}","name":"p","pid":1,"tid":1,"ts":{},"args":{{"edge":{}, "pad":"{:0>120}"}}}},)",
                          i % 2 == 0 ? 'B' : 'E', i, i, i);
  }
  events +=
      R"({"ph":"s","id":1,"name":"f","cat":"c","pid":1,"ts":1,"args":{"matched":1}},)"
      R"({"ph":"f","id":1,"name":"f","cat":"c","pid":1,"ts":2,"args":{"matched":2}},)"
      R"({"ph":"s","id":2,"name":"f","cat":"c","pid":1,"ts":2,"args":{"open":3}},)"
      R"({"ph":"C","name":"x","pid":1,"ts":2,"args":{"a":1,"b":2}},{"ph":"C","name":"x","pid":1,"ts":3,"args":{"a":3}},)"
      R"({"ph":"X","name":"z","pid":1,"ts":4000,"dur":1,"args":{"a":[1, {"b":"c d"}]}},)"
      R"({"ph":"X","name":"none","pid":1,"ts":4001,"dur":1,"args":null},)";
  IngestOptions options = Ingested::small_options();
  options.events = {PythonCalls::kKeep, EventArguments::kKeep};
  Ingested index(trace_of(events), options);
  CHECK(index.rows(
            "SELECT event_table, event_id, args FROM event_argument WHERE event_table <> 'slice' OR event_id > 1500") ==
        R"(flow_unmatched 1 {"open":3}; counter 1 {"a":1,"b":2}; counter 3 {"a":3}; slice 1501 {"a":[1,{"b":"c d"}]})");
  CHECK(index.rows("SELECT count(*), count(DISTINCT event_id), sum(args ->> 'edge'), sum(args ->> 'pad') FROM "
                   "event_argument WHERE event_table = 'slice' AND event_id <= 1500 AND "
                   "(args ->> 'edge') / 2 = event_id - 1") == "3000 1500 4498500 4498500");
  const std::string tables = content(index);
  options.threads = 3;
  options.chunk_size = 300;
  options.memory_bytes = 4096;
  Ingested other(trace_of(events), options);
  CHECK(content(other) == tables);
}

TEST_CASE("numbers of the profiler: integers as floats, of 64 bits unsigned, at the edges of both") {
  const auto pair = [](std::string_view correlation, int ts) {
    const std::string args = fmt::format(R"("correlation":{})", correlation);
    return event("cuda_runtime", "hipLaunchKernel", kMainThread, std::to_string(ts), "1", args) +
           event("kernel", "k", kGpuStream, std::to_string(ts + 1), "1", args);
  };
  const std::string trace = trace_of(
      pair("5.0", 1) + pair("18446744073709551615", 3) + pair("\"9223372036854775808\"", 5) + pair("-1", 7) +
      pair("9223372036854775807", 9) + pair("-9223372036854775807", 11) + pair("-9223372036854775808", 13) +
      pair("18446744073709551616", 15) + event("gpu_memcpy", "Memcpy", kGpuStream, "19", "1", R"("bytes":-4)") +
      event("gpu_memcpy", "Memcpy", kGpuStream, "20", "1", R"("bytes":18446744073709551615)") +
      event("cpu_op", "o", kMainThread, "21", "1", R"("External id":1e3,"Sequence number":9223372036854775808)") +
      event("cpu_op", "o", kMainThread, "22", "1", R"("External id":-1,"Sequence number":-1)"));
  Ingested index(trace);
  CHECK(index.rows("SELECT correlation, typeof(correlation), launch_id FROM kernel ORDER BY id") ==
        "5 integer 1; 18446744073709551615 text 2; 9223372036854775808 text 3; -1 integer 4; "
        "9223372036854775807 integer 5; -9223372036854775807 text 6; -9223372036854775808 text 7; - null -");
  CHECK(index.issues(IssueKind::kBadNumber) == 3);
  CHECK(index.rows("SELECT bytes FROM memory_op ORDER BY id") == "-; 18446744073709551615");
  CHECK(index.rows("SELECT external_id, sequence_number FROM cpu_op") == "1000 9223372036854775808; -1 -");
  CHECK(index.rows("PRAGMA integrity_check") == "ok");
  IngestOptions pieces = Ingested::small_options();
  pieces.threads = 3;
  pieces.chunk_size = 64;
  Ingested other(trace, pieces);
  CHECK(content(other) == content(index));
}

TEST_CASE("python ids of any size name one parent") {
  // All start and end together, so that only the ids tell which encloses which.
  const auto call = [](std::string_view name, int, std::string_view ids) {
    return event("python_function", name, kMainThread, "1", "100", ids);
  };
  // 2^32 + 6 and 7: alike once folded to 32 bits with an exclusive or.
  Ingested index(trace_of(call("a", 1, R"("Python id":7,"Python parent id":null)") +
                          call("b", 2, R"("Python id":4294967302,"Python parent id":7)") +
                          call("c", 3, R"("Python id":18446744073709551615,"Python parent id":4294967302)") +
                          call("d", 4, R"("Python id":4294967295,"Python parent id":7)") +
                          call("e", 5, R"("Python id":4294967294,"Python parent id":18446744073709551615)") +
                          call("f", 6, R"("Python id":-1,"Python parent id":4294967295)") +
                          call("g", 7, R"("Python id":1,"Python parent id":4294967302)")));
  CHECK(index.rows("SELECT group_concat(path, ' ') FROM (SELECT path FROM stacks ORDER BY path)") ==
        "a a;b a;b;c a;b;c;e a;b;g a;d a;d;f");
  CHECK(index.issues(IssueKind::kPythonParentMissing) == 0);
}

TEST_CASE("null is unknown, wherever it stands") {
  Ingested index(trace_of(
      R"({"ph":"X","cat":"kernel","name":"k","pid":3,"tid":7,"ts":1,"dur":1,"args":{"device":null,"stream":null,)"
      R"("dtype":null,"Collective name":null,"Process Group Name":"g"}},)"
      R"({"ph":"X","cat":"kernel","name":"l","pid":null,"ts":2,"dur":1},)"
      R"({"ph":"X","cat":"","name":null,"pid":null,"tid":null,"ts":3,"dur":1},{"ph":"X","ts":4,"dur":1,"name":"n"},)"
      R"({"ph":"X","cat":"cpu_op","name":"o","pid":1,"tid":1.0,"ts":5,"dur":1,"args":{"Input Dims":null}},)"
      R"({"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":null}},)"));
  CHECK(index.rows("SELECT ordinal, name FROM device ORDER BY id") == "3 -; - -");
  CHECK(index.rows("SELECT device_id, number FROM stream ORDER BY id") == "1 7; 2 -");
  CHECK(index.rows("SELECT name, dtype, group_name FROM collective") == "- - g");
  CHECK(index.rows("SELECT pid, tid, t.name FROM thread t JOIN process p ON p.id = t.process_id ORDER BY t.id") ==
        "- - -; 1 1 -");
  CHECK(index.rows(
            "SELECT s.value, category_id, thread_id FROM slice l JOIN string s ON s.id = l.name_id ORDER BY l.id") ==
        " - 1; n - 1");
  CHECK(index.rows("SELECT shape_id FROM cpu_op") == "-");
  CHECK(index.rows("SELECT category, ph, read FROM event_count ORDER BY category, ph") ==
        "- M 1; - X 2; cpu_op X 1; kernel X 2");
}

TEST_CASE("counters and instants keep their process, series and order") {
  Ingested index(trace_of(R"({"ph":"C","cat":"m","name":"GPU","pid":9,"tid":0,"ts":2,"args":{"a":1.5,"b":NaN}},)"
                          R"({"ph":"C","name":"CPU","pid":8,"ts":1,"args":{"x":-2}},)"
                          R"({"ph":"i","name":"[memory]","pid":8,"tid":3,"ts":3,"args":{"Bytes":-64}},)"));
  CHECK(
      index.rows(
          "SELECT c.ts, n.value, p.pid, s.value, c.value, c.continued FROM counter c JOIN string n ON n.id = c.name_id "
          "JOIN string s ON s.id = c.series_id JOIN process p ON p.id = c.process_id ORDER BY c.id") ==
      "0 CPU 8 x -2.0 0; 1000 GPU 9 a 1.5 0; 1000 GPU 9 b - 1");
  CHECK(index.rows("SELECT ts, bytes FROM instant") == "2000 -64");
  CHECK(index.rows("SELECT sum(read), sum(stored) FROM event_count") == "3 3");
}

TEST_CASE("devices named by text, numbers with and without a description") {
  Ingested index(
      R"({"deviceProperties":[{"id":3,"name":"","warpSize":64},{"id":5,"name":"AMD Instinct"}],"traceEvents":[)" +
      event("kernel", "a", R"("pid":"gpu A","tid":"main queue")", "1", "1") +
      event("kernel", "b", R"("pid":3,"tid":"stream 12")", "2", "1") +
      R"({"ph":"X","cat":"kernel","name":"c","pid":7,"tid":12,"ts":3,"dur":1,"args":{"device":"3","stream":"12"}}]})");
  CHECK(index.rows("SELECT id, ordinal, vendor, used, warp_size FROM device ORDER BY id") ==
        "1 - amd 1 -; 2 3 amd 1 64; 3 5 amd 0 -");
  CHECK(index.rows("SELECT id, device_id, number, typeof(number) FROM stream ORDER BY id") ==
        "1 1 main queue text; 2 2 12 integer");
  CHECK(index.rows("SELECT stream_id FROM kernel ORDER BY id") == "1; 2; 2");
  CHECK(index.issues(IssueKind::kUnknownDevice) == 1);
}

TEST_CASE("names of processes and threads, wherever they stand") {
  Ingested index(trace_of(R"({"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"old"}},)"
                          R"({"ph":"i","name":"x","pid":1,"tid":"2","ts":1},)"
                          R"({"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"new"}},)"
                          R"({"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"p"}},)"
                          R"({"ph":"M","name":"process_sort_index","pid":1,"tid":0,"args":{"sort_index":7}},)"
                          R"({"ph":"M","name":"process_labels","pid":1,"tid":0,"args":{"labels":"CPU"}},)"));
  CHECK(index.rows("SELECT pid, name, labels, sort_index FROM process") == "1 p CPU 7");
  CHECK(index.rows("SELECT tid, name FROM thread WHERE tid = 2") == "2 new");
}

TEST_CASE("times at the edge of 64 bits do no harm") {
  constexpr std::string_view kMost = "4611686018427387.903";  // 2^62 - 1 ns
  Ingested index(trace_of(event("kernel", "a", kGpuStream, kMost, kMost) +
                          event("kernel", "b", kGpuStream, "5", kMost) + event("kernel", "b", kGpuStream, "6", kMost) +
                          event("kernel", "b", kGpuStream, "7", kMost) +
                          event("cpu_op", "op", kMainThread, "-4611686018427387.903", kMost) +
                          event("cuda_runtime", "c", kMainThread, "-4611686018427387.902", "1")));
  CHECK(index.rows("SELECT max(ts) FROM kernel") == "9223372036854775806");
  CHECK(index.rows("SELECT cpu_op_id FROM runtime_call") == "1");
  CHECK(index.rows("SELECT total FROM kernel_name_sum WHERE n = 3") == "9223372036854775807");
  Ingested beyond(trace_of(event("kernel", "a", kGpuStream, "1", "4611686018427387.904") +
                           event("kernel", "b", kGpuStream, "4611686018427387.904", "1")));
  CHECK(beyond.rows("SELECT ts, dur FROM kernel") == "0 -");
  CHECK(beyond.issues(IssueKind::kBadDuration) == 1);
  CHECK(beyond.issues(IssueKind::kBadTimestamp) == 1);
}

// What a trace says of its devices, launch configurations and copies.

std::string trace_with_devices(std::string_view devices, std::string_view events) {
  std::string trace = trace_of(events);
  return trace.insert(1, fmt::format(R"("deviceProperties":[{}],)", devices));
}

const std::string kOnTwo = event("kernel", "k", R"("pid":2,"tid":7)", "1", "1", R"("device":2)");

TEST_CASE("a device that the trace does not list by number is of the one model that it lists") {
  constexpr std::string_view kOne = R"({"id":0,"name":"AMD Instinct MI300X VF","warpSize":64,"numSms":304})";
  const std::string_view devices = "SELECT ordinal, name, vendor, sm_count, properties IS NULL, used FROM device";
  Ingested one(trace_with_devices(kOne, kOnTwo));
  CHECK(one.rows(devices) == "2 AMD Instinct MI300X VF amd 304 1 1; 0 AMD Instinct MI300X VF amd 304 0 0");
  CHECK(one.issues(IssueKind::kUnknownDevice) == 0);
  Ingested two(trace_with_devices(std::string(kOne) + R"(,{"id":1,"name":"AMD Instinct MI210"})", kOnTwo));
  CHECK(two.rows(devices) == "2 - amd - 1 1; 0 AMD Instinct MI300X VF amd 304 0 0; 1 AMD Instinct MI210 amd - 0 0");
  CHECK(two.issues(IssueKind::kUnknownDevice) == 1);
  Ingested unnamed(trace_with_devices(R"({"id":0,"name":"","warpSize":64},{"id":1,"name":"","warpSize":64})", kOnTwo));
  CHECK(unnamed.rows("SELECT name, vendor FROM device WHERE used = 1") == "- amd");
  Ingested listed(trace_with_devices(R"({"id":2,"name":"NVIDIA A100"},{"id":0,"name":"NVIDIA A30"})", kOnTwo));
  CHECK(listed.rows("SELECT name FROM device WHERE used = 1") == "NVIDIA A100");
}

TEST_CASE("achieved and theoretical occupancy are two figures") {
  Ingested index(trace_of(
      event("kernel", "a", kGpuStream, "1", "1", R"("theoretical occupancy %":75)") +
      event("kernel", "b", kGpuStream, "3", "1", R"("est. achieved occupancy %":31)") +
      event("kernel", "c", kGpuStream, "5", "1", R"("est. achieved occupancy %":31,"theoretical occupancy %":75)")));
  CHECK(index.rows("SELECT occupancy_pct, theoretical_occupancy_pct FROM kernels ORDER BY id") ==
        "- 75.0; 31.0 -; 31.0 75.0");
}

TEST_CASE("the bandwidth of a copy is the profiler's own where it gives one") {
  const auto copy = [](std::string_view ts, std::string_view args) {
    return event("gpu_memcpy", "Memcpy HtoD", kGpuStream, ts, "2", args);
  };
  // 3000 bytes in 2.5 us, of which the trace keeps 2.
  Ingested index(trace_of(copy("1", R"x("bytes":3000,"memory bandwidth (GB/s)":1.2)x") + copy("5", R"("bytes":3000)") +
                          copy("9", R"x("bytes":3000,"memory bandwidth (GB/s)":"N/A")x") +
                          copy("12", R"x("bytes":3000,"memory bandwidth (GB/s)":0)x") + copy("15", "") +
                          copy("20", R"x("bytes":3000,"memory bandwidth (GB/s)":2)x")));
  CHECK(index.rows("SELECT bandwidth_gb_s FROM memory_op ORDER BY id") == "1.2; -; -; -; -; 2.0");
  CHECK(index.rows("SELECT gb_per_s, bandwidth_source FROM memcpys ORDER BY id") ==
        "1.2 profiler; 1.5 computed; 1.5 computed; 1.5 computed; - -; 2.0 profiler");
}

// Traces of AI Engine tiles: what their events become.

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

TEST_CASE("tiles: kernels from the marks of whole events, too") {
  const auto whole = [](std::string_view name, int ts) {
    return fmt::format(R"({{"name":"{}","ts":{},"dur":1,"ph":"X","pid":0,"tid":1}},)", name, ts);
  };
  Ingested index(core(whole("INSTR_EVENT_0", 0) + whole("INSTR_EVENT_1", 99)));
  CHECK(index.rows(kKernels) == "INSTR_EVENT_0..INSTR_EVENT_1 tile2,1 0 100");
  CHECK(index.rows(kSlices) == "INSTR_EVENT_0 0 1; INSTR_EVENT_1 99 1");
  CHECK(index.result().events_stored == 2);
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

}  // namespace
}  // namespace tracedb
