#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/unknown.h"
#include "ingest/kineto/chunk_parser.h"
#include "ingest/kineto/event_fields.h"
#include "ingest/kineto/event_shapes.h"
#include "ingest/kineto/kineto_events.h"
#include "support/cases.h"
#include "support/parsed_events.h"
#include "support/rows.h"
#include "trace/event_names.h"

namespace tracedb {
namespace {

const char* const kGood = R"({"ph":"X","cat":"cpu_op","name":"good","pid":1,"tid":1,"ts":1,"dur":1})";

// An event between two good ones, which must survive it.
EventBatch between_good(const std::string& event) {
  EventBatch batch = parse_events(std::string(kGood) + ",\n" + event + "," + kGood);
  std::size_t good = 0;
  for (const OperatorRecord& op : batch.operators) good += text_of(batch, op.name) == "good" ? 1 : 0;
  CHECK(good == 2);
  CHECK(events_read(batch) == 3);
  return batch;
}

std::string text_of(const TrackKey& key) {
  return key.number == kUnknownValue ? fmt::format("'{}'", key.text) : std::to_string(key.number);
}
std::string text_of(const TrackDefinition& track) { return text_of(track.owner) + "/" + text_of(track.track); }

// "0/7 'GPU A'/'compute'": a stream's device and number, a thread's process and number.
std::string streams_of(const EventBatch& batch) {
  std::string out;
  for (const StreamDefinition& stream : batch.streams) out += (out.empty() ? "" : " ") + text_of(stream.stream);
  return out;
}
std::string threads_of(const EventBatch& batch) {
  std::string out;
  for (const TrackDefinition& thread : batch.threads) out += (out.empty() ? "" : " ") + text_of(thread);
  return out;
}

TEST_CASE("numbers that are none become unknown, the event stays") {
  for (const std::string number : {"NaN", "Infinity", "-inf", "N/A", "1e400", "\"\"", "\"N/A\"", "[1]", "true"}) {
    CAPTURE(number);
    const EventBatch batch =
        between_good(R"({"ph":"X","cat":"kernel","name":"k","pid":1,"tid":1,"ts":5,"dur":)" + number +
                     R"(,"args":{"correlation":)" + number + R"(,"blocks per SM":)" + number + "}}");
    REQUIRE(batch.device_events.size() == 1);
    CHECK(batch.device_events[0].ts == 5000);
    CHECK(batch.device_events[0].dur == kUnknownValue);
    CHECK(batch.device_events[0].correlation == kUnknownValue);
    CHECK(batch.issues.count(IssueKind::kBadDuration) == 1);
    CHECK(batch.issues.count(IssueKind::kBadNumber) == 1);
  }
}

TEST_CASE("durations: missing, null, negative, zero, exponent") {
  const auto dur = [](const std::string& member) {
    const EventBatch batch = between_good(R"({"ph":"X","name":"s","pid":1,"tid":1,"ts":5)" + member + "}");
    REQUIRE(batch.slices.size() == 1);
    const auto& issues = batch.issues.issues();
    return std::pair(batch.slices[0].dur, issues.empty() ? "" : std::string(describe(issues[0].kind).name));
  };
  CHECK(dur("") == std::pair(kUnknownValue, std::string("missing_duration")));
  CHECK(dur(R"(,"dur":null)") == std::pair(kUnknownValue, std::string("missing_duration")));
  CHECK(dur(R"(,"dur":-1)") == std::pair(kUnknownValue, std::string("negative_duration")));
  CHECK(dur(R"(,"dur":0)") == std::pair(std::int64_t{0}, std::string()));
  CHECK(dur(R"(,"dur":"1.5")") == std::pair(std::int64_t{1500}, std::string()));
  CHECK(dur(R"(,"dur":1.5e3)") == std::pair(std::int64_t{1500000}, std::string()));
}

TEST_CASE("an event without a usable time is counted and skipped") {
  for (const std::string time : {"", R"(,"ts":null)", R"(,"ts":NaN)", R"(,"ts":"soon")", R"(,"ts":1e30)"}) {
    CAPTURE(time);
    const EventBatch batch =
        between_good(R"({"ph":"X","cat":"kernel","name":"k","pid":1,"tid":1,"dur":1)" + time + "}");
    CHECK(batch.device_events.empty());
    CHECK(skipped(batch, SkipReason::kNoTimestamp) == 1);
    CHECK(batch.issues.count(IssueKind::kMissingTimestamp) + batch.issues.count(IssueKind::kBadTimestamp) == 1);
  }
}

TEST_CASE("an event without a name, phase or any field") {
  CHECK(between_good(R"({"ph":"X","pid":1,"tid":1,"ts":1,"dur":1})").issues.count(IssueKind::kMissingName) == 1);
  CHECK(between_good(R"({"ph":"X","name":7,"pid":1,"tid":1,"ts":1,"dur":1})").issues.count(IssueKind::kMissingName) ==
        1);
  for (const char* event :
       {"{}", R"({"ph":"Q","ts":1})", R"({"ph":5,"ts":1})", R"({"ph":"XX","ts":1})", R"({"ph":"","ts":1})"}) {
    CAPTURE(event);
    const EventBatch batch = between_good(event);
    CHECK(skipped(batch, SkipReason::kUnsupportedPhase) == 1);
    CHECK(batch.issues.count(IssueKind::kUnsupportedPhase) == 1);
  }
}

TEST_CASE("the last of duplicate keys wins") {
  const EventBatch batch =
      parse_events(R"({"ph":"B","ph":"X","cat":"cpu_op","cat":"kernel","name":"a","name":"b","pid":1,
    "tid":1,"ts":1,"ts":2,"dur":1,"args":{"stream":5},"args":{"correlation":1,"correlation":2,"stream":3,"stream":4}})");
  REQUIRE(batch.device_events.size() == 1);
  const DeviceRecord& kernel = batch.device_events[0];
  CHECK(as_row(text_of(batch, kernel.name), kernel.ts, kernel.correlation, streams_of(batch)) == "b 2000 2 1/4");
}

TEST_CASE("repeated args replace the earlier ones whole") {
  const EventBatch batch = parse_events(R"(
    {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1,"dur":1,"args":{"correlation":1,"grid":[1,1,1]},
     "args":{"device":2,"stream":9}},
    {"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":1,"dur":1,"args":{"correlation":1},"args":null},
    {"ph":"X","cat":"kernel","name":"c","pid":0,"tid":7,"ts":1,"dur":1,"args":{"correlation":1}})");
  REQUIRE(batch.device_events.size() == 3);
  for (const std::size_t replaced : {0U, 1U}) CHECK(batch.device_events[replaced].correlation == kUnknownValue);
  CHECK(batch.device_events[0].config == 0);
  CHECK(as_row(batch.device_events[2].correlation, streams_of(batch)) == "1 2/9 0/7");
}

TEST_CASE("keys written with escapes are the same keys") {
  const EventBatch batch = parse_events(R"(
    {"ph":"X","c\u0061t":"kernel","n\u0061me":"esc","pid":0,"tid":7,"ts":1,"dur":1,
     "\u0061rgs":{"str\u0065am":9,"\u0063orrelation":3}})");
  REQUIRE(batch.device_events.size() == 1);
  CHECK(as_row(text_of(batch, batch.device_events[0].name), batch.device_events[0].correlation, streams_of(batch)) ==
        "esc 3 0/9");
}

TEST_CASE("keys in any order, args of any type") {
  for (const std::string args : {"null", "[]", "\"x\"", "5", "{}"}) {
    const EventBatch batch =
        between_good("{\"args\":" + args + R"(,"dur":1,"ts":2,"tid":1,"pid":1,"name":"k","cat":"kernel","ph":"X"})");
    CHECK(batch.device_events.size() == 1);
    CHECK(batch.issues.issues().empty());
  }
}

TEST_CASE("elements that are no events are counted") {
  for (const char* element : {"null", "5", "-1.5", "true", "\"text\"", "[1,{\"ph\":\"X\"}]", "[]"}) {
    CAPTURE(element);
    const EventBatch batch = between_good(element);
    CHECK(skipped(batch, SkipReason::kNotAnObject) == 1);
    REQUIRE(batch.issues.count(IssueKind::kNotAnObject) == 1);
    CHECK(batch.issues.issues()[0].offset == 1 + static_cast<std::int64_t>(std::string_view(kGood).size()) + 2);
  }
}

TEST_CASE("broken text is repaired") {
  const auto named = [](const std::string& name) {
    const EventBatch batch = between_good(R"({"ph":"X","name":")" + name + R"(","pid":1,"tid":1,"ts":1,"dur":1})");
    CHECK(batch.issues.count(IssueKind::kRepairedText) == 1);
    REQUIRE(batch.slices.size() == 1);
    return text_of(batch, batch.slices[0].name);
  };
  CHECK(named("a\x01z") == "a\x01z");
  CHECK(named("a\nz") == "a\nz");
  CHECK(named("a\xFFz") == "a\xEF\xBF\xBDz");
  CHECK(named("a\xC3") == "a\xEF\xBF\xBD");
  CHECK(named("\xED\xA0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("what cannot be stored is replaced, for every event that has it") {
  const std::string event = R"({"ph":"X","name":"a\u0000\ud800","pid":1,"tid":1,"ts":1,"dur":1})";
  const EventBatch batch = parse_events(event + "," + event + "," + kGood);
  CHECK(text_of(batch, batch.slices.at(0).name) == "a\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(batch.issues.count(IssueKind::kReplacedCharacter) == 2);
}

TEST_CASE("what cannot be repaired is skipped alone") {
  for (const std::string event :
       {R"({"ph":"X" "name":"n"})", "{5}", R"({"ph":"X","args":{"grid" [1]}})", R"({"ph"})", R"({"ph":"X","ts":1])"}) {
    CAPTURE(event);
    const EventBatch batch = between_good(event);
    CHECK(skipped(batch, SkipReason::kMalformed) == 1);
    CHECK(batch.issues.count(IssueKind::kMalformedEvent) == 1);
  }
}

TEST_CASE("two events without a comma between them are not taken for one") {
  const EventBatch batch = parse_events(std::string(kGood) + " " + kGood);
  CHECK(batch.issues.count(IssueKind::kMissingComma) == 1);
  CHECK(batch.operators.size() == 2);
  CHECK(events_read(batch) == 2);
}

TEST_CASE("an object with a phase inside an event is no event, also where a comma is missing") {
  const EventBatch batch = parse_events(
      R"({"ph":"i","name":"a","ts":1,"args":{"inner":{"ph":"i","ts":2}}} {"ph":"i","name":"b","ts":3,"args":{"x":[{"ph":"i"}]}})");
  CHECK(batch.instants.size() == 2);
  CHECK(events_read(batch) == 2);
  CHECK(batch.issues.count(IssueKind::kMissingComma) == 1);
  CHECK(batch.issues.issues().size() == 1);
}

TEST_CASE("texts of what is skipped are not numbered") {
  const EventBatch batch =
      parse_events(R"({"ph":"X","cat":"lost","name":"gone","pid":8,"tid":8,"ts":1,"dur":1,"args":{"grid" [1]}},)" +
                   std::string(kGood));
  CHECK(batch.issues.count(IssueKind::kMalformedEvent) == 1);
  CHECK(batch.threads.size() == 1);
  for (const std::string& text : batch.strings) CHECK((text != "lost" && text != "gone"));
  REQUIRE(batch.operators.size() == 1);
  CHECK(batch.operators[0].name <= batch.strings.size());
}

TEST_CASE("the sample of an element that is no event is all of it") {
  for (const std::string neighbour : {"", "{5}"}) {  // alone, and where the chunk is read element by element
    const EventBatch batch = parse_events("[[1,2] ,3] ," + (neighbour.empty() ? kGood : neighbour));
    REQUIRE(batch.issues.count(IssueKind::kNotAnObject) == 1);
    CHECK(batch.issues.issues()[0].sample == "[[1,2] ,3]");
  }
}

TEST_CASE("commas without an event") {
  const EventBatch batch = parse_events(std::string(",") + kGood + ", ," + kGood);
  CHECK(batch.operators.size() == 2);
  CHECK(batch.issues.count(IssueKind::kStrayComma) == 2);
  CHECK(batch.issues.issues()[0].offset == 1);
  CHECK(events_read(batch) == 2);
  for (const char* empty : {"", " \n"}) CHECK(parse_events(empty).issues.issues().empty());
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);) out.push_back(part);
  return out;
}

TEST_CASE("every key of an event and its arguments is known") {
  // In the order of EventField, each with its other spellings.
  constexpr std::string_view kKeys =
      "ph|cat|name|pid|tid|ts|dur|id|id2|scope|args|External id,external id|correlation|stream|device|grid|block|"
      "registers per thread|shared memory|blocks per SM|warps per SM|est. achieved occupancy %|"
      "theoretical occupancy %|bytes,Bytes|memory bandwidth (GB/s)|graph id|graph node id|Python id|"
      "Python parent id|Sequence number|Fwd thread id|Input Dims,Input dims|Input type|Input Strides|"
      "Concrete Inputs|Collective name|In msg nelems|Out msg nelems|Group size|dtype|Process Group Name|"
      "Process Group Description|Process Group Ranks|Seq|Comms Id|Src Rank|Dst Rank,dst rank|kind|"
      "kernel_type|connection_id|Task Type,task type|Model Id,model id|count|data_type|Addr|Device Type|Device Id|"
      "Total Allocated|Total Reserved|wait_on_stream|wait_on_cuda_event_record_corr_id|In split size|Out split size|"
      "kernel_hash,kernel_backend";
  std::size_t field = 0;
  for (const std::string& spellings : split(kKeys, '|')) {
    for (const std::string& key : split(spellings, ',')) {
      CAPTURE(key);
      const bool is_argument = static_cast<EventField>(field) > EventField::kArgs;
      CHECK(static_cast<std::size_t>(is_argument ? argument_field(key) : event_field(key)) == field);
    }
    ++field;
  }
  CHECK(field == static_cast<std::size_t>(EventField::kCount));
}

TEST_CASE("keys nobody asks for are no field") {
  check_each(EventField::kCount, event_field, {"", "p", "Ph", "ph ", "cats", "Ev Idx", "s"});
  check_each<std::string>(EventField::kCount, argument_field,
                          {"", "External Id", "gridd", "streams", "Record function id", "args", std::string(32, 'x'),
                           std::string(33, 'x'), std::string(5000, 'x')});
}

TEST_CASE("the last one of repeated keys wins, clear forgets all") {
  EventFields fields;
  CHECK_FALSE(fields.has(EventField::kPh));
  CHECK(fields[EventField::kPh].empty());
  fields.set(EventField::kPh, "\"B\"");
  fields.set(EventField::kPh, "\"X\"");
  fields.set(EventField::kCopyKind, "1");
  CHECK(fields[EventField::kPh] == "\"X\"");
  CHECK(fields.has(EventField::kCopyKind));
  fields.clear();
  CHECK_FALSE(fields.has(EventField::kPh));
  CHECK(fields[EventField::kPh].empty());
  CHECK(fields[EventField::kCopyKind].empty());
}

TEST_CASE("an event is read by the shape of another") {
  const std::string padding(EventShapes::kPadding, ' ');
  const std::string padded = R"({"ph":"X", "name":"a", "ts":1, "args":{"grid":[1,"x"], "w":null}})" + padding;
  const std::string_view learned(padded.data(), padded.size() - padding.size());
  EventFields fields;
  for (const auto& [field, token] : {std::pair(EventField::kPh, "\"X\""),
                                     {EventField::kName, "\"a\""},
                                     {EventField::kTs, "1"},
                                     {EventField::kGrid, "[1,\"x\"]"}}) {
    fields.set(field, token);
  }
  fields.set(EventField::kArgs, learned.substr(learned.find("{\"grid")));
  EventShapes shapes;
  const auto match = [&](std::string_view event) {
    EventFields found;
    const std::size_t size = event.size();
    const std::string text = std::string(event) + padding;
    return shapes.match(std::string_view(text).substr(0, size), found) == 0 ? ""
                                                                            : std::string(found[EventField::kName]);
  };
  CHECK(match(learned).empty());
  shapes.learn(learned, fields);
  CHECK(match(learned) == "\"a\"");
  CHECK(match(R"({"ph":"X", "name":"a \"b\xC3\xA9\\", "ts":-1.5e+3, "args":{"grid":[[2],{"k":[]}], "w":null}})") ==
        R"("a \"b\xC3\xA9\\")");
  // What is kept of a trace does not grow with its events.
  const std::string name(std::size_t{8} << 10U, 'a');
  const std::string large = fmt::format(R"({{"name":"{}"}})", name) + padding;
  const std::string_view event(large.data(), large.size() - padding.size());
  EventFields named;
  named.set(EventField::kName, event.substr(8, name.size() + 2));
  shapes.learn(event, named);
  CHECK(match(event).empty());
}

// Each byte of an event made another one: what the parser says of it must not depend on the event before it, whose
// shape it may have.
TEST_CASE("an event of a known shape is the same as one never seen") {
  const std::string sound =
      R"({"ph": "X", "cat": "cpu_op", "name": "add\"é", "pid": 1, "tid": "t", "ts": 12345678.25, "dur": 4.5e1,)"
      R"( "args": {"External id": 7, "Sequence number": null, "Input Dims": [[2, 3], []], "other": {"a": [1]},)"
      R"( "Input type": ["float", "In\\t"], "Concrete Inputs": ["", "[1]"], "Fwd thread id": -0}})";
  const auto facts = [](const EventBatch& batch) {
    std::string out;
    for (const OperatorRecord& op : batch.operators) {
      out += fmt::format("{} {} {} {} {} {}", op.ts, op.dur, op.external_id, op.sequence_number, op.is_forward,
                         text_of(batch, op.name));
      if (op.shape == 0) continue;
      const ShapeDefinition& shape = batch.shapes[op.shape - 1];
      out += fmt::format(" {} {} {}", shape.dims, shape.types, shape.concrete_inputs);
    }
    for (const CounterRecord& counter : batch.counters) out += fmt::format("counter {}", counter.ts);
    for (const SliceRecord& slice : batch.slices)
      out += fmt::format("slice {} {}", slice.ts, text_of(batch, slice.name));
    return out;
  };
  const auto issues = [](const EventBatch& batch) {
    std::string out;
    for (const Issue& issue : batch.issues.issues()) {
      out += fmt::format("{} {} {}\n", describe(issue.kind).name, issue.count, issue.sample);
    }
    return out;
  };
  const EventBatch first = parse_events(sound);
  REQUIRE(first.operators.size() == 1);
  REQUIRE(first.issues.issues().empty());
  std::size_t stored = 0;
  for (std::size_t at = 0; at < sound.size(); ++at) {
    for (const char c : std::string_view("\"\\{}[]:,. 1e-\n\x01\x80/a")) {
      std::string mutant = sound;
      mutant[at] = c;
      const EventBatch alone = parse_events(mutant);
      const EventBatch behind = parse_events(sound + "," + mutant);
      CAPTURE(mutant);
      if (alone.issues.count(IssueKind::kMalformedEvent) + alone.issues.count(IssueKind::kStrayText) > 0) continue;
      CHECK(facts(behind) == facts(first) + facts(alone));
      CHECK(issues(behind) == issues(alone));
      stored += alone.operators.size();
    }
  }
  CHECK(stored > sound.size());
}

