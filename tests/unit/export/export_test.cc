#include <doctest/doctest.h>

#include <limits>
#include <sstream>

#include "base/unknown.h"
#include "export/folded_stacks.h"
#include "export/parquet/kernel_file.h"
#include "export/trace_events.h"
#include "export/tracks.h"
#include "support/rows.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

// a (10), a;b (5), without a stack 3.
FoldedStacks two_paths(std::int64_t inner) {
  StackTimes times;
  times.frames = {"", "a;x.py(3): f", "b"};
  times.stacks = {{}, {0, 1, 0}, {1, 2, 0}};
  times.times = {{3, 1}, {10, 2}, {inner, 1}};
  return folded_stacks(times, Frames::kAll);
}

TEST_CASE("folded stacks") {
  SUBCASE("one line a path") {
    std::ostringstream out;
    write_folded(out, two_paths(5));
    CHECK(out.str() == "a,x.py(3): f 10\na,x.py(3): f;b 5\n[no stack] 3\n");
  }
  SUBCASE("two traces: paths of either") {
    std::ostringstream out;
    write_folded_difference(out, two_paths(0), two_paths(5));
    CHECK(out.str() == "[no stack] 3 3\na,x.py(3): f 10 10\na,x.py(3): f;b 0 5\n");
  }
  SUBCASE("kernels none of whose frames is looked at") {
    StackTimes times;
    times.frames = {""};
    times.stacks = {{}};
    times.times = {{0, 0}};
    times.passed_over = {4, 1};
    std::ostringstream out;
    write_folded(out, folded_stacks(times, Frames::kModules));
    CHECK(out.str() == "[no module] 4\n");
  }
}

TEST_CASE("write_speedscope") {
  std::ostringstream out;
  const FoldedStacks first = two_paths(5), second = two_paths(6);
  const SpeedscopeProfile profiles[] = {{"A", first}, {"B", second}};
  write_speedscope(out, "both", profiles);
  const std::string text = out.str();
  CHECK(
      text.find(R"("unit":"nanoseconds","startValue":0,"endValue":18,"samples":[[0],[0,1],[2]],"weights":[10,5,3])") !=
      std::string::npos);
  CHECK(text.find(R"("endValue":19,"samples":[[0],[0,1],[2]],"weights":[10,6,3])") != std::string::npos);
  CHECK(text.find(R"({"name":"a;x.py(3): f","file":"a;x.py","line":3})") != std::string::npos);
}

std::string written(void (*write)(TraceEventWriter& events)) {
  std::ostringstream out;
  TraceEventWriter events(out, JsonWriter().member("displayTimeUnit", "ns"));
  write(events);
  events.finish();
  return out.str();
}

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

TEST_CASE("TrackNumbers") {
  TrackNumbers numbers;
  CHECK(numbers.process(7) == 7);
  const std::int64_t second = numbers.process(7);
  CHECK(second != 7);
  CHECK(numbers.process(std::nullopt) != second);
  CHECK(numbers.process(-1) > 0);
  CHECK(numbers.thread(7, 7) == 7);
  CHECK(numbers.thread(second, 7) == 7);
  CHECK(numbers.thread(second, 7) != 7);
}

TEST_CASE("TraceTracks") {
  const TempDirectory folder;
  const Index index = open_small_index(folder.path() / "x.tracedb");
  TrackNumbers numbers;
  TraceTracks tracks(index, numbers, {});
  SUBCASE("what overlaps on a stream gets a second track") {
    const EventTrack first = tracks.stream(1, 0, 100);
    CHECK(as_row(first.process, first.thread) == "0 7");
    CHECK(tracks.stream(1, 100, 150).thread == first.thread);
    const EventTrack beside = tracks.stream(1, 120, 200);
    CHECK(beside.process == first.process);
    CHECK(beside.thread != first.thread);
    CHECK(tracks.stream(1, 160, 170).thread == first.thread);
    CHECK(tracks.stream(1).thread == first.thread);
  }
  SUBCASE("a stream whose number is a text") {
    JsonWriter args;
    tracks.add_place(2, args);
    CHECK(args.str() == R"("device":0,"stream":"default")");
  }
  SUBCASE("threads keep their numbers, and no two traces share a process") {
    const EventTrack thread = tracks.thread(1);
    CHECK(as_row(thread.process, thread.thread) == "77 78");
    TraceTracks other(index, numbers, {"B: ", 1});
    CHECK(other.thread(1).process != 77);
    CHECK(other.stream(1, 0, 1).process != tracks.stream(1, 0, 1).process);
  }
}

TEST_CASE("path_word") {
  CHECK(as_row(path_word("llama-70b_v1.2"), path_word("a/../b c'"), path_word(""), path_word("..")) ==
        "llama-70b_v1.2 a_.._b_c_ unknown unknown");
  CHECK(path_word(std::string(100, 'x')) == std::string(64, 'x'));
}

TEST_CASE("night_of") {
  const TempDirectory folder;
  const auto path = folder.path() / "x.tracedb";
  const auto begun = [&](const char* time) {
    write_small_index(path);
    change_by_sql(path, std::string("INSERT INTO meta VALUES ('base_time_ns', ") + time + ")");
    std::string night = night_of(Index::open(path));
    std::filesystem::remove(path);
    return night;
  };
  CHECK(as_row(begun("'1747353208648415000'"), begun("'12345678'"), begun("NULL")) == "2025-05-15 unknown unknown");
}

}  // namespace
}  // namespace tracedb
