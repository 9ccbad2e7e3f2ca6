#include "ingest/kineto/chunk_parser.h"

#include <doctest/doctest.h>

#include "base/unknown.h"
#include "support/parsed_events.h"

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

}  // namespace

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
  CHECK(batch.device_events[0].ts == 2000);
  CHECK(batch.device_events[0].correlation == 2);
  CHECK(text_of(batch, batch.device_events[0].name) == "b");
  CHECK(batch.streams[0].stream.track.number == 4);
}

TEST_CASE("repeated args replace the earlier ones whole") {
  const EventBatch batch = parse_events(R"(
    {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1,"dur":1,"args":{"correlation":1,"grid":[1,1,1]},
     "args":{"device":2,"stream":9}},
    {"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":1,"dur":1,"args":{"correlation":1},"args":null},
    {"ph":"X","cat":"kernel","name":"c","pid":0,"tid":7,"ts":1,"dur":1,"args":{"correlation":1}})");
  REQUIRE(batch.device_events.size() == 3);
  CHECK(batch.device_events[0].correlation == kUnknownValue);
  CHECK(batch.device_events[0].config == 0);
  CHECK(batch.streams[0].stream.track.number == 9);
  CHECK(batch.device_events[1].correlation == kUnknownValue);
  CHECK(batch.device_events[2].correlation == 1);
}

TEST_CASE("keys written with escapes are the same keys") {
  const EventBatch batch = parse_events(R"(
    {"ph":"X","c\u0061t":"kernel","n\u0061me":"esc","pid":0,"tid":7,"ts":1,"dur":1,
     "\u0061rgs":{"str\u0065am":9,"\u0063orrelation":3}})");
  REQUIRE(batch.device_events.size() == 1);
  CHECK(text_of(batch, batch.device_events[0].name) == "esc");
  CHECK(batch.device_events[0].correlation == 3);
  CHECK(batch.streams[0].stream.track.number == 9);
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
}

}  // namespace tracedb