TEST_CASE("a kernel of the new dialect") {
  const EventBatch batch = parse_events(R"({"ph": "X", "cat": "kernel", "name": "k<int>", "pid": 2, "tid": 7,
    "ts": 1709839458013123.456, "dur": 12.5, "args": {"External id": 31, "queued": 0, "device": 2, "context": 1,
    "stream": 9, "correlation": 77, "registers per thread": 32, "shared memory": 1024, "blocks per SM": 0.5,
    "warps per SM": 4.25, "grid": [54, 2, 1], "block": [ 128,1 , 1], "est. achieved occupancy %": 13, "theoretical occupancy %": 75,
    "graph id": 5, "graph node id": 6}})");
  REQUIRE(batch.device_events.size() == 1);
  const DeviceRecord& kernel = batch.device_events[0];
  CHECK(kernel.type == DeviceEventType::kKernel);
  CHECK(as_row(text_of(batch, kernel.name), streams_of(batch), kernel.ts, kernel.dur, kernel.correlation,
               kernel.external_id, kernel.graph_id_or_bytes, kernel.graph_node_id_or_bandwidth, kernel.collective,
               kernel.args) == "k<int> 2/9 1709839458013123456 12500 77 31 5 6 0 0");
  REQUIRE(batch.configs.size() == 1);
  CHECK(fmt::format("{}, {}", batch.configs[0].values, batch.configs[0].rates) ==
        "[54, 2, 1, 128, 1, 1, 32, 1024], [13, 75, 0.5, 4.25]");
  CHECK(batch.first_ts == kernel.ts);
  CHECK(batch.issues.issues().empty());
}

