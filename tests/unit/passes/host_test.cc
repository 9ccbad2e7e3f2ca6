#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/unknown.h"
#include "passes/host/host_activity.h"
#include "passes/host/host_times.h"
#include "passes/stacks/sequences.h"
#include "passes/stacks/stack_times.h"
#include "passes/steps/step_set.h"
#include "support/asked_passes.h"
#include "support/ingested.h"

namespace tracedb {
namespace {

std::string python(std::string_view name, std::string_view ts, std::string_view dur, int id, std::string_view parent,
                   std::string_view thread = kMainThread) {
  return event("python_function", name, thread, ts, dur,
               fmt::format(R"("Python id":{},"Python parent id":{})", id, parent));
}

// Two kernels; between 20 and 120 us the host is in the user's code, which looks a dictionary up twice.
std::string host_bound() {
  return trace_of(event("cuda_runtime", "cudaLaunchKernel", kMainThread, "5", "2", R"("correlation":1)") +
                  event("kernel", "first", kGpuStream, "10", "10", R"("device":0,"stream":7,"correlation":1)") +
                  python("train.py(3): step", "0", "200", 1, "null") +
                  python("torch/nn/modules/module.py(9): _call_impl", "20", "99", 2, "1") +
                  python("model.py(40): forward", "30", "85", 3, "2") +
                  python("<built-in method __getitem__ of dict object at 0x12>", "40", "10", 4, "3") +
                  python("<built-in method __getitem__ of dict object at 0x34>", "60", "10", 5, "3") +
                  python("other.py(1): run", "0", "200", 6, "null", kOtherThread) +
                  event("cpu_op", "aten::mm", kMainThread, "90", "24", R"("External id":1)") +
                  event("cuda_runtime", "cudaLaunchKernel", kMainThread, "100", "10", R"("correlation":2)") +
                  event("kernel", "second", kGpuStream, "120", "10", R"("device":0,"stream":7,"correlation":2)") +
                  event("kernel", "alone", kGpuStream, "140", "10", R"("device":0,"stream":7)"));
}

struct HostFixture {
  Ingested ingested;
  Index index;
  EventTables events;
  LaunchThreads threads;
  explicit HostFixture(const std::string& trace)
      : ingested(trace), index(Index::open(ingested.directory() / "index")), events(index), threads(index, events) {}
};

TEST_CASE("where nothing is recorded on a thread that launches from a queue, the thread that fed it") {
  const HostFixture fixture(
      trace_of(event("enqueue", "Enqueue", kMainThread, "1", "1", "") +
               event("dequeue", "Dequeue@Mul", kOtherThread, "4", "4", "") +
               event("cuda_runtime", "cudaLaunchKernel", kOtherThread, "5", "2", R"("correlation":1)") +
               event("kernel", "first", kGpuStream, "10", "1", R"("device":0,"stream":7,"correlation":1)") +
               event("cpu_op", "aten::add", kMainThread, "20", "50", "") +
               event("enqueue", "Enqueue", kMainThread, "65", "1", "") +
               event("dequeue", "Dequeue@Add", kOtherThread, "90", "4", "") +
               event("cuda_runtime", "cudaLaunchKernel", kOtherThread, "91", "1", R"("correlation":2)") +
               event("kernel", "second", kGpuStream, "95", "1", R"("device":0,"stream":7,"correlation":2)")));
  const std::uint32_t thread = fixture.threads.of({2, false});
  const HostActivities all(fixture.index, fixture.events,
                           {{11'000, 90'000, thread, 0}, {4'000, 10'000, thread, 1}, {11'000, 95'000, thread, 2}});
  CHECK(all.text(HostLayer::kOperator, all.of(2).largest(HostLayer::kOperator).place) == "aten::add");
  CHECK(all.of(2).place().time == 50'000);
  CHECK(all.text(HostLayer::kCall, all.of(1).place().place) == "cudaLaunchKernel");  // recorded on its own thread
  CHECK(all.of(3).time == 0);                                                        // no gap is of it
  CHECK(all.of(3).place().place == kNoPlace);
}

TEST_CASE("work without a launch is looked at on the busiest thread") {
  const HostFixture fixture(host_bound());
  CHECK(fixture.threads.of({3, false}) == fixture.threads.of({2, false}));
  CHECK(fixture.threads.of({}) == fixture.threads.of({2, false}));
}

struct Event {
  std::int64_t ts, dur;
  std::uint32_t thread, label;
};

struct Columns {
  std::vector<std::int64_t> ts, dur;
  std::vector<std::uint32_t> thread, label, place_of_label;

  explicit Columns(std::vector<Event> events, std::vector<std::uint32_t> places = {})
      : place_of_label(std::move(places)) {
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.ts != b.ts ? a.ts < b.ts : a.dur > b.dur; });
    for (const Event& event : events) {
      ts.push_back(event.ts);
      dur.push_back(event.dur);
      thread.push_back(event.thread);
      label.push_back(event.label);
    }
  }
  [[nodiscard]] HostEvents events() const { return {ts, dur, thread, label, place_of_label}; }
};

// Tick by tick: of the events open at a time the one that ends first, of several the one that comes last.
std::map<std::uint32_t, PlaceTime> slow_times(const Columns& columns, const HostGap& gap) {
  std::map<std::uint32_t, PlaceTime> out;
  const auto place = [&](std::size_t row) {
    return columns.place_of_label.empty() ? columns.label[row] : columns.place_of_label[columns.label[row]];
  };
  const auto at = [&](std::int64_t t) {
    std::uint32_t found = kNoPlace;
    std::int64_t first = INT64_MAX;
    for (std::size_t row = 0; row < columns.ts.size(); ++row) {
      const std::int64_t end = columns.ts[row] + duration_or_zero(columns.dur[row]);
      if (columns.thread[row] != gap.thread || columns.ts[row] > t || end <= t || place(row) == kNoPlace) continue;
      if (end <= first) {
        first = end;
        found = place(row);
      }
    }
    return found;
  };
  for (std::int64_t t = gap.begin; t < gap.end; ++t) {
    if (const std::uint32_t found = at(t)) {
      out[found].place = found;
      ++out[found].time;
    }
  }
  return out;
}

TEST_CASE("random events and gaps, as counted tick by tick") {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  for (int round = 0; round < 200; ++round) {
    std::vector<Event> events;
    const bool outlasting = round % 2 == 1;
    for (std::uint32_t i = 0, n = below(12); i < n; ++i) {
      const std::int64_t ts = outlasting ? below(40) : 4 * below(10);
      const std::int64_t dur = outlasting ? below(30) : 4 * below(3);
      events.push_back({ts, dur, 1 + below(2), 1 + below(4)});
    }
    const Columns columns(events,
                          round % 3 == 0 ? std::vector<std::uint32_t>{0, 1, 1, 2, 3} : std::vector<std::uint32_t>{});
    std::vector<HostGap> gaps;
    for (std::uint32_t i = 0, n = 1 + below(4); i < n; ++i) {
      const std::int64_t begin = below(50);
      gaps.push_back({begin, begin + below(25), 1 + below(2), round % 5 == 0 ? i / 2 : i});
    }
    const HostTimes times = host_times(columns.events(), gaps);
    for (std::uint32_t tally = 0; tally <= gaps.back().tally; ++tally) {
      CAPTURE(round);
      std::map<std::uint32_t, std::int64_t> found, expected;
      for (const PlaceTime& time : times.of(tally)) {
        if (time.time > 0) CHECK(found.emplace(time.place, time.time).second);
      }
      for (const HostGap& gap : gaps) {
        if (gap.tally != tally) continue;
        for (const auto& [place, time] : slow_times(columns, gap)) expected[place] += time.time;
      }
      CHECK(found == expected);
    }
  }
}

// main(1) calls step(2), which calls gemm(3) and norm(4); main also calls norm directly; gemm calls itself.
const std::vector<StackEntry> kStacks = {{0, 0}, {0, 1}, {1, 2}, {2, 3}, {2, 4}, {1, 4}, {3, 3}};
const std::vector<PathTime> kTimes = {{7, 1}, {0, 0}, {0, 0}, {10, 2}, {5, 1}, {20, 4}, {1, 1}};

std::string text(std::span<const CallNode> nodes) {
  std::string out;
  for (const CallNode& node : nodes) {
    out += fmt::format("{}{} {}/{} x{}; ", std::string(node.depth, '.'), node.frame, node.total, node.self, node.count);
  }
  return out;
}

std::int64_t sum_of_self(std::span<const CallNode> nodes) {
  return std::accumulate(nodes.begin(), nodes.end(), std::int64_t{0},
                         [](std::int64_t sum, const CallNode& node) { return sum + node.self; });
}

TEST_CASE("from the outside: what calls what, largest first") {
  CHECK(text(call_tree(kStacks, kTimes, TreeSide::kOutside)) ==
        "1 36/0 x8; .4 20/20 x4; .2 16/0 x4; ..3 11/10 x3; ...3 1/1 x1; ..4 5/5 x1; ");
}

TEST_CASE("from the inside: who is behind a launch") {
  CHECK(text(call_tree(kStacks, kTimes, TreeSide::kInside)) ==
        "4 25/0 x5; .1 20/20 x4; .2 5/0 x1; ..1 5/5 x1; "
        "3 11/0 x3; .2 10/0 x2; ..1 10/10 x2; .3 1/0 x1; ..2 1/0 x1; ...1 1/1 x1; ");
}

TEST_CASE("flat: a frame in a path twice counts once") {
  CHECK(text(flat_profile(kStacks, kTimes)) == "4 25/25 x5; 3 11/11 x3; 1 36/0 x8; 2 16/0 x4; ");
}

TEST_CASE("frames that only pass on are left out, where nothing is lost by it") {
  const std::vector<StackEntry> chain = {{0, 0}, {0, 1}, {1, 2}, {2, 3}, {3, 4}, {3, 5}};
  const std::vector<PathTime> times = {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {3, 1}, {2, 1}};
  const auto outside = call_tree(chain, times, TreeSide::kOutside);
  CHECK(text(without_chains(outside, TreeSide::kOutside)) == "3 5/0 x2; .4 3/3 x1; .5 2/2 x1; ");
  const auto inside = call_tree(chain, times, TreeSide::kInside);
  CHECK(text(without_chains(inside, TreeSide::kInside)) == "4 3/0 x1; .1 3/3 x1; 5 2/0 x1; .1 2/2 x1; ");
}

TEST_CASE("siblings alike are told apart by what is left out before them") {
  // 1 -> {2 -> 9 -> {4, 5}, 3 -> 9 -> {4, 5}}: without 2 and 3, the two 9 could not be told apart.
  const std::vector<StackEntry> stacks = {{0, 0}, {0, 1}, {1, 2}, {1, 3}, {2, 9},
                                          {3, 9}, {4, 4}, {4, 5}, {5, 4}, {5, 5}};
  std::vector<PathTime> times(stacks.size());
  for (std::size_t id = 6; id < stacks.size(); ++id) times[id] = {static_cast<std::int64_t>(20 - id), 1};
  const auto tree = [&] { return without_chains(call_tree(stacks, times, TreeSide::kOutside), TreeSide::kOutside); };
  CHECK(text(tree()) == "1 50/0 x4; .2 27/0 x2; ..4 14/14 x1; ..5 13/13 x1; .3 23/0 x2; ..4 12/12 x1; ..5 11/11 x1; ");
  // One that ran something itself stays, below the frame that tells it from the other.
  times[4] = {1, 1};
  CHECK(text(tree()) ==
        "1 51/0 x5; .2 28/0 x3; ..9 28/1 x3; ...4 14/14 x1; ...5 13/13 x1; .3 23/0 x2; ..4 12/12 x1; ..5 11/11 x1; ");
}

TEST_CASE("frames that are passed over vanish from every path") {
  std::vector<StackEntry> stacks = kStacks;
  stacks[2].frame = kNoFrame;
  CHECK(text(call_tree(stacks, kTimes, TreeSide::kOutside)) == "1 36/0 x8; .4 25/25 x5; .3 11/10 x3; ..3 1/1 x1; ");
}

TEST_CASE("cut to the largest, it is still a tree, and nothing is lost behind it") {
  const auto tree = call_tree(kStacks, kTimes, TreeSide::kOutside);
  CHECK(largest_first(tree, 3) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
  CHECK(largest_first(tree, 4) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
  const std::vector<StackEntry> wide = {{0, 0}, {0, 1}, {1, 2}, {0, 3}};
  const auto two = call_tree(wide, std::vector<PathTime>{{0, 0}, {5, 1}, {1, 1}, {4, 1}}, TreeSide::kOutside);
  CHECK(largest_first(two, 2) == std::vector<std::uint32_t>{0, 2, 1});
}

TEST_CASE("no paths, no nodes") {
  const std::vector<StackEntry> none(1);
  const std::vector<PathTime> times = {{5, 1}};
  CHECK(call_tree(none, times, TreeSide::kOutside).empty());
  CHECK(call_tree(none, times, TreeSide::kInside).empty());
  CHECK(flat_profile(none, times).empty());
}

TEST_CASE("every view accounts for all time that has a path") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const auto pick = [&](unsigned most) { return static_cast<std::uint32_t>(random() % most); };
    std::vector<StackEntry> stacks(1 + pick(30));
    std::vector<PathTime> times(stacks.size());
    std::int64_t all = 0;
    for (std::uint32_t id = 1; id < stacks.size(); ++id) {
      stacks[id] = {pick(id), 1 + pick(5)};
      if (pick(2) == 0) times[id] = {pick(100), 1 + pick(3)};
      all += times[id].time;
    }
    for (const TreeSide side : {TreeSide::kOutside, TreeSide::kInside}) {
      const auto tree = call_tree(stacks, times, side);
      std::int64_t roots = 0;
      for (std::size_t id = 0; id < tree.size(); ++id) {
        if (tree[id].parent == kNoNode) {
          roots += tree[id].total;
        } else {
          CHECK(tree[id].parent < id);
          CHECK(tree[id].total <= tree[tree[id].parent].total);
        }
      }
      CHECK(roots == all);
      CHECK(sum_of_self(tree) == all);
      CHECK(sum_of_self(without_chains(tree, side)) == all);
    }
    CHECK(sum_of_self(flat_profile(stacks, times)) == all);
  }
}

struct Kernels {
  std::vector<std::int64_t> dur;
  std::vector<std::uint32_t> stream, label;
  [[nodiscard]] LabelledKernels view() const { return {dur, stream, label}; }
};

std::string text(const std::vector<SequenceStats>& found) {
  std::string out;
  for (const SequenceStats& one : found) {
    out += fmt::format("{} x{} {}; ", fmt::join(one.labels, "-"), one.count, one.total);
  }
  return out;
}

TEST_CASE("what repeats is found, largest first") {
  const Kernels kernels{{1, 2, 9, 1, 2, 9, 1, 2}, std::vector<std::uint32_t>(8, 1), {5, 6, 7, 5, 6, 7, 5, 6}};
  CHECK(text(find_sequences(kernels.view(), 2, 2)) == "6-7 x2 22; 7-5 x2 20; 5-6 x3 9; ");
  CHECK(text(find_sequences(kernels.view(), 3, 2)) == "5-6-7 x2 24; 6-7-5 x2 24; 7-5-6 x2 24; ");
  CHECK(find_sequences(kernels.view(), 9, 1).empty());
}

TEST_CASE("kernels that are not selected are passed over, unknown durations add nothing") {
  const Kernels kernels{{1, 100, kUnknownValue}, {1, 1, 1}, {5, kNoLabel, 6}};
  const auto found = find_sequences(kernels.view(), 2, 1);
  CHECK(text(found) == "5-6 x1 1; ");
}

TEST_CASE("the same as counting by hand") {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    Kernels kernels;
    for (auto n = random() % 60; n > 0; --n) {
      kernels.dur.push_back(static_cast<std::int64_t>(random() % 9));
      kernels.stream.push_back(1 + static_cast<std::uint32_t>(random() % 2));
      kernels.label.push_back(static_cast<std::uint32_t>(random() % 3));
    }
    const std::size_t length = 1 + random() % 4;
    std::map<std::vector<std::uint32_t>, std::pair<std::int64_t, std::int64_t>> expected;
    for (std::uint32_t stream = 1; stream <= 2; ++stream) {
      std::vector<std::size_t> own;
      for (std::size_t i = 0; i < kernels.dur.size(); ++i) {
        if (kernels.stream[i] == stream) own.push_back(i);
      }
      std::map<std::vector<std::uint32_t>, std::size_t> free_from;
      for (std::size_t at = 0; at + length <= own.size(); ++at) {
        std::vector<std::uint32_t> labels;
        std::int64_t total = 0;
        for (std::size_t k = at; k < at + length; ++k) {
          labels.push_back(kernels.label[own[k]]);
          total += kernels.dur[own[k]];
        }
        if (free_from[labels] > at) continue;
        free_from[labels] = at + length;
        ++expected[labels].first;
        expected[labels].second += total;
      }
    }
    const auto found = find_sequences(kernels.view(), length, 1);
    REQUIRE(found.size() == expected.size());
    for (const SequenceStats& one : found) {
      CHECK(std::pair(one.count, one.total) == expected[one.labels]);
    }
  }
}

