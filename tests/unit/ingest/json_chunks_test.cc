#include "ingest/read/json_chunks.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/json_text.h"
#include "support/cases.h"
#include "support/refused.h"

namespace tracedb {
namespace {

using namespace std::string_view_literals;

// Everything JsonChunks says about a document, as text that can be compared.
struct Cut {
  std::vector<std::string> elements;  // those that are not empty
  std::string header, issues;
  bool complete = true;
  std::uint64_t oversized = 0;
  friend bool operator==(const Cut&, const Cut&) = default;
};

// Elements of the list a chunk holds; commas without an element are issues, as in the parser behind.
void split(const Chunk& chunk, Cut& cut, IssueLog& issues) {
  std::size_t start = 0;
  ScanState state;
  const std::string_view list = chunk.elements();
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const bool end = i == list.size() || scan_structure_scalar(list.substr(i, 1), state).last_comma == 0;
    if (!end) continue;
    const std::string_view element = trim_json_space(list.substr(start, i - start));
    if (element.empty()) {
      issues.add(IssueKind::kStrayComma, static_cast<std::int64_t>(chunk.offset + start), {});
    } else {
      cut.elements.emplace_back(element);
    }
    start = i + 1;
  }
}

Cut cut_document(std::string_view text, std::size_t chunk_size, const JsonLimits& limits = {}) {
  const auto source = memory_byte_source(text);
  JsonChunks chunks(*source, "trace.json", chunk_size, limits);
  Cut cut;
  Chunk chunk;
  IssueLog issues;
  while (chunks.next(chunk)) {
    REQUIRE(chunk.buffer.size() >= chunk.size + Chunk::kPadding);
    REQUIRE(chunk.text().front() == '[');
    REQUIRE(chunk.text().back() == ']');
    REQUIRE(text.substr(chunk.offset, chunk.elements().size()) == chunk.elements());
    split(chunk, cut, issues);
  }
  issues.merge(chunks.issues());
  for (const auto& [key, value, offset] : chunks.header()) cut.header += key + "=" + value + ";";
  for (std::size_t kind = 0; kind <= static_cast<std::size_t>(IssueKind::kKernelWithoutStep); ++kind) {
    for (const Issue& issue : issues.issues()) {
      if (static_cast<std::size_t>(issue.kind) != kind) continue;
      cut.issues += fmt::format("{} {} @{} '{}';", describe(issue.kind).name, issue.count, issue.offset, issue.sample);
    }
  }
  cut.complete = chunks.complete();
  cut.oversized = chunks.oversized_events();
  CHECK(chunks.bytes() == text.size());
  return cut;
}

// The outcome, after checking that no chunk size changes it.
Cut cut_all_ways(std::string_view text, const JsonLimits& limits = {}) {
  Cut expected = cut_document(text, 1U << 20U, limits);
  for (std::size_t size = 64; size < 200; ++size) {
    const Cut other = cut_document(text, size, limits);
    if (other == expected) continue;
    CAPTURE(size);
    CHECK(other.elements == expected.elements);
    CHECK(other.issues == expected.issues);
    CHECK(other.header == expected.header);
    CHECK(other == expected);
    break;
  }
  return expected;
}

const std::vector<std::string> kThree = {R"({"ph":"X","name":"a"})", R"({"name":"}, {\"ph\": \"X\"\\ \" }{]["})",
                                         R"({"args":{"grid":[1,2,[3]],"s":"]}"}})"};

std::string list(const std::vector<std::string>& elements, std::string_view separator) {
  std::string out;
  for (const std::string& element : elements) out.append(out.empty() ? "" : separator).append(element);
  return out;
}

std::string refusal(std::string_view text, std::size_t chunk_size) {
  return refused(ErrorCode::kInput, [&] { cut_document(text, chunk_size); });
}

}  // namespace