TEST_CASE("the old dialect says the same in other words") {
  const EventBatch batch = parse_events(R"json(
    {"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":10,"dur":5,"args":{"device":0,"stream":7,
     "correlation":3,"external id":4}},
    {"ph":"X","cat":"Kernel","name":"k","pid":"0","tid":"stream 7","ts":20,"dur":5},
    {"ph":"X","cat":"Memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":"stream 7","ts":30,"dur":5,
     "args":{"stream":"7","bytes":"4096"}},
    {"ph":"X","cat":"Memset","name":"Memset","pid":0,"tid":7,"ts":40,"dur":5},
    {"ph":"X","cat":"Operator","name":"aten::add","pid":1,"tid":2,"ts":1,"dur":5,"args":{"Input dims":[[1, 2]],"external id":"4"}},
    {"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":1,"tid":"2","ts":2,"dur":1,"args":{"correlation":3}})json");
  REQUIRE(batch.device_events.size() == 4);
  CHECK(batch.device_events[2].type == DeviceEventType::kMemcpy);
  CHECK(batch.device_events[3].type == DeviceEventType::kMemset);
  REQUIRE(batch.operators.size() == 1);
  CHECK(as_row(batch.device_events[0].external_id, batch.operators[0].external_id,
               batch.device_events[2].graph_id_or_bytes, batch.calls.size()) == "4 4 4096 1");
  CHECK(as_lines(streams_of(batch), threads_of(batch)) == "0/7 0/7 0/7 0/7\n1/2 1/2");
  REQUIRE(batch.shapes.size() == 1);
  CHECK(batch.shapes[0].dims == "[[1,2]]");
}