// Kernel time by module, class of modules and line of code.

// A call that holds what comes next, until it is closed.
class Trace {
 public:
  Trace& call(std::string_view name, int dur) {
    text_ += event("python_function", name, kMainThread, std::to_string(now_), std::to_string(dur),
                   fmt::format(R"("Python id":{})", ++id_));
    return *this;
  }
  Trace& kernel(int dur) {
    ++now_;
    text_ += event("cuda_runtime", "cudaLaunchKernel", kMainThread, std::to_string(now_), "1",
                   fmt::format(R"("correlation":{})", now_));
    text_ += event("kernel", "gemm", kGpuStream, std::to_string(1000 + 100 * now_), std::to_string(dur),
                   fmt::format(R"("device":0,"stream":7,"correlation":{})", now_));
    now_ += 2;
    return *this;
  }
  Trace& later(int time) {
    now_ += time;
    return *this;
  }
  [[nodiscard]] std::string text() const { return trace_of(text_); }

 private:
  std::string text_;
  int now_ = 0, id_ = 0;
};

// Two layers of one linear each, called by vllm through torch; a kernel of the script and one of a library alone.
std::string model() {
  Trace trace;
  trace.call("serve.py(1): main", 100).kernel(5);
  trace.call("vllm/model.py(7): forward", 40);
  for (int layer = 0; layer < 2; ++layer) {
    trace.call(fmt::format("nn.Module: Layer_{}", layer), 10).call("torch/nn/modules/module.py(2): _call_impl", 10);
    trace.call(fmt::format("nn.Module: Linear_{}", layer), 8).kernel(10 + layer);
    trace.later(17);
  }
  trace.later(60);
  return trace.call("threading.py(5): run", 20).kernel(3).text();
}

