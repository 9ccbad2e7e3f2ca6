#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.h"
#include "index/index.h"
#include "index/validity.h"
#include "support/failing_vfs.h"
#include "support/ingested.h"
#include "support/places.h"
#include "support/salvaged.h"
#include "support/small_index.h"

namespace tracedb {
namespace {

// Damage of every kind at every byte of a small trace: at most the damaged event and one neighbour are lost, there is
// an issue, and the outcome does not depend on how the trace was cut into chunks.

enum class Layout { kKineto, kMinified, kArray };
constexpr int kEvents = 9;

struct Trace {
  std::string text;
  std::vector<std::size_t> ends;  // position behind each event
  std::size_t first = 0;          // position of the first event
};

std::string without_space(std::string_view text) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') out += text[i++];
    if (text[i] == '"' && text[i - 1] != '\\') in_string = !in_string;
    if (in_string || (text[i] != ' ' && text[i] != '\n')) out += text[i];
  }
  return out;
}

Trace traced(Layout layout) {
  Trace trace;
  trace.text = layout == Layout::kArray ? "[" : R"({"schemaVersion": 1, "traceEvents": [)";
  trace.first = trace.text.size();
  for (int i = 1; i <= kEvents; ++i) {
    trace.text += layout == Layout::kMinified ? without_space(event(i)) : event(i);
    trace.ends.push_back(trace.text.size());
    if (i < kEvents) trace.text += ',';
  }
  trace.text += layout == Layout::kArray ? "\n]\n" : "\n], \"traceName\": \"x.json\", \"n\": [1, {\"a\": 2}]}\n";
  return trace;
}

// The times of the events that must be there whatever became of the bytes [begin, end) and those beside them.
std::vector<std::int64_t> must_survive(const Trace& trace, std::size_t begin, std::size_t end) {
  std::vector<std::int64_t> out;
  std::size_t start = trace.first;
  for (std::size_t i = 0; i < trace.ends.size(); ++i) {
    if (trace.ends[i] < begin || start > end) out.push_back(static_cast<std::int64_t>(i) + 1);
    start = trace.ends[i] + 1;
  }
  return out;
}

// Where a piece was cut out, what is left of two events may make a sound one.
enum class Trail { kIssue, kMayBeNone };

void check_damage(const Trace& trace, const std::string& damaged, std::size_t begin, std::size_t end,
                  Trail trail = Trail::kIssue) {
  const Salvaged result = salvage(damaged, 8192);
  const std::vector<std::int64_t> expected = must_survive(trace, begin, end);
  const std::size_t touched = trace.ends.size() - expected.size();
  const bool all_there = std::includes(result.times.begin(), result.times.end(), expected.begin(), expected.end());
  // One neighbour of the damage may go.
  std::size_t missing = 0;
  for (int i = 1; i <= kEvents; ++i) missing += std::count(result.times.begin(), result.times.end(), i) == 0 ? 1 : 0;
  const bool told = result.times.size() >= kEvents || trail == Trail::kMayBeNone || !result.issues.empty();
  const bool sound = (all_there || missing <= touched + 1) && told &&
                     result.read - result.skipped == result.times.size() && salvage(damaged, 64) == result;
  if (sound) return;
  CAPTURE(begin);
  CAPTURE(damaged.substr(begin < 60 ? 0 : begin - 60, 80));
  CAPTURE(damaged.substr(std::min(end, damaged.size()), 80));
  CAPTURE(result.issues);
  CAPTURE(fmt::format("{}", fmt::join(result.times, " ")));
  CHECK(all_there);
  CHECK(missing <= touched + 1);
  CHECK(told);
  CHECK(result.read - result.skipped == result.times.size());
  CHECK(salvage(damaged, 64) == result);
}

constexpr Layout kLayouts[] = {Layout::kKineto, Layout::kMinified, Layout::kArray};

TEST_CASE("the traces themselves are sound") {
  for (const Layout layout : kLayouts) {
    const Salvaged whole = salvage(traced(layout).text, 64);
    CHECK(whole.times.size() == kEvents);
    CHECK(whole.issues.empty());
    CHECK(whole.complete);
  }
}

