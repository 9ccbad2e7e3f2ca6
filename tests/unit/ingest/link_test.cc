#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "base/unknown.h"
#include "index/index.h"
#include "index/verify.h"
#include "ingest/link/device_links.h"
#include "ingest/link/launch_table.h"
#include "ingest/link/open_intervals.h"
#include "ingest/store/records.h"
#include "support/ingested.h"

namespace tracedb {
namespace {

KernelSum sum_of(const std::vector<std::int64_t>& durations) {
  KernelSums sums;
  for (const std::int64_t dur : durations) sums.add(1, dur);
  return sums.finish().at(0);
}

std::string text(const KernelSum& sum) {
  return fmt::format("{} of {}, total {}, {}..{}, median {}, percentiles {} {} {}", sum.known, sum.n, sum.total,
                     sum.min, sum.max, sum.median, sum.p50, sum.p90, sum.p99);
}

TEST_CASE("percentiles are nearest ranks, the median is the middle, unknown durations are counted, not summed") {
  CHECK(text(sum_of({7})) == "1 of 1, total 7, 7..7, median 7, percentiles 7 7 7");
  CHECK(text(sum_of({4, 1})) == "2 of 2, total 5, 1..4, median 2.5, percentiles 1 4 4");
  const KernelSum ten = sum_of({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  CHECK(text(ten) == "10 of 10, total 55, 1..10, median 5.5, percentiles 5 9 10");
  CHECK(ten.sum_of_squares == 385);
  std::vector<std::int64_t> hundred;
  for (std::int64_t i = 1; i <= 101; ++i) hundred.push_back(i);
  CHECK(text(sum_of(hundred)) == "101 of 101, total 5151, 1..101, median 51, percentiles 51 91 100");
  CHECK(text(sum_of({kUnknownValue, 0, 10, kUnknownValue})) ==
        "2 of 4, total 10, 0..10, median 5, percentiles 0 10 10");
  const KernelSum unknown = sum_of({kUnknownValue});
  CHECK(unknown.n == 1);
  CHECK(unknown.known == 0);
  CHECK(unknown.total == 0);
  // More than 32 bits.
  CHECK(text(sum_of({5'000'000'000, 3, 5'000'000'001, 4'294'967'295, 4'294'967'296})) ==
        "5 of 5, total 18589934595, 3..5000000001, median 4294967296, percentiles 4294967296 5000000001 5000000001");
}

TEST_CASE("names are kept apart, in order of their first kernel") {
  KernelSums sums;
  for (const auto& [name, dur] : {std::pair(2U, 10), {1U, 1}, {2U, 20}, {2U, 40}, {2U, 30}}) sums.add(name, dur);
  const std::vector<KernelSum> names = sums.finish();
  REQUIRE(names.size() == 2);
  CHECK(names[0].name == 2);
  CHECK(text(names[0]) == "4 of 4, total 100, 10..40, median 25, percentiles 20 40 40");
  CHECK(names[1].total == 1);
  CHECK(KernelSums{}.finish().empty());
}

// Links that flows make, and links that they confirm.

std::string flow(std::string_view ph, int id, std::string_view track, std::string_view ts) {
  return fmt::format(R"({{"ph":"{}","cat":"ac2g","name":"ac2g","id":{},{},"ts":{},"bp":"e"}},)", ph, id, track, ts);
}
std::string arrow(int id, std::string_view thread, std::string_view from, std::string_view to) {
  return flow("s", id, thread, from) + flow("f", id, kGpuStream, to);
}

constexpr std::string_view kLinks =
    "SELECT n.name, t.value, o.value FROM kernel k JOIN kernel_name n ON n.id = k.name_id LEFT JOIN runtime_call r ON "
    "r.id = k.launch_id LEFT JOIN string t ON t.id = r.name_id LEFT JOIN cpu_op c ON c.id = k.cpu_op_id LEFT JOIN "
    "string o ON o.id = c.name_id ORDER BY k.id";

constexpr std::string_view kStream = R"("device":0,"stream":7)";

std::string verified(Ingested& trace) {
  for (const VerifyFinding& finding : verify(Index::open(trace.directory() / "index"), {})) {
    if (finding.check == "flows") return finding.detail;
  }
  return "";
}

TEST_CASE("kernels without a correlation take the call, or the operator, where their flow begins") {
  Ingested index(trace_of(
      event("cpu_op", "aten::mm", kMainThread, "0", "10", R"("External id":1)") +
      event("cuda_runtime", "cudaLaunchKernel", kMainThread, "5", "2") +
      event("cpu_op", "aten::relu", kMainThread, "40", "10", R"("External id":2)") +
      event("cpu_op", "aten::add", kOtherThread, "60", "10", R"("External id":3)") + arrow(1, kMainThread, "5", "20") +
      arrow(2, kOtherThread, "62", "80") + arrow(3, kMainThread, "95", "90") +
      // The External id of the first names an operator that starts 20 us behind it.
      event("kernel", "gemm", kGpuStream, "20", "5", fmt::format(R"("External id":2,{})", kStream)) +
      event("kernel", "add", kGpuStream, "80", "5", kStream) +
      event("kernel", "backwards", kGpuStream, "90", "5", kStream)));
  CHECK(index.rows(kLinks) == "gemm cudaLaunchKernel aten::mm; add - aten::add; backwards - -");
  CHECK(index.meta("links_made_by_flow") == "2");
  CHECK(index.issues(IssueKind::kKernelWithoutLaunch) == 2);
}

TEST_CASE("flows by the track that events are drawn on, and with ids that are texts") {
  Ingested index(trace_of(event("cpu_op", "op", kMainThread, "0", "10") +
                          R"({"ph":"s","cat":"async","name":"launch","id":"x1","pid":100,"tid":1,"ts":3},)"
                          R"({"ph":"f","cat":"async","name":"launch","id":"x1","pid":2,"tid":"stream 7","ts":20},)" +
                          event("kernel", "k", R"("pid":2,"tid":"stream 7")", "20", "5", kStream)));
  CHECK(index.rows(kLinks) == "k - op");
}

TEST_CASE("an External id never links to an operator behind the kernel, nor where it is another numbering") {
  const auto op = [](int id) {
    return event("cpu_op", fmt::format("op{}", id), kMainThread, std::to_string(100 * id), "10",
                 fmt::format(R"("External id":{})", id));
  };
  const auto kernel = [](int at, int id) {
    return event("kernel", fmt::format("k{}", id), kGpuStream, std::to_string(at), "5",
                 fmt::format(R"("External id":{},"correlation":{})", id, 900 + at));
  };
  std::string events = event("cuda_runtime", "cudaLaunchKernel", kMainThread, "1", "2", R"("correlation":1)");
  std::string kernels = kernel(50, 1);
  for (int id = 1; id <= 20; ++id) events += op(id);
  for (int id = 2; id <= 20; ++id) kernels += kernel(100 * id + 50, id);
  CHECK(Ingested(trace_of(events + kernels))
            .rows("SELECT count(*), min(cpu_op_id), sum(cpu_op_id = external_id) "
                  "FROM kernel") == "20 2 19");
  // With half of the ids too early none of them can be believed, with correlations or without.
  Ingested late(trace_of(events + kernel(50, 1) + kernel(250, 2) + kernel(260, 3) + kernel(450, 4)));
  CHECK(late.rows(kLinks) == "k1 - -; k2 - -; k3 - -; k4 - -");
  std::string without;
  for (int id = 1; id <= 4; ++id) {
    without += event("kernel", fmt::format("k{}", id), kGpuStream, std::to_string(id < 3 ? 50 + id : 500 + id), "1",
                     fmt::format(R"("External id":{})", id));
  }
  Ingested other(trace_of(events + without));
  CHECK(other.rows(kLinks) == "k1 - -; k2 - -; k3 - -; k4 - -");
}

TEST_CASE("verify says how many links the flows confirm, and which they contradict") {
  const auto launched = [](int id) {
    return event("cuda_runtime", "cudaLaunchKernel", kMainThread, std::to_string(10 * id), "2",
                 fmt::format(R"("correlation":{})", id)) +
           event("kernel", fmt::format("k{}", id), kGpuStream, std::to_string(10 * id + 5), "1",
                 fmt::format(R"("correlation":{},{})", id, kStream));
  };
  const std::string launches = launched(1) + launched(2) + launched(3);
  Ingested good(trace_of(launches + arrow(1, kMainThread, "10", "15") + arrow(2, kMainThread, "21", "25")));
  CHECK(good.meta("links_confirmed_by_flow") == "2");
  CHECK(good.meta("links_contradicted_by_flow") == "0");
  CHECK(verified(good) == "of 3 launch links the flows of the trace confirm 2 and contradict 0; flows alone made 0");
  Ingested bad(trace_of(launches + arrow(1, kMainThread, "20", "15") + arrow(2, kOtherThread, "20", "25") +
                        arrow(3, kMainThread, "30", "35")));
  CHECK(bad.meta("links_confirmed_by_flow") == "1");
  CHECK(bad.meta("links_contradicted_by_flow") == "1");
  CHECK(bad.issues(IssueKind::kFlowContradictsLaunch) == 1);
}

struct Case {
  std::string name;
  std::size_t buffer_bytes;
};
// Everything in memory; three pages of many in memory; less than one page asked for.
const Case kCases[] = {{"in memory", 1 << 20}, {"spilled", 50'000}, {"least", 1}};

LaunchTable table_of(const std::vector<LaunchRecord>& records, std::size_t buffer_bytes) {
  const SpoolOptions options{std::filesystem::temp_directory_path(), buffer_bytes};
  LaunchSorter sorter(options);
  for (const LaunchRecord& record : records) sorter.push(record);
  return LaunchTable(sorter, options);
}

LaunchRecord launch(std::int64_t correlation, std::uint32_t process, CallKind kind, std::int64_t ts) {
  LaunchRecord record{};
  record.correlation = correlation;
  record.process = process;
  record.kind = kind;
  record.ts = ts;
  return record;
}

TEST_CASE("a launch table is a sorted list, wherever it keeps its pages") {
  std::mt19937 random(7);
  std::vector<LaunchRecord> records;
  for (std::uint32_t call = 0; call < 5000; ++call) {
    // Mostly counting up with some disorder and repetition, now and then anything at all.
    const std::int64_t correlation =
        call % 50 == 0 ? static_cast<std::int64_t>(random()) - (1LL << 31) : call / 3 + random() % 40;
    const CallKind kinds[] = {CallKind::kLaunch, CallKind::kSync, CallKind::kOther};
    records.push_back(launch(correlation, static_cast<std::uint32_t>(1 + random() % 3), kinds[random() % 3], call));
    records.back().origin.call = call;
  }
  std::vector<LaunchRecord> sorted = records;
  std::stable_sort(sorted.begin(), sorted.end(), ByLaunchKey{});
  for (const Case& tried : kCases) {
    CAPTURE(tried.name);
    LaunchTable table = table_of(records, tried.buffer_bytes);
    REQUIRE(table.size() == sorted.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) REQUIRE(table.at(i).origin.call == sorted[i].origin.call);
    for (int i = 0; i < 3000; ++i) {
      const LaunchKey key{static_cast<std::int64_t>(random() % 2000) - 20, static_cast<std::uint32_t>(random() % 5),
                          static_cast<unsigned>(random() % 3), static_cast<std::int64_t>(random() % 5000)};
      const auto expected =
          std::find_if(sorted.begin(), sorted.end(), [&](const LaunchRecord& record) { return key_of(record) >= key; });
      CHECK(table.lower_bound(key) == static_cast<std::size_t>(expected - sorted.begin()));
    }
  }
}

TEST_CASE("the launch among the calls comes first") {
  LaunchTable table = table_of({launch(1, 1, CallKind::kSync, 5), launch(1, 1, CallKind::kOther, 6),
                                launch(1, 1, CallKind::kGraphLaunch, 7), launch(1, 1, CallKind::kCopy, 4)},
                               1);
  CHECK(table.at(0).kind == CallKind::kCopy);
  CHECK(table.at(1).kind == CallKind::kGraphLaunch);
  CHECK(table.at(2).kind == CallKind::kOther);
  CHECK(table.at(3).kind == CallKind::kSync);
}

TEST_CASE("a table without launches finds nothing") {
  LaunchTable table = table_of({}, 0);
  CHECK(table.size() == 0);
  CHECK(table.lower_bound({1, 0, 0, 0}) == 0);
}

int at(const OpenIntervals<int>& open, std::int64_t t) {
  const int* found = open.innermost(t);
  return found == nullptr ? 0 : *found;
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

std::string frame(std::string_view name, std::string_view ts, std::string_view dur, std::string_view ids = {}) {
  return event("python_function", name, kMainThread, ts, dur, ids);
}
std::string call(std::string_view ts) { return event("cuda_runtime", "cudaLaunchKernel", kMainThread, ts, "0.5"); }

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

TEST_CASE("python frames nest by time; where they overlap or have the same times") {
  const auto paths_of = [](const std::string& events) {
    return Ingested(trace_of(events))
        .rows(std::string(kPaths) + "SELECT path FROM runtime_call r JOIN p ON p.id = r.stack_id ORDER BY r.id");
  };
  // Whatever their parent ids say: the id of `inner` skips `middle`, which is around it.
  CHECK(paths_of(frame("outer", "0", "100", R"("Python id":1,"Python parent id":null)") +
                 frame("middle", "10", "50", R"("Python id":2,"Python parent id":1)") +
                 frame("inner", "20", "10", R"("Python id":3,"Python parent id":1)") + call("25")) ==
        "outer>middle>inner");
  // A frame that outlasts the one around it is on no path while that one is open.
  CHECK(paths_of(frame("outer", "0", "100") + frame("short", "10", "30") + frame("outlasting", "20", "60") +
                 frame("leaf", "30", "5") + frame("late", "50", "5") + call("25") + call("32") + call("45") +
                 call("52")) == "outer>short; outer>short>leaf; outer>outlasting; outer>outlasting>late");
  // Ids tell which of those with the same times encloses which, and which stand side by side.
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
  CHECK(index.rows(
            "SELECT t.value, f.line, f.function FROM python_call c JOIN stack s ON s.id = c.stack_id JOIN frame f ON "
            "f.id = s.frame_id LEFT JOIN string t ON t.id = f.file_id ORDER BY c.id") ==
        "vllm/model.py 12 forward; - - <built-in sum>");
  CHECK(index.rows("SELECT count(*) FROM frame f JOIN string s ON s.id = f.file_id") == "1");
}

// Steps and passes of training: launches of autograd's thread, marks that old profilers wrote as operators.

constexpr std::string_view kAutograd = R"("pid":100,"tid":9)";
constexpr std::string_view kSteps =
    "SELECT n.name, t.value FROM kernel k JOIN kernel_name n ON n.id = k.name_id LEFT JOIN step s ON s.id = k.step_id "
    "LEFT JOIN annotation a ON a.id = s.annotation_id LEFT JOIN string t ON t.id = a.name_id ORDER BY k.id";
constexpr std::string_view kPasses =
    "SELECT n.name, k.pass FROM kernel k JOIN kernel_name n ON n.id = k.name_id ORDER BY k.id";

std::string numbered(std::string_view name, std::string_view thread, int ts, int dur, int number, int forward_thread) {
  return event(
      "cpu_op", name, thread, std::to_string(ts), std::to_string(dur),
      R"("Fwd thread id":)" + std::to_string(forward_thread) + R"(,"Sequence number":)" + std::to_string(number));
}

TEST_CASE("a ProfilerStep takes in the launches of the process's other threads, a server's step does not") {
  Ingested index(trace_of(event("user_annotation", "ProfilerStep#3", kMainThread, "0", "100") +
                          event("user_annotation", "ProfilerStep#4", kMainThread, "100", "100") +
                          launch_at("forward", kMainThread, 10) + launch_at("backward", kAutograd, 50) +
                          launch_at("late", kAutograd, 150) + launch_at("after", kAutograd, 250) +
                          launch_at("other_process", R"("pid":2,"tid":1)", 60)));
  CHECK(index.rows(kSteps) ==
        "forward ProfilerStep#3; backward ProfilerStep#3; other_process -; late ProfilerStep#4; after -");
  Ingested server(trace_of(event("user_annotation", "execute_context_0(0)_generation_4(4)", kMainThread, "0", "100") +
                           launch_at("own", kMainThread, 10) + launch_at("other", kAutograd, 50)));
  CHECK(server.rows(kSteps) == "own execute_context_0(0)_generation_4(4); other -");
}

TEST_CASE("a launch whose thread has a mark of its own keeps it, and two threads' marks cannot be told apart") {
  Ingested index(trace_of(event("user_annotation", "ProfilerStep#3", kMainThread, "0", "100") +
                          event("user_annotation", "execute_context_0(0)_generation_4(4)", kAutograd, "20", "10") +
                          launch_at("own", kAutograd, 25) + launch_at("shared", kAutograd, 50) +
                          event("user_annotation", "ProfilerStep#8", R"("pid":100,"tid":8)", "60", "40") +
                          launch_at("doubtful", kAutograd, 70)));
  CHECK(index.rows(kSteps) == "own execute_context_0(0)_generation_4(4); shared ProfilerStep#3; doubtful -");
}

TEST_CASE("memory copies of other threads are in a ProfilerStep, too") {
  Ingested index(trace_of(event("user_annotation", "ProfilerStep#3", kMainThread, "0", "100") +
                          event("cuda_runtime", "cudaMemcpyAsync", kAutograd, "50", "1", R"("correlation":5)") +
                          event("gpu_memcpy", "Memcpy HtoD", kGpuStream, "500", "1", R"("correlation":5)")));
  CHECK(index.rows("SELECT step_id FROM memory_op") == "1");
}

TEST_CASE("old profilers write ProfilerStep and Optimizer.step as operators") {
  Ingested index(trace_of(event("Operator", "ProfilerStep#3", kMainThread, "0", "100") +
                          event("Operator", "Optimizer.step#SGD.step", kMainThread, "60", "30") +
                          event("Operator", "aten::add_", kMainThread, "65", "10") +
                          launch_at("forward", kMainThread, 10) + launch_at("update", kMainThread, 70)));
  CHECK(index.rows(kSteps) == "forward ProfilerStep#3; update ProfilerStep#3");
  CHECK(index.rows(kPasses) == "forward forward; update optimizer");
  CHECK(index.rows("SELECT t.value FROM cpu_op c JOIN string t ON t.id = c.name_id") == "aten::add_");
  CHECK(index.rows("SELECT kind, count(*) FROM annotation GROUP BY 1") == "user 2");
  CHECK(index.rows("SELECT stored, skipped FROM event_count WHERE category = 'Operator'") == "3 0");
}

TEST_CASE("passes") {
  constexpr const char* kEvaluate = "autograd::engine::evaluate_function: MmBackward0";
  const struct {
    std::string_view what;
    std::string events;
    const char* passes;
  } cases[] = {
      {"optimizer by its mark, backward by autograd's operators, else forward",
       event("user_annotation", "Optimizer.step#SGD.step", kMainThread, "60", "30") +
           event("cpu_op", kEvaluate, kAutograd, "40", "10") + event("cpu_op", "aten::mm", kAutograd, "41", "8") +
           event("cpu_op", "aten::mm", kMainThread, "9", "8") + launch_at("forward", kMainThread, 10) +
           launch_at("backward", kAutograd, 43) + launch_at("update", kMainThread, 70) +
           launch_at("helper", R"("pid":100,"tid":8)", 75) + launch_at("other_process", R"("pid":2,"tid":1)", 80) +
           event("kernel", "unknown", kGpuStream, "2000", "1"),
       "forward forward; backward backward; update optimizer; helper optimizer; other_process -; unknown -"},
      {"operators of autograd before it put evaluate_function around them",
       event("Operator", "CudnnConvolutionBackward", kAutograd, "40", "10") +
           event("Operator", "torch::autograd::AccumulateGrad", kAutograd, "60", "10") +
           event("Operator", "aten::threshold_backward", kMainThread, "80", "10") + launch_at("wgrad", kAutograd, 45) +
           launch_at("add", kAutograd, 65) + launch_at("forward", kMainThread, 85),
       "wgrad backward; add backward; forward forward"},
      {"a thread whose operators have sequence numbers that another thread had first is autograd's",
       numbered("aten::mm", kMainThread, 0, 10, 5, 0) + numbered("MmGradient", kAutograd, 40, 10, 5, 1) +
           launch_at("forward", kMainThread, 1) + launch_at("backward", kAutograd, 45) +
           launch_at("hook", kAutograd, 60),
       "forward forward; backward backward; hook backward"},
      {"each thread counts by itself: two of them that compute forward have the same numbers",
       numbered("aten::mm", kMainThread, 0, 10, 5, 0) + numbered("aten::mm", kAutograd, 5, 10, 5, 0) +
           launch_at("first", kMainThread, 1) + launch_at("second", kAutograd, 6),
       "first -; second -"},
      {"an operator where a fwdbwd flow ends is of the backward pass, and what it encloses",
       event("cpu_op", "gradient", kMainThread, "40", "10") + event("cpu_op", "aten::mm", kMainThread, "41", "8") +
           R"({"ph":"s","cat":"fwdbwd","name":"fwdbwd","id":1,"pid":100,"tid":1,"ts":0},)"
           R"({"ph":"f","bp":"e","cat":"fwdbwd","name":"fwdbwd","id":1,"pid":100,"tid":1,"ts":40},)" +
           launch_at("forward", kMainThread, 10) + launch_at("backward", kMainThread, 43),
       "forward forward; backward backward"},
      {"a kernel without a launch has that of its operator",
       event("cpu_op", kEvaluate, kAutograd, "40", "10", R"("External id":3)") +
           event("kernel", "k", kGpuStream, "45", "1", R"("External id":3)"),
       "k backward"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    CHECK(Ingested(trace_of(one.events)).rows(kPasses) == one.passes);
  }
}

TEST_CASE("calls of the model: modules that no other module called") {
  Ingested index(trace_of(
      event("python_function", "main.py(1): main", kMainThread, "0", "100",
            R"("Python id":1,"Python parent id":null)") +
      event("python_function", "nn.Module: ResNet_0", kMainThread, "5", "20", R"("Python id":2,"Python parent id":1)") +
      event("python_function", "nn.Module: Conv2d_0", kMainThread, "6", "9", R"("Python id":3,"Python parent id":2)") +
      event("python_function", "nn.Module: ResNet_0", kMainThread, "50", "20",
            R"("Python id":4,"Python parent id":1)")));
  CHECK(index.rows("SELECT m.ts, m.dur, t.value FROM module_call m JOIN string t ON t.id = m.name_id ORDER BY m.id") ==
        "5000 20000 nn.Module: ResNet_0; 50000 20000 nn.Module: ResNet_0");
}

}  // namespace
}  // namespace tracedb