struct StackFixture {
  Ingested ingested{model()};
  Index index = Index::open(ingested.directory() / "index");

  [[nodiscard]] std::string rows(const FrameChoice& frames, CallTreeView view) const {
    PassOptions options;
    options.frames = frames;
    options.view = view;
    return ask_passes(index,
                      "SELECT frame, depth, total_time, self_time, frames, all_time FROM call_tree ORDER BY position",
                      {}, options);
  }
};

TEST_CASE("modules of a class under one caller are one, and counted") {
  const StackFixture fixture;
  CHECK(fixture.rows({Frames::kModules, {}}, CallTreeView::kTree) ==
        "[no module] 0 8000 8000 1 29000; nn.Module: Layer_* 0 21000 0 2 29000; nn.Module: Linear_* 1 21000 21000 2 "
        "29000");
  CHECK(fixture.rows({Frames::kEachModule, {}}, CallTreeView::kTree) ==
        "[no module] 0 8000 8000 1 29000; nn.Module: Layer_1 0 11000 0 1 29000; "
        "nn.Module: Linear_1 1 11000 11000 1 29000; nn.Module: Layer_0 0 10000 0 1 29000; "
        "nn.Module: Linear_0 1 10000 10000 1 29000");
}

TEST_CASE("by class of module") {
  CHECK(StackFixture().rows({Frames::kModuleClasses, {}}, CallTreeView::kFlat) ==
        "[no module] 0 8000 8000 1 29000; Linear 0 21000 21000 2 29000; Layer 0 21000 0 2 29000");
}

TEST_CASE("by line of somebody's own code") {
  const StackFixture fixture;
  CHECK(fixture.rows({Frames::kOwn, {}}, CallTreeView::kFlat) ==
        "[no own frame] 0 3000 3000 1 29000; vllm/model.py(7): forward 0 21000 21000 1 29000; "
        "serve.py(1): main 0 26000 5000 1 29000");
  CHECK(fixture.rows({Frames::kOwn, {"vllm/*"}}, CallTreeView::kFlat) ==
        "[no own frame] 0 8000 8000 1 29000; vllm/model.py(7): forward 0 21000 21000 1 29000");
  CHECK(fixture.rows({Frames::kOwn, {"modules/*"}}, CallTreeView::kFlat) ==
        "[no own frame] 0 8000 8000 1 29000; torch/nn/modules/module.py(2): _call_impl 0 21000 21000 1 29000");
}

}  // namespace
}  // namespace tracedb