TEST_CASE("each category goes to its table") {
  const EventBatch batch = parse_events(R"(
    {"ph":"X","cat":"cuda_driver","name":"cuLaunchKernel","pid":1,"tid":1,"ts":1,"dur":1},
    {"ph":"X","cat":"xpu_runtime","name":"r","pid":1,"tid":1,"ts":1,"dur":1},
    {"ph":"X","cat":"xpu_driver","name":"r","pid":1,"tid":1,"ts":1,"dur":1},
    {"ph":"X","cat":"hpu_op","name":"r","pid":1,"tid":1,"ts":1,"dur":1},
    {"ph":"X","cat":"glow_runtime","name":"r","pid":1,"tid":1,"ts":1,"dur":1},
    {"ph":"X","cat":"user_annotation","name":"u","pid":1,"tid":1,"ts":1,"dur":1,"args":{"External id":9}},
    {"ph":"X","cat":"gpu_user_annotation","name":"g","pid":0,"tid":7,"ts":1,"dur":1,"args":{"External id":9}},
    {"ph":"X","cat":"overhead","name":"o","pid":-1,"tid":0,"ts":1,"dur":1},
    {"ph":"X","cat":"mtia_ccp_events","name":"m","pid":-1,"tid":0,"ts":1,"dur":1},
    {"ph":"X","name":"no category","pid":1,"tid":1,"ts":1,"dur":1},
    {"ph":"X","cat":null,"name":"null category","pid":1,"tid":1,"ts":1,"dur":1},
    {"ph":"X","cat":"xpu_sync","name":"s","pid":0,"tid":7,"ts":1,"dur":1},
    {"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":1,"s":"t","args":{"Bytes":-512}},
    {"ph":"X","cat":"\u006bernel","name":"escaped","pid":1,"tid":1,"ts":1,"dur":1})");
  CHECK(as_row(batch.calls.size(), batch.annotations.size(), batch.slices.size(), batch.instants.size(),
               batch.device_events.size(), events_read(batch)) == "5 2 4 1 2 14");
  CHECK(as_row(batch.annotations.at(0).on_device, batch.annotations.at(1).on_device,
               batch.annotations.at(1).external_id) == "0 1 9");
  CHECK(as_row(text_of(batch, batch.slices.at(0).category), batch.slices.at(1).category, batch.slices.at(2).category,
               batch.instants.at(0).bytes) == "overhead 0 0 -512");
  CHECK(as_row(batch.slices.at(2).is_sync, batch.slices.at(3).is_sync) == "0 1");
}

