#include "ingest/link/open_intervals.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "support/ingested.h"

namespace tracedb {
namespace {

int at(const OpenIntervals<int>& open, std::int64_t t) {
  const int* found = open.innermost(t);
  return found == nullptr ? 0 : *found;
}

}  // namespace

TEST_CASE("the innermost interval that is open") {
  OpenIntervals<int> open;
  CHECK(at(open, 0) == 0);
  open.push(100, 1);
  open.push(50, 2);
  open.push(10, 3);
  CHECK(at(open, 9) == 3);
  CHECK(at(open, 10) == 2);  // the end is not inside
  open.advance(50);
  CHECK(at(open, 50) == 1);
  open.advance(100);
  CHECK(at(open, 100) == 0);
}

TEST_CASE("an interval that ended this very moment can still be found") {
  OpenIntervals<int> open;
  open.push(10, 1);
  open.push(10, 2);
  const auto is = [](int wanted) { return [wanted](int payload) { return payload == wanted; }; };
  open.advance(10);
  REQUIRE(open.find(10, is(1)) != nullptr);
  CHECK(at(open, 10) == 0);
  open.advance(11);
  CHECK(open.find(11, is(1)) == nullptr);
}

TEST_CASE("intervals that overlap without nesting") {
  OpenIntervals<int> open;
  open.push(20, 1);  // [0, 20)
  open.push(30, 2);  // [10, 30)
  open.advance(25);
  CHECK(at(open, 25) == 2);
  CHECK(at(open, 15) == 2);
  OpenIntervals<int> hidden;
  hidden.push(100, 1);
  hidden.push(20, 2);
  hidden.push(60, 3);
  hidden.advance(40);
  CHECK(at(hidden, 40) == 3);
  hidden.advance(70);
  CHECK(at(hidden, 70) == 1);
}

TEST_CASE("intervals of no length enclose nothing") {
  OpenIntervals<int> open;
  open.push(5, 1);
  CHECK(at(open, 5) == 0);
}

TEST_CASE("thousands of overlapping intervals give the same answer as looking at all of them") {
  struct Interval {
    std::int64_t ts, end;
  };
  std::mt19937 random(7);
  std::vector<Interval> intervals;
  OpenIntervals<int> open;
  std::int64_t t = 0;
  for (int i = 0; i < 3000; ++i) {
    t += static_cast<std::int64_t>(random() % 3);
    open.advance(t);
    const auto expected =
        std::find_if(intervals.rbegin(), intervals.rend(), [t](const Interval& one) { return one.end > t; });
    const int number = expected == intervals.rend() ? 0 : static_cast<int>(intervals.rend() - expected);
    REQUIRE(at(open, t) == number);
    intervals.push_back({t, t + static_cast<std::int64_t>(random() % (i % 2 == 0 ? 5 : 2000))});
    open.push(intervals.back().end, i + 1);
  }
}

namespace {

struct Frame {
  std::int64_t ts, end;
};

// The path at a time by definition: of the frames open then, in order of their start, those that do not outlast the one
// before.
std::vector<std::size_t> slow_path(const std::vector<Frame>& frames, std::size_t count, std::int64_t t) {
  std::vector<std::size_t> path;
  for (std::size_t i = 0; i < count; ++i) {
    if (frames[i].end <= t) continue;
    if (path.empty() || frames[i].end <= frames[path.back()].end) path.push_back(i);
  }
  return path;
}

const char* const kPaths =
    "WITH RECURSIVE p(id, path) AS (SELECT s.id, t.value FROM stack s JOIN frame f ON f.id = s.frame_id JOIN string t "
    "ON "
    "t.id = f.name_id WHERE s.parent_id IS NULL UNION ALL SELECT s.id, p.path || '>' || t.value FROM stack s JOIN p ON "
    "p.id = s.parent_id JOIN frame f ON f.id = s.frame_id JOIN string t ON t.id = f.name_id) ";

std::string frame(std::string_view name, std::string_view ts, std::string_view dur, std::string_view ids = {}) {
  return event("python_function", name, kMainThread, ts, dur, ids);
}
std::string call(std::string_view ts) { return event("cuda_runtime", "cudaLaunchKernel", kMainThread, ts, "0.5"); }

}  // namespace

TEST_CASE("paths of frames that nest, overlap and outlast each other are those of the definition") {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::int64_t longest = 1 + random() % 60;
    std::vector<Frame> frames;
    std::int64_t ts = 0;
    for (int i = 0; i < 60; ++i) {
      ts += random() % 3;
      frames.push_back({ts, ts + 1 + static_cast<std::int64_t>(random()) % longest});
    }
    std::sort(frames.begin(), frames.end(),
              [](const Frame& a, const Frame& b) { return a.ts != b.ts ? a.ts < b.ts : a.end > b.end; });
    OpenFrames open;
    std::vector<std::size_t> parents(frames.size() + 1, 0);  // by number of the frame, from 1
    std::uint32_t number = 0;
    for (const Frame& frame : frames) {
      open.advance(frame.ts);
      const OpenFrame* around = open.around(frame.ts, frame.end);
      parents[++number] = around == nullptr ? 0 : around->stack;
      open.push(frame.ts, frame.end, 0, number);
      std::vector<std::size_t> path;
      const OpenFrame* innermost = open.innermost(frame.ts);
      for (std::size_t at = innermost == nullptr ? 0 : innermost->stack; at != 0; at = parents[at])
        path.insert(path.begin(), at - 1);
      REQUIRE(path == slow_path(frames, number, frame.ts));
    }
  }
}