TEST_CASE("events are found in every layout") {
  const std::string events = list(kThree, ",");
  const std::string lines = list(kThree, ",\n  ");
  const std::vector<std::pair<std::string, std::string>> documents = {
      {"[" + events + "]", ""},
      {"\n[\n" + lines + "\n]\n", ""},
      {R"({"traceEvents":[)" + events + "]}", ""},
      {"{\n  \"traceEvents\": [\n" + lines + "\n  ]\n}\n", ""},
      {"{\r\n  \"a\" : 1 ,\r\n  \"traceEvents\" : [\r\n" + list(kThree, ",\r\n") + "\r\n  ]\r\n}\r\n", "a=1;"},
      {R"({"a":"x]}","b":[1,{"c":"[{"}],"traceEvents":[)" + events + "]}", R"(a="x]}";b=[1,{"c":"[{"}];)"},
      {R"({"traceEvents":[)" + events + R"(],"a":-1.5e3,"b":null,"c":{}})", "a=-1.5e3;b=null;c={};"},
      {R"({"traceEvents" :[)" + events + R"(]  ,  "a" : "\"\\" } )", R"(a="\"\\";)"},
      {R"({"\u0061":true,"traceEvents":[)" + events + R"(],"nested":{"traceEvents":[1]}})",
       R"(a=true;nested={"traceEvents":[1]};)"},
      {R"({"traceEvent\u0073":[)" + events + "]}", ""},
  };
  for (const auto& entry : documents) {  // no bindings: clang cannot capture them
    const auto& text = entry.first;
    const auto& header = entry.second;
    const Cut cut = cut_all_ways(text);
    CHECK(cut.elements == kThree);
    CHECK(cut.header == header);
    CHECK(cut.issues.empty());
    CHECK(cut.complete);
  }
}

TEST_CASE("a byte order mark is passed over and noted") {
  const Cut cut = cut_all_ways("\xEF\xBB\xBF[" + list(kThree, ",") + "]");
  CHECK(cut.elements == kThree);
  CHECK(cut.issues == "byte_order_mark 1 @0 '';");
}

TEST_CASE("a trace without events is a trace") {
  for (const std::string_view text : {"[]", "{}", " [ \n ] ", R"({"traceEvents":[]})", R"({"traceEvents": [ ] })"}) {
    CAPTURE(text);
    const Cut cut = cut_all_ways(text);
    CHECK(cut.elements.empty());
    CHECK(cut.issues.empty());
    CHECK(cut.complete);
  }
}

TEST_CASE("commas without an event are counted") {
  check_pairs<std::string_view>([](std::string_view text) { return cut_all_ways(text).issues; },
                                {{"[,{}]", "stray_comma 1 @1 '';"},
                                 {"[{},]", "stray_comma 1 @4 '';"},
                                 {"[{}, ,{}]", "stray_comma 1 @4 '';"},
                                 {"[,]", "stray_comma 2 @1 '';"}});
  CHECK(cut_all_ways("[" + std::string(90, ' ') + "," + list(kThree, "," + std::string(90, '\n') + ",") + ",]")
            .elements == kThree);
}

TEST_CASE("elements that are no objects pass through") {
  const Cut cut = cut_all_ways(R"([1,"a,b",null,[2,3],{},tru])");
  CHECK(cut.elements == std::vector<std::string>{"1", "\"a,b\"", "null", "[2,3]", "{}", "tru"});
}

TEST_CASE("a trace cut off at any byte keeps its whole events") {
  const std::string trace = R"({"a":"b","traceEvents":[)" + list(kThree, ",") + R"(],"z":[1,2]})";
  for (std::size_t size = 2; size < trace.size(); ++size) {
    const std::string_view head = std::string_view(trace).substr(0, size);
    CAPTURE(head);
    const Cut cut = cut_all_ways(head);
    CHECK_FALSE(cut.complete);
    CHECK(cut.issues.starts_with("truncated 1 @"));
    std::size_t whole = 0;
    std::size_t end = trace.find('[') + 1;
    for (const std::string& element : kThree) {
      end += element.size();
      whole += end <= size ? 1 : 0;
      ++end;
    }
    CHECK(cut.elements.size() == whole);
  }
  CHECK(cut_all_ways(trace).complete);
}

TEST_CASE("two documents are two lists of events") {
  const std::string trace = "[" + list(kThree, ",") + "]";
  const Cut twice = cut_all_ways(trace + "\n" + trace);
  CHECK(twice.elements.size() == 6);
  CHECK(twice.issues.starts_with(fmt::format("trailing_data 1 @{} '[", trace.size() + 1)));
  const Cut objects = cut_all_ways(R"({"traceEvents":[1],"a":1}{"b":2,"traceEvents":[2]})");
  CHECK(objects.elements == std::vector<std::string>{"1", "2"});
  CHECK(objects.header == "a=1;b=2;");
}

