#include "export/trace_events.h"

#include <doctest/doctest.h>

#include <limits>
#include <sstream>

#include "base/unknown.h"

namespace tracedb {
namespace {

std::string written(void (*write)(TraceEventWriter& events)) {
  std::ostringstream out;
  TraceEventWriter events(out, JsonWriter().member("displayTimeUnit", "ns"));
  write(events);
  events.finish();
  return out.str();
}

}  // namespace

TEST_CASE("TraceEventWriter") {
  CHECK(written([](TraceEventWriter&) {}) == "{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[\n]}\n");
  SUBCASE("times keep every nanosecond, whatever their size") {
    const std::string text = written([](TraceEventWriter& events) {
      events.slice({{1, 2}, "kernel", "k", 1'747'198'197'907'409'475, 1}, {});
      events.slice({{1, 2}, "", "k", -1, kUnknownValue},
                   JsonWriter().member("n", std::numeric_limits<std::int64_t>::max()));
    });
    CHECK(text ==
          "{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[\n"
          R"({"ph":"X","cat":"kernel","name":"k","pid":1,"tid":2,"ts":1747198197907409.475,"dur":0.001},)"
          "\n"
          R"({"ph":"X","name":"k","pid":1,"tid":2,"ts":-0.001,"args":{"n":9223372036854775807}})"
          "\n]}\n");
  }
  SUBCASE("names are text whatever is in them") {
    const std::string text = written([](TraceEventWriter& events) {
      const std::string_view name = "a\"b\\\n</script>\x1b\xff";
      events.instant({{0, 0}, name, name, 5}, JsonWriter().member(name, name));
    });
    const std::string escaped = R"(a\"b\\\n</script>\u001b)"
                                "\xEF\xBF\xBD";
    CHECK(text.find("\"cat\":\"" + escaped + "\",\"name\":\"" + escaped + "\"") != std::string::npos);
    CHECK(text.find("\"args\":{\"" + escaped + "\":\"" + escaped + "\"}") != std::string::npos);
  }
  SUBCASE("flows") {
    const std::string text = written([](TraceEventWriter& events) {
      events.flow_start({1, 2}, 1000, 7);
      events.flow_end({0, 3}, 2500, 7);
    });
    CHECK(text.find(R"({"ph":"s","cat":"ac2g","name":"ac2g","pid":1,"tid":2,"ts":1.000,"id":7})") != std::string::npos);
    CHECK(text.find(R"({"ph":"f","cat":"ac2g","name":"ac2g","pid":0,"tid":3,"ts":2.500,"id":7,"bp":"e"})") !=
          std::string::npos);
  }
}

}  // namespace tracedb