TEST_CASE("python frames nest by time, whatever their parent ids say") {
  // The id of `inner` skips `middle`, which is around it.
  Ingested index(trace_of(frame("outer", "0", "100", R"("Python id":1,"Python parent id":null)") +
                          frame("middle", "10", "50", R"("Python id":2,"Python parent id":1)") +
                          frame("inner", "20", "10", R"("Python id":3,"Python parent id":1)") + call("25")));
  CHECK(index.rows(std::string(kPaths) + "SELECT path FROM runtime_call r JOIN p ON p.id = r.stack_id") ==
        "outer>middle>inner");
}

TEST_CASE("a frame that outlasts the one around it is on no path while that one is open") {
  Ingested index(trace_of(frame("outer", "0", "100") + frame("short", "10", "30") + frame("outlasting", "20", "60") +
                          frame("leaf", "30", "5") + frame("late", "50", "5") + call("25") + call("32") + call("45") +
                          call("52")));
  CHECK(index.rows(std::string(kPaths) + "SELECT path FROM runtime_call r JOIN p ON p.id = r.stack_id ORDER BY r.id") ==
        "outer>short; outer>short>leaf; outer>outlasting; outer>outlasting>late");
}

TEST_CASE("frames with the same times: ids tell which encloses which, and which stand side by side") {
  Ingested index(trace_of(frame("root", "0", "100", R"("Python id":1,"Python parent id":null)") +
                          frame("c", "10", "5", R"("Python id":4,"Python parent id":3)") +
                          frame("b", "10", "5", R"("Python id":3,"Python parent id":2)") +
                          frame("a", "10", "5", R"("Python id":2,"Python parent id":1)") +
                          frame("point", "20", "0", R"("Python id":5,"Python parent id":1)") +
                          frame("point", "20", "0", R"("Python id":6,"Python parent id":5)") +
                          frame("beside", "20", "0", R"("Python id":7,"Python parent id":1)") + call("12")));
  CHECK(index.rows(std::string(kPaths) + "SELECT path FROM runtime_call r JOIN p ON p.id = r.stack_id") ==
        "root>a>b>c");
  CHECK(index.rows(std::string(kPaths) +
                   "SELECT path FROM python_call c JOIN p ON p.id = c.stack_id WHERE c.ts = 20000 "
                   "ORDER BY path") == "root>beside; root>point; root>point>point");
}

TEST_CASE("files of frames are strings") {
  Ingested index(trace_of(frame("vllm/model.py(12): forward", "0", "9") + frame("<built-in sum>", "1", "2")));
  CHECK(index.rows("SELECT file, line, function FROM python_calls ORDER BY id") ==
        "vllm/model.py 12 forward; - - <built-in sum>");
  CHECK(index.rows("SELECT count(*) FROM frame f JOIN string s ON s.id = f.file_id") == "1");
}

}  // namespace tracedb