TEST_CASE("programs and copies of an MTIA device are work, waits and marks of its streams are not") {
  const EventBatch batch = parse_events(R"(
    {"ph":"X","cat":"mtia_ccp_events","name":"merge","pid":17,"tid":38,"ts":1,"dur":2,"args":{"stream":109,"correlation":5}},
    {"ph":"X","cat":"mtia_ccp_events","name":"dma_request","pid":17,"tid":38,"ts":4,"dur":1,
     "args":{"stream":109,"direction":"DEVICE_TO_HOST","size":1024}},
    {"ph":"X","cat":"mtia_ccp_events","name":"dma_request","pid":17,"tid":38,"ts":5,"dur":1,"args":{"stream":109,"size":"x"}},
    {"ph":"X","cat":"mtia_ccp_events","name":"event_wait","pid":17,"tid":38,"ts":6,"dur":9,"args":{"stream":109,"wait_on_stream":104}},
    {"ph":"X","cat":"mtia_ccp_events","name":"event_record","pid":17,"tid":38,"ts":7,"dur":1,"args":{"stream":109}},
    {"ph":"X","cat":"mtia_runtime","name":"runFunction - job","pid":1,"tid":1,"ts":0,"dur":1,"args":{"correlation":5}})");
  REQUIRE(batch.device_events.size() == 3);
  const DeviceRecord &program = batch.device_events[0], &copy = batch.device_events[1],
                     &unsized = batch.device_events[2];
  CHECK(program.type == DeviceEventType::kKernel);
  CHECK(copy.type == DeviceEventType::kMemcpy);
  CHECK(as_row(program.correlation, copy.graph_id_or_bytes, text_of(batch, copy.config), unsized.config,
               streams_of(batch)) == "5 1024 DEVICE_TO_HOST 0 17/109");
  CHECK(unsized.graph_id_or_bytes == kUnknownValue);
  REQUIRE(batch.slices.size() == 2);
  CHECK(as_row(batch.slices[0].is_sync, batch.slices[0].wait_stream, batch.slices[1].is_sync, batch.calls.size()) ==
        "1 104 0 1");
  CHECK(call_kind("runFunction - job") == CallKind::kLaunch);
}