TEST_CASE("one character too many, missing or another, at every byte") {
  const std::vector<std::string> extras = {"\"", "{", "}", "[", "]", ",", ":", "\\", "\n", "\"\"", "},{"};
  const std::vector<std::string> others = {"", std::string(1, '\0'), "\"", "{", "}", "]", "x"};
  for (const Layout layout : kLayouts) {
    const Trace trace = traced(layout);
    for (const std::size_t replaced : {0U, 1U}) {
      std::size_t round = 0;
      for (const std::string& text : replaced == 0 ? extras : others) {
        for (const std::size_t at : places(trace.first, trace.ends.back() + 1 - replaced, round++)) {
          std::string damaged = trace.text;
          damaged.replace(at, replaced, text);
          check_damage(trace, damaged, at, at + replaced);
        }
      }
    }
  }
}

TEST_CASE("a piece missing or overwritten in the middle") {
  for (const Layout layout : kLayouts) {
    const Trace trace = traced(layout);
    std::size_t round = 0;
    for (const std::size_t size : {5U, 90U, 400U}) {
      for (const std::size_t third : places(0, (trace.ends.back() - size - trace.first + 2) / 3, round++)) {
        const std::size_t at = trace.first + 3 * third;
        std::string damaged = trace.text;
        damaged.replace(at, size, size, '\0');
        check_damage(trace, damaged, at, at + size);
        damaged = trace.text;
        damaged.erase(at, size);
        check_damage(trace, damaged, at, at + size, Trail::kMayBeNone);
      }
    }
  }
}

TEST_CASE("damage in the last event leaves the end of the trace known") {
  const Trace trace = traced(Layout::kKineto);
  const std::size_t last = trace.ends[kEvents - 2] + 15;
  for (const std::string_view extra : {"\"", "{", "["}) {
    std::string damaged = trace.text;
    damaged.insert(last, extra);
    const Salvaged result = salvage(damaged, 64);
    CHECK(result.times.size() >= kEvents - 1);
    CHECK_FALSE(result.issues.empty());
    CHECK(result.header == "schemaVersion;traceName;n;");
    CHECK(result.complete);
  }
}

TEST_CASE("damage before the events: they are found") {
  const Trace trace = traced(Layout::kKineto);
  const std::string_view key = "\"traceEvents\"";
  for (const std::string_view extra : {"\"", "}", "]", "x\"", "\"\""}) {
    for (std::size_t at = 1; at <= trace.text.find(key); ++at) {
      std::string damaged = trace.text;
      damaged.insert(at, extra);
      CAPTURE(damaged.substr(0, 50));
      if (at == 1 && extra != "\"\"" && extra != "\"") continue;  // {} or no trace at all
      const Salvaged result = salvage(damaged, 8192);
      CHECK(result.times.size() == kEvents);
      CHECK(result == salvage(damaged, 64));
    }
  }
}

TEST_CASE("damage in events beyond what is looked through at once") {
  const JsonLimits limits{4000, 4000};
  std::string text = "[" + event(1) + ",{\"ph\":\"X\", \"na\"me\":\"" + std::string(20000, 'x');
  text += "\"}," + event(2) + "," + event(3) + "]";
  const Salvaged result = salvage(text, 64, limits);
  CHECK(result.times == std::vector<std::int64_t>{1, 2, 3});
  CHECK(result.issues.starts_with("oversized_event 1 @"));
  CHECK(result == salvage(text, 5000, limits));
  CHECK(result.complete);
}

TEST_CASE("an event that never closes, large ones, and large ones that are sound") {
  const std::string list = std::string(70000, ' ') + "1";
  for (const std::string& middle : {"{\"ph\":\"X\",\"args\":{\"a\":[" + list + "]}",
                                    "{\"ph\":\"X\",\"a\":[" + list + "}}", "{\"ph\":\"X\" \"a\":[" + list + "]}"}) {
    const std::string text = "[" + event(1) + "," + middle + "," + event(2) + "," + event(3) + "]";
    const Salvaged result = salvage(text, 1U << 20U);
    CHECK(result.times == std::vector<std::int64_t>{1, 2, 3});
    CHECK(result.issues.starts_with("malformed_event 1 @"));
    for (const std::size_t size : {64U, 1000U, 65536U, 70000U}) CHECK(salvage(text, size) == result);
  }
  const std::string nested = "{\"ph\":\"X\",\"ts\":5,\"args\":{\"a\":[{\"ph\":\"X\"},{\"ph\":\"X\"}," + list + "]}}";
  const std::string sound = "[" + event(1) + "," + nested + "," + nested + "]";
  for (const std::size_t size : {64U, 1000U, 65536U, 70000U, 1U << 20U}) {
    const Salvaged result = salvage(sound, size);
    CHECK(result.times == std::vector<std::int64_t>{1, 5, 5});
    CHECK(result.issues.find("malformed") == std::string::npos);
  }
}