TEST_CASE("what follows a document and is none is noted, not read") {
  const Cut cut = cut_document("[1] garbage [2]", 64);
  CHECK(cut.elements == std::vector<std::string>{"1"});
  CHECK(cut.issues == "trailing_data 1 @4 'garbage [2]';");
  CHECK(cut.complete);
}

TEST_CASE("the sample of what follows a document does not depend on the chunk size") {
  const std::string text = "[1]\n[" + list(std::vector<std::string>(40, "12345678"), ",") + "]";
  CHECK(cut_all_ways(text).issues.size() > 200);
}

TEST_CASE("traceEvents twice: both are read; traceEvents that is no list: kept out") {
  const Cut twice = cut_all_ways(R"({"traceEvents":[1],"traceEvents":[2]})");
  CHECK(twice.elements == std::vector<std::string>{"1", "2"});
  CHECK(twice.issues.starts_with("duplicate_events_array 1 @"));
  const Cut text = cut_all_ways(R"({"traceEvents":"none","a":1})");
  CHECK(text.elements.empty());
  CHECK(text.header == "a=1;");
  CHECK(text.issues == "events_not_an_array 1 @15 '\"none\"';");
}

TEST_CASE("an event larger than the limit is passed over, those around it survive") {
  const JsonLimits limits{1000, 500};
  const auto sized = [](std::size_t size) { return "{\"name\":\"" + std::string(size - 11, '}') + "\"}"; };
  const std::vector<std::string> lists = {
      "{\"s\":1}," + sized(1001) + ",{\"s\":2}",
      sized(5000) + ",{\"s\":1},{\"s\":2}",
      "{\"s\":1},{\"s\":2}," + sized(20000),
      "{\"s\":1}," + sized(1001) + "," + sized(1002) + ",{\"s\":2}",
  };
  for (const std::string& elements : lists) {
    CAPTURE(elements.substr(0, 30));
    for (const std::string& text : {"[" + elements + "]", "{\"traceEvents\":[" + elements + "],\"a\":1}"}) {
      const Cut cut = cut_all_ways(text, limits);
      CHECK(cut.elements == std::vector<std::string>{"{\"s\":1}", "{\"s\":2}"});
      CHECK(cut.complete);
      CHECK(cut.oversized == (elements == lists[3] ? 2 : 1));
      CHECK(cut.issues.find("stray_comma") == std::string::npos);
    }
  }
  CHECK(cut_all_ways("[" + sized(1000) + "," + sized(999) + "]", limits).elements.size() == 2);
  CHECK(cut_all_ways("[1," + sized(2000) + ",]", limits).issues.find("stray_comma 1") != std::string::npos);
}

TEST_CASE("a trace that ends inside an event larger than the limit") {
  const Cut cut = cut_all_ways("[{\"s\":1},{\"name\":\"" + std::string(9000, '['), {1000, 500});
  CHECK(cut.elements == std::vector<std::string>{"{\"s\":1}"});
  CHECK_FALSE(cut.complete);
  CHECK(cut.oversized == 1);
}

TEST_CASE("a top-level value larger than the limit is left out") {
  const JsonLimits limits{1000, 100};
  for (const std::string& value : {"\"" + std::string(200, '[') + "\"", std::string(200, '7'),
                                   "[" + list(std::vector<std::string>(100, "{}"), ",") + "]"}) {
    const Cut cut = cut_all_ways("{\"a\":1,\"big\":" + value + ",\"b\":2,\"traceEvents\":[3]}", limits);
    CHECK(cut.header == "a=1;b=2;");
    CHECK(cut.elements == std::vector<std::string>{"3"});
    CHECK(cut.issues == "oversized_header 1 @13 'big';");
  }
}