TEST_CASE("what few traces say of operators, collectives and ranges is kept once") {
  const EventBatch batch = parse_events(R"(
    {"ph":"X","cat":"cpu_op","name":"t","pid":1,"tid":1,"ts":1,"dur":1,
     "args":{"Ev Idx":1,"num_warps": 8,"kernel_backend":"triton","kernel_file":"/a\"b.py","stream":0}},
    {"ph":"X","cat":"cpu_op","name":"t","pid":1,"tid":1,"ts":3,"dur":1,
     "args":{"Ev Idx":2,"num_warps": 8,"kernel_backend":"triton","kernel_file":"/a\"b.py","stream":0}},
    {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":5,"dur":1,"args":{"Fwd thread id":1,"Sequence number":3}},
    {"ph":"X","cat":"cpu_op","name":"f","pid":1,"tid":1,"ts":6,"dur":1,"args":{"Fwd thread id":0,"stream":0,"num_warps":4}},
    {"ph":"X","cat":"kernel","name":"nccl","pid":0,"tid":7,"ts":9,"dur":1,
     "args":{"Collective name":"all_to_allv","In split size":[1, 2],"Out split size":"[2, 1]"}},
    {"ph":"X","cat":"cuda_profiler_range","name":"__missing__","pid":0,"tid":0,"ts":10,"dur":4,
     "args":{"m.sum":12,"n.sum":"3.5","o":"none"}},
    {"ph":"X","cat":"cuda_profiler_range","name":"k","pid":0,"tid":0,"ts":20,"dur":4})");
  REQUIRE(batch.operators.size() == 4);
  REQUIRE(batch.shapes.size() == 2);
  CHECK(batch.shapes[0].detail == R"({"kernel_backend":"triton","kernel_file":"/a\"b.py","num_warps":8,"stream":0})");
  CHECK(batch.shapes[1].detail == R"({"Fwd thread id":1})");
  CHECK(batch.operators[0].shape == batch.operators[1].shape);
  CHECK(batch.operators[3].shape == 0);
  REQUIRE(batch.collectives.size() == 1);
  CHECK(as_lines(text_of(batch, batch.collectives[0].in_splits), text_of(batch, batch.collectives[0].out_splits)) ==
        "[1,2]\n[2, 1]");
  CHECK(batch.slices.size() == 2);
  REQUIRE(batch.counters.size() == 4);  // of the range without counters one row, so that ranges can be counted
  const std::vector<CounterRecord>& counters = batch.counters;
  CHECK(as_row(text_of(batch, counters[0].series), counters[3].series, counters[0].value, counters[1].value,
               counters[2].value, counters[0].continued, counters[1].continued) == "m.sum 0 12 3.5 nan 0 1");
  CHECK(events_read(batch) == 7);
}