// Damage around the events: garbage before a trace, a header that is broken anywhere, and runs of broken events. No
// whole event is lost, broken ones are counted one by one, and the outcome does not depend on how the trace was cut.

constexpr int kDamagedEvents = 9;

std::string events_text() {
  std::string text;
  for (int i = 1; i <= kDamagedEvents; ++i) text += (i > 1 ? "," : "") + event(i);
  return text;
}

const std::string kHeader = R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A", "x": {"y": [1, "]}"]}},
  {"id": 1}], "distributedInfo": {"rank": 3, "g": [{}, []]}, "b": "t\"{", "baseTimeNanoseconds": 17, )";

TEST_CASE("any byte of the header is another one, missing, or one too many") {
  const std::string text = kHeader + "\"traceEvents\": [" + events_text() + "\n], \"traceName\": \"x\"}\n";
  const std::size_t list = text.find("[\n");
  std::size_t round = 0;
  for (const std::string_view other : {" ", "", "x", "\"", "{", "}", "[", "]", ",", ":", "\\", "\xff"}) {
    for (const std::size_t at : places(0, list + 1, round++)) {
      for (const std::size_t size : {0U, 1U}) {
        std::string damaged = text;
        damaged.replace(at, size, other);
        const Salvaged result = salvage(damaged, 8192);
        if (result.times.size() == kDamagedEvents && (at % 7 != 0 || salvage(damaged, 64) == result)) continue;
        CAPTURE(damaged.substr(at < 40 ? 0 : at - 40, 80));
        CAPTURE(result.issues);
        CHECK(result.times.size() == kDamagedEvents);
        CHECK(salvage(damaged, 64) == result);
      }
    }
  }
}

TEST_CASE("a hole anywhere in the head: whole events survive") {
  const std::string text = kHeader + "\"traceEvents\": [" + events_text() + "]}";
  for (const std::size_t size : {40U, 512U}) {
    for (std::size_t at = 0; at + size < text.size() / 2; at += 5) {
      std::string damaged = text;
      damaged.replace(at, size, size, '\0');
      std::vector<std::int64_t> whole;
      for (int i = 1; i <= kDamagedEvents; ++i) {
        if (damaged.find(event(i)) != std::string::npos) whole.push_back(i);
      }
      const Salvaged result = salvage(damaged, 8192);
      CAPTURE(at);
      CAPTURE(result.issues);
      CHECK(std::includes(result.times.begin(), result.times.end(), whole.begin(), whole.end()));
      CHECK_FALSE(result.issues.empty());
      CHECK(salvage(damaged, 64) == result);
    }
  }
}

TEST_CASE("behind a broken value the rest of the header is kept") {
  const std::string rest = "\"traceEvents\": [" + events_text() + "], \"traceName\": \"x\"}";
  const auto header = [&](const std::string& begin) { return salvage(begin + rest, 64).header; };
  CHECK(header(R"({"a": 1, "d": [{"id": 0} , "b": {"c": 2}, )") == "a;b;traceName;");
  CHECK(header(R"({"a": 1, "d": {"id": "x"y", "z": 1}, "b": 2, )") == "a;b;traceName;");
  CHECK(header(R"("a": 1, "b": 2, )") == "b;traceName;");
  CHECK(header(R"(x{"a": 1, "b": 2, )") == "a;b;traceName;");
  CHECK(header(R"({"a": tr ue, )") == "traceName;");
  CHECK(salvage("{" + rest.substr(0, rest.size() - 5) + " y\", \"z\": [1], \"w\": 3}", 64).header == "z;w;");
}