TEST_CASE("top-level values that are too large together are left out, smaller ones behind them kept") {
  const JsonLimits limits{1000, 100, 100 + 2 * sizeof(HeaderMember)};
  const std::string value = "\"" + std::string(50, 'x') + "\"";
  const Cut cut =
      cut_all_ways("{\"a\":" + value + ",\"b\":" + value + ",\"c\":1,\"traceEvents\":[3],\"d\":" + value + "}", limits);
  CHECK(cut.header == "a=" + value + ";c=1;");
  CHECK(cut.elements == std::vector<std::string>{"3"});
  CHECK(cut.issues == "oversized_header 2 @62 'b';");
}

TEST_CASE("header text that is no UTF-8 is replaced and counted, where it stands") {
  const Cut cut =
      cut_all_ways("{\"a\xFF\": [\"b\xC3(\", \"\\u0000\\ud800\\ud83d\\ude00\\u12\\n\"], \"traceEvents\": []}");
  CHECK(cut.header ==
        "a\xEF\xBF\xBD=[\"b\xEF\xBF\xBD(\", \"\xEF\xBF\xBD\xEF\xBF\xBD\\ud83d\\ude00\xEF\xBF\xBD"
        "12\\n\"];");
  CHECK(cut.issues.starts_with("replaced_character 5 @1 '"));
}

TEST_CASE("a top-level value beyond the limit that lacks a bracket hides no events") {
  const JsonLimits limits{4000, 100};
  const std::string event = R"({"ph":"X","name":"a"})";
  const Cut cut = cut_all_ways("{\"big\":[" + list(std::vector<std::string>(100, "{}"), ",") + ",\"traceEvents\":[" +
                                   event + "," + event + "],\"b\":1}",
                               limits);
  CHECK(cut.elements == std::vector<std::string>{event, event});
  CHECK(cut.issues.starts_with("malformed_header 1 @7 '[{},"));
  CHECK(cut.header == "b=1;");
}

TEST_CASE("garbage before a document that holds no event is no trace") {
  check_each("trace.json: not JSON", [](std::string_view text) { return refusal(text, 64); },
             {"x{\"traceEvents\":[]}"sv, "x[1,2]"sv, "\0\0{\"a\":1}"sv, "]{\"a\":{\"ph\":1}}"sv});
  CHECK(refusal("<p>{\"ph\":\"X\"}", 64).empty());
}

TEST_CASE("what is no JSON trace is refused in one line") {
  for (const std::size_t size : {std::size_t{64}, std::size_t{4096}}) {
    const auto refusal_of = [&](std::string_view text) { return refusal(text, size); };
    check_each<std::string>("trace.json: empty file", refusal_of, {"", std::string(300, '\n')});
    check_each("trace.json: not JSON", refusal_of,
               {"<!DOCTYPE html>"sv, "\xFF\xFE["sv, "ts,dur\n1,2\n"sv, "{ts: 1}"sv, "\0\0"sv});
  }
}

namespace {

// Notes the most that was asked for at once.
class NotingSource : public ByteSource {
 public:
  explicit NotingSource(std::string_view text) : source_(memory_byte_source(text)) {}
  std::size_t read(char* destination, std::size_t capacity) override {
    most_ = std::max(most_, capacity);
    return source_->read(destination, capacity);
  }
  [[nodiscard]] std::uint64_t consumed() const override { return source_->consumed(); }
  [[nodiscard]] ContentHash hash() const override { return source_->hash(); }
  void drain() override { source_->drain(); }
  [[nodiscard]] std::size_t most() const { return most_; }

 private:
  std::unique_ptr<ByteSource> source_;
  std::size_t most_ = 0;
};

std::size_t most_read_at_once(std::string_view piece) {
  std::string text = "{\"traceEvents\":[";
  for (int i = 0; i < 20'000; ++i) text += piece;
  NotingSource source(text);
  JsonChunks chunks(source, "trace", std::size_t{1} << 20U);
  Chunk chunk;
  while (chunks.next(chunk)) {
  }
  return source.most();
}

}  // namespace

// What is read and not used is moved at each damage: a megabyte each time made a trace full of it take hours.
TEST_CASE("little is read at once where damage follows damage") {
  CHECK(most_read_at_once(R"({"ph":"X","ts":1},)") > 200'000);
  CHECK(most_read_at_once(R"({"ph":"X","ts":1},},)") < 40'000);
  CHECK(most_read_at_once(R"({"ph":"X","ts":1}],)") < 40'000);
}

}  // namespace tracedb
