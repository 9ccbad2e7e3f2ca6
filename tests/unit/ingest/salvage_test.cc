// Damage of every kind at every byte of a small trace: at most the damaged event and one neighbour are lost, there is
// an issue, and the outcome does not depend on how the trace was cut into chunks.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/places.h"
#include "support/salvaged.h"

namespace tracedb {
namespace {

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

const std::vector<std::string> kOthers = {"", std::string(1, '\0'), "\"", "{", "}", "]", "x"};
constexpr Layout kLayouts[] = {Layout::kKineto, Layout::kMinified, Layout::kArray};

}  // namespace

TEST_CASE("the traces themselves are sound") {
  for (const Layout layout : kLayouts) {
    const Salvaged whole = salvage(traced(layout).text, 64);
    CHECK(whole.times.size() == kEvents);
    CHECK(whole.issues.empty());
    CHECK(whole.complete);
  }
}

TEST_CASE("one character too many, at every byte") {
  for (const Layout layout : kLayouts) {
    const Trace trace = traced(layout);
    std::size_t round = 0;
    for (const std::string_view extra : {"\"", "{", "}", "[", "]", ",", ":", "\\", "\n", "\"\"", "},{"}) {
      for (const std::size_t at : places(trace.first, trace.ends.back() + 1, round++)) {
        std::string damaged = trace.text;
        damaged.insert(at, extra);
        check_damage(trace, damaged, at, at);
      }
    }
  }
}

TEST_CASE("one character missing or another, at every byte") {
  for (const Layout layout : kLayouts) {
    const Trace trace = traced(layout);
    std::size_t round = 0;
    for (const std::string& other : kOthers) {
      for (const std::size_t at : places(trace.first, trace.ends.back(), round++)) {
        std::string damaged = trace.text;
        damaged.replace(at, 1, other);
        check_damage(trace, damaged, at, at + 1);
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

}  // namespace tracedb