TEST_CASE("events are read wherever a bracket or the key of their list is damaged") {
  const std::string list = events_text() + "], \"traceName\": \"x\"}";
  for (const std::string begin :
       {"{\"traceEventz\": [", "{\"schemaVersion\": 1, \"traceEvents\":  ", "{\"a\": {\"b\": 1, \"traceEvents\": [",
        "{\"a\": [1, \"traceEvents\": [", "[{\"traceEvents\": [", "{{\"traceEvents\": [", "x", " ", "]["}) {
    CAPTURE(begin);
    const Salvaged result = salvage(begin + list, 8192);
    CHECK(result.times.size() == kDamagedEvents);
    CHECK_FALSE(result.issues.empty());
    CHECK(salvage(begin + list, 64) == result);
  }
}

TEST_CASE("broken events side by side are each repaired, and counted") {
  std::string text = "[";
  for (int i = 1; i <= 400; ++i) {
    std::string broken = event(i);
    broken.insert(broken.find("\"name\"") + 9, i % 4 == 0 ? "\": " : "\"");
    text += (i > 1 ? "," : "") + broken;
  }
  text += "]";
  const Salvaged result = salvage(text, 8192);
  CHECK(result.read == 400);
  CHECK(result.times.size() == 300);
  CHECK(result.issues.find("repaired_text 300 @") != std::string::npos);
  CHECK(result.issues.find("malformed_event 100 @") != std::string::npos);
  CHECK(result.complete);
  for (const std::size_t size : {64U, 5000U, 1U << 20U}) CHECK(salvage(text, size) == result);
}

TEST_CASE("lists of objects in a broken event are no events") {
  const std::string broken =
      R"({"name": "a"b", "args": {"l": [{"name": 1}, {"name": 2}, {"name": "x"}]}, "ph": "X", "ts": 5, "dur": 1})";
  const Salvaged result = salvage("[" + broken + "," + broken + "," + event(6) + "]", 64);
  CHECK(result.times == std::vector<std::int64_t>{5, 5, 6});
  CHECK(result.issues.starts_with("repaired_text 2 @"));
}