TEST_CASE("pids and tids of text, equal tracks are one") {
  const EventBatch batch = parse_events(R"(
    {"ph":"X","name":"a","pid":"Spans","tid":"PyTorch Profiler","ts":1,"dur":1},
    {"ph":"X","name":"b","pid":"Spans","tid":"PyTorch Profiler","ts":2,"dur":1},
    {"ph":"X","name":"c","pid":"Tr\u0061ces","tid":18446744073709551615,"ts":3,"dur":1},
    {"ph":"X","name":"d","ts":4,"dur":1},
    {"ph":"X","cat":"kernel","name":"e","pid":"GPU A","tid":"compute","ts":5,"dur":1},
    {"ph":"X","cat":"kernel","name":"f","pid":1,"tid":1,"ts":6,"dur":1,"args":{"device":"d","stream":"stream x"}})");
  CHECK(batch.slices.at(0).track == batch.slices.at(1).track);
  CHECK(threads_of(batch) == "'Spans'/'PyTorch Profiler' 'Traces'/'18446744073709551615' ''/''");
  CHECK(streams_of(batch) == "'GPU A'/'compute' 'd'/'stream x'");
}

TEST_CASE("python frames: no id, the outermost frame and large ids are different things") {
  const EventBatch batch = parse_events(R"(
    {"ph":"X","cat":"python_function","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"Python id":1,"Python parent id":null}},
    {"ph":"X","cat":"python_function","name":"b","pid":1,"tid":1,"ts":1,"dur":1,"args":{"Python id":"2","Python parent id":1}},
    {"ph":"X","cat":"python_function","name":"c","pid":1,"tid":1,"ts":1,"dur":1},
    {"ph":"X","cat":"python_function","name":"d","pid":1,"tid":1,"ts":1,"dur":1,"args":{"Python id":-1,"Python parent id":4294967295}},
    {"ph":"X","cat":"python_function","name":"e","pid":1,"tid":1,"ts":1,"dur":1,"args":{"Python id":"x","Python parent id":{}}})");
  REQUIRE(batch.python.size() == 5);
  const auto text = [](std::uint32_t id) {
    return id == kNoPythonId ? "none" : id == kRootPythonId ? "root" : id < 10 ? std::to_string(id) : "large";
  };
  std::string ids;
  for (const PythonRecord& call : batch.python) ids += text(call.python_id) + "<" + text(call.parent_id) + " ";
  CHECK(ids == "1<root 2<1 none<none large<large none<none ");
  CHECK(batch.issues.count(IssueKind::kBadNumber) == 2);
}

TEST_CASE("collectives, with ids above a signed integer") {
  const EventBatch batch = parse_events(R"(
    {"ph":"X","cat":"kernel","name":"ncclDevKernel","pid":0,"tid":1,"ts":1,"dur":1,"args":{"Collective name":"allreduce",
     "In msg nelems":12,"Out msg nelems":13,"Group size":8,"dtype":"BFloat16","Process Group Name":"0",
     "Process Group Description":"default_pg","Process Group Ranks":"[0, 1]","Seq":4,"Comms Id":10159970886766084423}})");
  REQUIRE(batch.collectives.size() == 1);
  const CollectiveRecord& record = batch.collectives[0];
  CHECK(as_lines(batch.device_events[0].collective, text_of(batch, record.name), text_of(batch, record.comms_id),
                 text_of(batch, record.ranks), record.group_size, record.in_elements, record.out_elements,
                 record.sequence) == "1\nallreduce\n10159970886766084423\n[0, 1]\n8\n12\n13\n4");
  CHECK(record.source_rank == kUnknownValue);
  CHECK(record.destination_rank == kUnknownValue);
  CHECK(batch.issues.issues().empty());
}

TEST_CASE("sends and receives with their peers") {
  const EventBatch batch = parse_events(R"(
    {"ph":"X","cat":"kernel","name":"ncclDevKernel_SendRecv","pid":0,"tid":1,"ts":1,"dur":1,"args":{
     "Collective name":"send","Process Group Name":"pp","Dst Rank":5}},
    {"ph":"X","cat":"kernel","name":"ncclDevKernel_SendRecv","pid":0,"tid":1,"ts":3,"dur":1,"args":{
     "Collective name":"recv","Process Group Name":"pp","Src Rank":0}})");
  REQUIRE(batch.collectives.size() == 2);
  CHECK(batch.collectives[0].destination_rank == 5);
  CHECK(batch.collectives[0].source_rank == kUnknownValue);
  CHECK(batch.collectives[1].source_rank == 0);
  CHECK(batch.collectives[1].destination_rank == kUnknownValue);
}

TEST_CASE("ids go on from batch to batch, definitions travel once") {
  ChunkParser parser(3, {});
  EventBatch batch;
  const Chunk chunk =
      chunk_of(R"({"ph":"X","cat":"kernel","name":"k","pid":1,"tid":1,"ts":1,"dur":1,"args":{"grid":[1,1,1]}},
    {"ph":"X","cat":"cpu_op","name":"o","pid":1,"tid":1,"ts":1,"dur":1,"args":{"Input Dims":[]}})");
  parser.parse(chunk, batch);
  const DeviceRecord first = batch.device_events.at(0);
  CHECK(batch.worker == 3);
  CHECK(batch.strings.size() == 4);
  parser.parse(chunk, batch);
  CHECK(as_row(batch.strings.size(), batch.threads.size(), batch.streams.size(), batch.configs.size(),
               batch.shapes.size()) == "0 0 0 0 0");
  REQUIRE(batch.device_events.size() == 1);
  const DeviceRecord& again = batch.device_events[0];
  CHECK(as_row(again.name, again.stream, again.config) == as_row(first.name, first.stream, first.config));
  CHECK(events_read(batch) == 2);
}

}  // namespace
}  // namespace tracedb