TEST_CASE("events without commas between them cost little") {
  std::string text = "[";
  for (int i = 1; i <= 20'000; ++i) text += event(i);
  const Salvaged result = salvage(text + "]", 1U << 20U);
  CHECK(result.times.size() == 20'000);
  CHECK(result.issues.find("missing_comma 19999 @") != std::string::npos);
}

// SQLite's own calls fail one after the other, until an index is written, or new times are noted in one.

std::string small_trace() {
  std::string events;
  for (int i = 0; i < 200; ++i) {
    events += event("kernel", fmt::format("kernel_{}", i), kGpuStream, std::to_string(10 * i), "3",
                    fmt::format(R"("stream":7,"correlation":{})", i));
    events += event("cpu_op", fmt::format("aten::op_{}", i), kMainThread, std::to_string(10 * i), "3");
  }
  return trace_of(events);
}

// The exit code of an ingest; 0: done.
int outcome(const std::filesystem::path& trace, const std::filesystem::path& index) {
  const auto failed = catch_error([&] { ingest_trace(trace, index, Ingested::small_options()); });
  if (!failed) return 0;
  CHECK(std::string_view(failed->what()).find('\n') == std::string_view::npos);
  return static_cast<int>(failed->code());
}

// How often an ingest failed before one got through, where each call fails in turn, or one of test_stride(). There are
// few calls of most kinds: of these the first fails (round 0).
std::size_t failures(VfsCall call, int code, std::size_t round = 0) {
  const TempDirectory directory;
  const auto trace = directory.write("t.json", small_trace());
  const auto index = directory.write("index", "the old one");
  std::size_t failed = 0;
  for (const std::size_t at : places(1, 1000, round)) {
    INFO("call " << at);
    const FailingVfs vfs(call, static_cast<int>(at), code);
    const int result = outcome(trace, index);
    if (!vfs.failed()) {
      CHECK(result == 0);
      return failed;
    }
    ++failed;
    CHECK(result == static_cast<int>(ErrorCode::kResource));
    CHECK(bytes_of(index) == "the old one");
    CHECK(directory.files().size() == 2);
  }
  FAIL("never through");
  return failed;
}

TEST_CASE("whatever call of SQLite fails, the old index stays and nothing else") {
  const std::size_t stride = test_stride();
  CHECK(failures(VfsCall::kOpen, SQLITE_CANTOPEN) > 1 / stride);
  CHECK(failures(VfsCall::kWrite, SQLITE_FULL) > 10 / stride);
  CHECK(failures(VfsCall::kWrite, SQLITE_IOERR_WRITE, 1) > 10 / stride);
  CHECK(failures(VfsCall::kRead, SQLITE_IOERR_READ) > 1 / stride);
  CHECK(failures(VfsCall::kRead, SQLITE_IOERR_NOMEM) > 1 / stride);
  // Nothing of an unfinished file is synced, shortened or journalled by SQLite: see index_writer.cc.
  CHECK(failures(VfsCall::kSync, SQLITE_IOERR_FSYNC) == 0);
  CHECK(failures(VfsCall::kTruncate, SQLITE_IOERR_TRUNCATE) == 0);
  CHECK(failures(VfsCall::kDelete, SQLITE_IOERR_DELETE) == 0);
}

TEST_CASE("new times are noted wholly or not at all, whatever call fails") {
  for (const VfsCall call : {VfsCall::kOpen, VfsCall::kRead, VfsCall::kWrite, VfsCall::kSync, VfsCall::kDelete}) {
    for (int at = 1, failed = 1; failed != 0; ++at) {
      REQUIRE(at < 100);
      const TempDirectory directory;
      const auto path = directory / "index";
      write_small_index(path);
      change_by_sql(path, "INSERT INTO meta VALUES ('source_inode', '1'), ('source_mtime_ns', '1')");
      const Index index = Index::open(path);
      bool noted = false;
      {
        const FailingVfs vfs(call, at, SQLITE_IOERR);
        noted = refresh_stat(index, {.inode = 2, .modified_ns = 2}, {1'700'000'000, 0});
        failed = vfs.failed() ? 1 : 0;
      }
      INFO("kind " << static_cast<int>(call) << ", call " << at);
      CHECK((noted || failed != 0));
      CHECK(directory.files().size() == 1);
      const Index after = Index::open(path);
      for (const char* key : {"source_inode", "source_mtime_ns"}) CHECK(after.meta(key) == (noted ? "2" : "1"));
      CHECK(after.database().query_text("PRAGMA integrity_check") == "ok");
    }
  }
}

// The same trace written with other white space is the same index.

enum class Around { kBefore, kBehind, kBoth };

// `json` with `space` before or behind every value, key and bracket that is not inside a string.
std::string spaced(std::string_view json, std::string_view space, Around around) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\') {
      out.append(json.substr(i++, 2));
      continue;
    }
    if (c == '"') in_string = !in_string;
    const bool separates = !in_string && std::string_view("[]{},:").find(c) != std::string_view::npos;
    if (separates && around != Around::kBefore) out += space;
    out += c;
    if (separates && around != Around::kBehind) out += space;
  }
  return out;
}

// Every argument that ingest looks at, with every kind of value that it may have.
std::string trace_of_all_arguments() {
  const std::string events =
      event("kernel", "first", kGpuStream, "10", "5",
            R"("grid":[256,1,2],"block":[256,5,6],"registers per thread":32,"shared memory":1024,"blocks per SM":1.5,)"
            R"("warps per SM":8.25,"est. achieved occupancy %":50,"device":0,"stream":7,"correlation":3,)"
            R"x("External id":4,"graph id":5,"graph node id":6,"memory bandwidth (GB/s)":1.25,)x"
            R"("theoretical occupancy %":75)") +
      event("kernel", "second", kGpuStream, "20", "5.0004",
            R"("block":[256,5,7],"grid":[256.0,"1",2],"device":"0","stream":"stream 7","correlation":"3")") +
      event("kernel", "ncclKernel", kGpuStream, "30", "5",
            R"("Collective name":"allreduce","In msg nelems":10,"Out msg nelems":20,"Group size":4,"dtype":"Float",)"
            R"("Process Group Name":"0","Process Group Description":"default pg","Seq":9,"Comms Id":77,)"
            R"("Process Group Ranks":[0,1,2,3],"block":[1,2,3])") +
      event("gpu_memcpy", "Memcpy", kGpuStream, "40", "5",
            R"x("bytes":4096,"memory bandwidth (GB/s)":0.8,"kind":"Host -> Device","device":0,"stream":7)x") +
      event("cpu_op", "aten::mm", kMainThread, "5", "4",
            R"("External id":4,"Sequence number":2,"Input Dims":[[1,2],[3],[]],"Input type":["a, b","c"],)"
            R"("Input Strides":[[2,1],[1],[]],"Concrete Inputs":["","[ 1, 2 ]"])") +
      event("cuda_runtime", "cudaLaunchKernel", kMainThread, "6", "1", R"("correlation":3,"External id":4)") +
      event("python_function", "a.py(1): f", kMainThread, "1", "20", R"("Python id":1,"Python parent id":null)") +
      event("python_function", "nn.Module: M_0", kMainThread, "2", "18", R"("Python id":2,"Python parent id":1)") +
      R"({"ph":"M","name":"process_name","pid":100,"tid":0,"args":{"name":"python"}},)"
      R"({"ph":"M","name":"process_labels","pid":100,"tid":0,"args":{"labels":"GPU 0"}},)"
      R"({"ph":"M","name":"process_sort_index","pid":100,"tid":0,"args":{"sort_index":5}},)"
      R"({"ph":"C","name":"c","pid":100,"tid":0,"ts":3,"args":{"a":1,"b":2.5}},)"
      R"({"ph":"i","name":"[memory]","pid":100,"tid":1,"ts":4,"args":{"Bytes":-512}},)"
      R"({"ph":"b","cat":"x","name":"n","id2":{"local":"0x1"},"pid":100,"tid":1,"ts":5,"args":{}},)"
      R"({"ph":"e","cat":"x","name":"n","id2":{"local":"0x1"},"pid":100,"tid":1,"ts":6,"args":{}},)"
      R"({"ph":"s","cat":"ac2g","name":"ac2g","id":8,"pid":100,"tid":1,"ts":6})";
  return R"({"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":3,"world_size":4},"deviceProperties":)"
         R"([{"id":0,"name":"AMD Instinct MI300X","computeMajor":9,"computeMinor":4,"warpSize":64,"numSms":304}],)"
         R"("traceEvents":[)" +
         events + "]}";
}

// All tables but what tells the file from another one.
std::vector<std::string> tables(std::string_view trace) {
  IngestOptions options = Ingested::small_options();
  options.events.arguments = EventArguments::kKeep;
  Ingested index(trace, options);
  std::vector<std::string> out;
  const std::string names = index.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find("; ", at), names.size());
    const std::string name = names.substr(at, end - at);
    const bool is_meta = name == "meta";
    const bool is_issue = name == "issue";
    out.push_back(name + ": " +
                  index.rows(is_meta    ? "SELECT * FROM meta WHERE key NOT GLOB 'source_*'"
                             : is_issue ? "SELECT kind, severity, count, sample FROM issue"
                                        : "SELECT * FROM " + name));
    at = end + 2;
  }
  return out;
}

TEST_CASE("white space around the values of a trace changes no table of its index") {
  const std::string trace = trace_of_all_arguments();
  const std::vector<std::string> expected = tables(trace);
  REQUIRE(expected.size() > 20);
  for (const std::string_view space : {" ", "\t", "\r", "\n", "\r\n \t"}) {
    for (const Around around : {Around::kBefore, Around::kBehind, Around::kBoth}) {
      CAPTURE(space);
      CAPTURE(static_cast<int>(around));
      CHECK(tables(spaced(trace, space, around)) == expected);
    }
  }
}

TEST_CASE("lists behind which white space follows are read whole") {
  const std::string arguments = "\"grid\":[ 256,\n1 , 2]\n,\"block\": [256,5,6]\n";
  const std::string collective = "\"Process Group Ranks\": [0, 1]\n\t,\"Collective name\":\"allreduce\"\n";
  Ingested index(trace_of(event("kernel", "a", kGpuStream, "1", "1", arguments) +
                          event("kernel", "b", kGpuStream, "3", "1", "\"block\":[256,5,7]\r\n") +
                          event("kernel", "c", kGpuStream, "5", "1", collective)));
  CHECK(index.rows("SELECT grid_x, grid_y, grid_z, block_x, block_y, block_z FROM launch_config") ==
        "256 1 2 256 5 6; - - - 256 5 7");
  CHECK(index.rows("SELECT ranks FROM collective") == "[0,1]");
}

}  // namespace
}  // namespace tracedb
