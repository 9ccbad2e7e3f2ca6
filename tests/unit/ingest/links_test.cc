#include <doctest/doctest.h>

#include <limits>

#include "ingest/link/cpu_links.h"
#include "ingest/link/device_links.h"
#include "ingest/store/external_id_table.h"
#include "support/ingested.h"

namespace tracedb {
namespace {

// What belongs to what, through the whole of ingest.

constexpr std::string_view kLinksOfIndex =
    "SELECT s.value, k.launch_id, k.cpu_op_id, k.stack_id, k.annotation_id, k.step_id FROM kernel k JOIN string s ON "
    "s.id = k.name_id ORDER BY k.id";

TEST_CASE("a kernel finds its call, operator, python path, annotation and step") {
  Ingested index(trace_of(
      event("python_function", "a.py(1): main", kMainThread, "0", "100", R"("Python id":1,"Python parent id":null)") +
      event("python_function", "nn.Module: Linear_0", kMainThread, "5", "90", R"("Python id":2,"Python parent id":1)") +
      event("user_annotation", "execute_context_0(0)_generation_4(4)", kMainThread, "1", "98") +
      event("user_annotation", "inner", kMainThread, "4", "50") +
      event("cpu_op", "aten::linear", kMainThread, "10", "40", R"("External id":11)") +
      event("cpu_op", "aten::addmm", kMainThread, "12", "30", R"("External id":12)") +
      event("cuda_runtime", "cudaLaunchKernel", kMainThread, "20", "5", R"("correlation":7,"External id":12)") +
      event("kernel", "gemm", kGpuStream, "200", "10", R"("correlation":7,"External id":12)")));
  CHECK(index.rows(kLinksOfIndex) == "gemm 1 2 2 2 1");
  CHECK(index.rows("SELECT id, parent_id, depth FROM cpu_op ORDER BY id") == "1 - 0; 2 1 1");
  CHECK(index.rows("SELECT cpu_op_id, stack_id, annotation_id, step_id, kind FROM runtime_call") == "2 2 2 1 launch");
  CHECK(index.rows("SELECT id, parent_id, depth FROM stack ORDER BY id") == "1 - 1; 2 1 2");
  CHECK(index.rows("SELECT kind, generation_requests, first_kernel_id, last_kernel_id FROM step") == "decode 4 1 1");
  CHECK(index.rows("SELECT id, parent_id FROM annotation ORDER BY id") == "1 -; 2 1");
}

TEST_CASE("one graph launch owns all its kernels") {
  std::string events = event("cuda_runtime", "cudaGraphLaunch", kMainThread, "10", "5", R"("correlation":5)");
  for (int i = 0; i < 40; ++i) {
    events += event("kernel", "node", kGpuStream, std::to_string(20 + i), "1",
                    R"("correlation":5,"graph node id":)" + std::to_string(i));
  }
  Ingested index(trace_of(events));
  CHECK(index.rows("SELECT launch_id, count(*) FROM kernel GROUP BY 1") == "1 40");
  CHECK(index.rows("SELECT kind FROM runtime_call") == "graph_launch");
  CHECK(index.rows("SELECT count(DISTINCT graph_node_id) FROM kernel") == "40");
  CHECK(index.rows("SELECT id FROM kernel WHERE first_of_launch = 1") == "1");
  CHECK(index.rows("SELECT count(*) FROM kernel WHERE first_of_launch = 0") == "39");
  CHECK(index.rows("SELECT count(queue_delay), count(*) FROM launches") == "1 40");
}

TEST_CASE("several calls under one correlation: the launch, the last one before the kernel") {
  Ingested index(trace_of(event("cuda_runtime", "hipDeviceSynchronize", kMainThread, "19", "1", R"("correlation":5)") +
                          event("cuda_runtime", "hipLaunchKernel", kMainThread, "10", "1", R"("correlation":5)") +
                          event("cuda_runtime", "hipLaunchKernel", kMainThread, "15", "1", R"("correlation":5)") +
                          event("cuda_runtime", "hipLaunchKernel", kMainThread, "30", "1", R"("correlation":5)") +
                          event("kernel", "k", kGpuStream, "20", "1", R"("correlation":5)")));
  CHECK(index.rows("SELECT r.ts FROM kernel k JOIN runtime_call r ON r.id = k.launch_id") == "5000");
}

TEST_CASE("merged traces: correlations of two processes do not mix") {
  // Both processes count correlations and External ids from the same number; each drives a device of its own.
  std::string events;
  for (int i = 1; i <= 6; ++i) {
    const std::string ids = R"("correlation":)" + std::to_string(i) + R"(,"External id":)" + std::to_string(i);
    const auto at = [&](int base) { return std::to_string(base + 10 * i); };
    for (const char* process : {"1", "2"}) {
      const bool second = process[0] == '2';
      const std::string thread = std::string(R"("pid":)") + process + R"(,"tid":1)";
      events += event("cpu_op", second ? "op2" : "op1", thread, at(second ? 1000 : 0), "8",
                      R"("External id":)" + std::to_string(i));
      events += event("cuda_runtime", "cudaLaunchKernel", thread, at(second ? 1001 : 1), "2", ids);
      events += event("kernel", second ? "k2" : "k1", std::string(R"("pid":)") + (second ? "9" : "8") + R"(,"tid":7)",
                      at(second ? 1003 : 3), "1", ids + (second ? R"(,"device":9)" : R"(,"device":8)"));
    }
  }
  Ingested index(trace_of(events));
  CHECK(index.rows(
            "SELECT ks.value, os.value, p.pid, count(*) FROM kernel k JOIN runtime_call r ON r.id = k.launch_id "
            "JOIN thread t ON t.id = r.thread_id JOIN process p ON p.id = t.process_id JOIN string ks ON ks.id = "
            "k.name_id JOIN cpu_op o ON o.id = k.cpu_op_id JOIN string os ON os.id = o.name_id GROUP BY 1, 2, 3") ==
        "k1 op1 1 6; k2 op2 2 6");
  CHECK(index.issues(IssueKind::kAmbiguousLaunch) == 0);
}

TEST_CASE("two processes that cannot be told apart leave the kernel unlinked") {
  Ingested index(
      trace_of(event("cuda_runtime", "cudaLaunchKernel", R"("pid":1,"tid":1)", "1", "1", R"("correlation":5)") +
               event("cuda_runtime", "cudaLaunchKernel", R"("pid":2,"tid":1)", "1", "1", R"("correlation":5)") +
               event("kernel", "k", kGpuStream, "5", "1", R"("correlation":5)")));
  CHECK(index.rows("SELECT launch_id FROM kernel") == "-");
  CHECK(index.issues(IssueKind::kAmbiguousLaunch) == 1);
}

TEST_CASE("merged ranks that look alike: a wrong launch is worse than none") {
  // Two ranks in lockstep, the device 200 us behind; the second lacks one call.
  std::string events;
  for (int i = 1; i <= 20; ++i) {
    const std::string id = R"("correlation":)" + std::to_string(i);
    const auto at = [&](int base) { return std::to_string(base + 10 * i); };
    events += event("cuda_runtime", "cudaLaunchKernel", R"("pid":1,"tid":1)", at(1000), "2", id);
    if (i != 7) events += event("cuda_runtime", "cudaLaunchKernel", R"("pid":2,"tid":1)", at(1005), "2", id);
    events += event("kernel", "a", R"("pid":0,"tid":7)", at(1200), "8", id);
    events += event("kernel", "b", R"("pid":1,"tid":7)", at(1205), "8", id);
  }
  Ingested index(trace_of(events));
  CHECK(index.rows("SELECT count(*), count(launch_id) FROM kernel") == "40 0");
  CHECK(index.issues(IssueKind::kAmbiguousLaunch) == 40);
}

TEST_CASE("two processes on one device, each with correlations of its own, are told apart by these") {
  std::string events;
  for (int i = 1; i <= 10; ++i) {
    for (const char* process : {"1", "2"}) {
      const std::string id = R"("correlation":)" + std::string(process) + std::to_string(i);
      events += event("cuda_runtime", "cudaLaunchKernel", std::string(R"("tid":1,"pid":)") + process,
                      std::to_string(10 * i), "2", id);
      events += event("kernel", std::string("k") + process, kGpuStream, std::to_string(10 * i + 3), "1", id);
    }
  }
  Ingested index(trace_of(events));
  CHECK(
      index.rows("SELECT s.value, p.pid, count(*) FROM kernel k JOIN runtime_call r ON r.id = k.launch_id JOIN thread "
                 "t ON t.id = r.thread_id JOIN process p ON p.id = t.process_id JOIN string s ON s.id = k.name_id "
                 "GROUP BY 1, 2") == "k1 1 10; k2 2 10");
}

TEST_CASE("of a correlation that all events share each kernel takes the last call before it") {
  std::string events;
  for (int i = 0; i < 20000; ++i) {
    events += event("cuda_runtime", "cudaLaunchKernel", kMainThread, std::to_string(10 * i), "1", R"("correlation":9)");
    events += event("kernel", "k", kGpuStream, std::to_string(10 * i + 5), "1", R"("correlation":9)");
  }
  Ingested index(trace_of(events));
  CHECK(index.rows("SELECT count(*) FROM kernel WHERE launch_id = id") == "20000");
}

TEST_CASE("an operator without length owns the call with its External id") {
  Ingested index(trace_of(event("cpu_op", "outer", kMainThread, "0", "100", R"("External id":1)") +
                          event("cpu_op", "op", kMainThread, "10", "0", R"("External id":5)") +
                          event("cuda_runtime", "cudaLaunchKernel", kMainThread, "10", "0", R"("External id":5)") +
                          event("cuda_runtime", "cudaLaunchKernel", kMainThread, "10", "0")));
  CHECK(index.rows("SELECT cpu_op_id FROM runtime_call ORDER BY id") == "2; 1");
}

TEST_CASE("kernels without a correlation, and with one that nobody has") {
  Ingested index(trace_of(event("cpu_op", "op", kMainThread, "0", "9", R"("External id":3)") +
                          event("cuda_runtime", "cudaLaunchKernel", kMainThread, "1", "1", R"("correlation":1)") +
                          event("kernel", "none", kGpuStream, "5", "1") +
                          event("kernel", "unknown", kGpuStream, "6", "1", R"("correlation":99,"External id":3)") +
                          event("kernel", "copied id", kGpuStream, "7", "1", R"("correlation":3,"External id":3)") +
                          event("kernel", "zero", kGpuStream, "8", "1", R"("correlation":0,"External id":0)")));
  CHECK(index.rows(kLinksOfIndex) == "none - - - - -; unknown - 1 - - -; copied id - - - - -; zero - - - - -");
  CHECK(index.issues(IssueKind::kKernelWithoutLaunch) == 4);
}

TEST_CASE("a launch that is lost beside others: by the flow, else by the External id, with what was open there") {
  const auto step = [](int i) {
    return event("user_annotation", fmt::format("ProfilerStep#{}", i), kMainThread, std::to_string(100 * i), "90") +
           event("cpu_op", "op", kMainThread, std::to_string(100 * i + 10), "20",
                 fmt::format(R"("External id":{})", i)) +
           event("cpu_op", "other", kMainThread, std::to_string(100 * i + 40), "20",
                 fmt::format(R"("External id":{})", 10 + i));
  };
  const auto kernel = [](std::string_view name, int at, int correlation, int id) {
    return event("kernel", name, kGpuStream, std::to_string(at), "5",
                 fmt::format(R"("correlation":{},"External id":{},"device":0,"stream":7)", correlation, id));
  };
  const auto arrow = [](int id, int from, int to) {
    constexpr std::string_view kFlow = R"({{"ph":"{}","cat":"ac2g","name":"ac2g","id":{},{},"ts":{},"bp":"e"}},)";
    return fmt::format(kFlow, 's', id, kMainThread, from) + fmt::format(kFlow, 'f', id, kGpuStream, to);
  };
  Ingested index(trace_of(step(1) + step(2) + step(3) +
                          event("cuda_runtime", "cudaLaunchKernel", kMainThread, "115", "2", R"("correlation":51)") +
                          // That of the first, whose call is known, says otherwise.
                          arrow(51, 145, 150) + arrow(52, 215, 250) + kernel("called", 150, 51, 1) +
                          kernel("flowed", 250, 52, 11) + kernel("named", 350, 53, 13) + kernel("lost", 360, 54, 77)));
  CHECK(index.rows(kLinksOfIndex) == "called 1 1 - 1 1; flowed - 3 - 2 2; named - 6 - 3 3; lost - - - - -");
  CHECK(index.meta("links_made_by_flow") == "1");
  const std::string call = event("cuda_runtime", "cudaLaunchKernel", kMainThread, "138", "2", R"("correlation":51)");
  Ingested after_a_call(trace_of(step(1) + call + arrow(52, 140, 150) + kernel("next", 150, 52, 77)));
  CHECK(after_a_call.rows(kLinksOfIndex) == "next - 2 - 1 1");
  // External ids that name what begins behind the kernel are not those of operators.
  Ingested other_ids(trace_of(step(1) + step(2) + step(3) + call + kernel("called", 150, 51, 2) +
                              kernel("later", 160, 52, 3) + kernel("earlier", 250, 53, 1)));
  CHECK(other_ids.rows(kLinksOfIndex) == "called 1 - - 1 1; later - - - - -; earlier - - - - -");
  Ingested inside(trace_of(step(1) + call + event("user_annotation", "inner", kMainThread, "120", "5") +
                           kernel("in it or not", 150, 52, 1) + kernel("not", 160, 53, 11)));
  CHECK(inside.rows(kLinksOfIndex) == "in it or not - 1 - - 1; not - 2 - 1 1");
}

TEST_CASE("Correlations: those of device events that no call has, in whatever order") {
  Correlations correlations;
  for (const std::int64_t id : {5, 5, 700, -3}) correlations.add_device_event(id);
  CHECK(correlations.lost() == 3);
  for (const std::int64_t id : {5, 6, 5, 700}) correlations.add_call(id);
  for (const std::int64_t id : {6, 5}) correlations.add_device_event(id);
  CHECK(correlations.lost() == 1);
  CHECK(correlations.has_call(700));
  CHECK(correlations.is_lost(-3));
  for (const std::int64_t id : {5, 6, 8}) CHECK_FALSE(correlations.is_lost(id));
  CHECK_FALSE(correlations.has_call(-3));
  CHECK_FALSE(correlations.has_call(std::int64_t{1} << 62U));
}

TEST_CASE("python frames: parents on another thread, parents not in the trace, frames without ids") {
  const auto frame = [](std::string_view name, std::string_view thread, std::string_view ts, std::string_view dur,
                        std::string_view ids) { return event("python_function", name, thread, ts, dur, ids); };
  Ingested index(trace_of(frame("main", kMainThread, "0", "100", R"("Python id":1,"Python parent id":null)") +
                          frame("hook", kOtherThread, "10", "20", R"("Python id":2,"Python parent id":1)") +
                          frame("orphan", kMainThread, "40", "20", R"("Python id":9,"Python parent id":555)") +
                          frame("plain", kMainThread, "45", "5", "") +
                          frame("root", kMainThread, "70", "5", R"("Python id":10,"Python parent id":null)") +
                          frame("late child", kMainThread, "100", "5", R"("Python id":11,"Python parent id":1)")));
  const std::string paths =
      std::string(kPaths) + "SELECT p.path FROM python_call c JOIN p ON p.id = c.stack_id ORDER BY c.id";
  CHECK(index.rows(paths) == "main; hook; main>orphan; main>orphan>plain; main>root; late child");
  CHECK(index.issues(IssueKind::kPythonParentMissing) == 3);
}

TEST_CASE("a call takes the python path of its own thread, however far back it began") {
  std::string events =
      event("python_function", "outer", kMainThread, "0", "100000", R"("Python id":1,"Python parent id":null)");
  for (int i = 0; i < 500; ++i) {
    events += event("python_function", "short", kMainThread, std::to_string(10 * i + 1), "5",
                    R"("Python id":)" + std::to_string(i + 2) + R"(,"Python parent id":1)");
  }
  events +=
      event("python_function", "other", kOtherThread, "5999", "100", R"("Python id":900,"Python parent id":null)");
  events += event("cuda_runtime", "cudaLaunchKernel", kMainThread, "6000", "1", R"("correlation":1)");
  Ingested index(trace_of(events));
  CHECK(
      index.rows("SELECT t.value, s.depth FROM runtime_call r JOIN stack s ON s.id = r.stack_id JOIN frame f ON f.id = "
                 "s.frame_id JOIN string t ON t.id = f.name_id") == "outer 1");
}

TEST_CASE("a call's operator: the open one with its External id, else the innermost") {
  Ingested index(trace_of(event("cpu_op", "outer", kMainThread, "0", "50", R"("External id":1)") +
                          event("cpu_op", "inner", kMainThread, "10", "20", R"("External id":2)") +
                          event("cpu_op", "elsewhere", kOtherThread, "0", "50", R"("External id":3)") +
                          event("cuda_runtime", "a", kMainThread, "12", "1", R"("External id":1)") +
                          event("cuda_runtime", "b", kMainThread, "13", "1", R"("External id":3)") +
                          event("cuda_runtime", "c", kMainThread, "14", "1") +
                          event("cuda_runtime", "d", kMainThread, "40", "1", R"("External id":2)") +
                          event("cuda_runtime", "e", kMainThread, "60", "1", R"("External id":1)")));
  CHECK(
      index.rows("SELECT s.value, o.value FROM runtime_call r JOIN string s ON s.id = r.name_id LEFT JOIN cpu_op c ON "
                 "c.id = r.cpu_op_id LEFT JOIN string o ON o.id = c.name_id ORDER BY r.id") ==
      "a outer; b inner; c inner; d outer; e -");
}

TEST_CASE("steps: by the launch, by the annotation on the device, by the graph launch, or none") {
  const std::string_view name = "execute_context_0(0)_generation_1(1)";
  Ingested index(trace_of(event("user_annotation", name, kMainThread, "10", "20", R"("External id":1)") +
                          event("user_annotation", name, kMainThread, "40", "20", R"("External id":2)") +
                          event("gpu_user_annotation", name, kGpuStream, "100", "20", R"("External id":1)") +
                          event("gpu_user_annotation", name, kGpuStream, "130", "20", R"("External id":2)") +
                          event("cuda_runtime", "cudaLaunchKernel", kMainThread, "45", "1", R"("correlation":1)") +
                          event("cuda_runtime", "cudaGraphLaunch", kOtherThread, "50", "1", R"("correlation":2)") +
                          event("cuda_runtime", "cudaLaunchKernel", kOtherThread, "51", "1", R"("correlation":3)") +
                          event("kernel", "late", kGpuStream, "105", "1", R"("correlation":1)") +
                          event("kernel", "no launch", kGpuStream, "110", "1", R"("correlation":77)") +
                          event("kernel", "graph inside", kGpuStream, "115", "1", R"("correlation":2)") +
                          event("kernel", "graph outside", kGpuStream, "200", "1", R"("correlation":2)") +
                          event("kernel", "other thread", kGpuStream, "210", "1", R"("correlation":3)") +
                          event("kernel", "other stream", R"("pid":0,"tid":8)", "112", "1", R"("correlation":78)")));
  CHECK(index.rows("SELECT s.value, k.step_id FROM kernel k JOIN string s ON s.id = k.name_id ORDER BY k.id") ==
        "late 2; no launch 1; other stream -; graph inside 1; graph outside 2; other thread -");
  CHECK(index.rows("SELECT count(*) FROM step") == "2");
  CHECK(index.issues(IssueKind::kKernelWithoutStep) == 2);
  CHECK(index.meta("kernels_with_step") == "4");
}

TEST_CASE("a step inside a step: kernels belong to the innermost around their launch") {
  Ingested index(
      trace_of(event("user_annotation", "ProfilerStep#1", kMainThread, "0", "100", R"("External id":1)") +
               event("user_annotation", "step[DECODE bs=16]", kMainThread, "10", "50", R"("External id":2)") +
               event("gpu_user_annotation", "step[DECODE bs=16]", kGpuStream, "205", "9", R"("External id":2)") +
               event("cuda_runtime", "cudaLaunchKernel", kMainThread, "5", "1", R"("correlation":1)") +
               event("cuda_runtime", "cudaLaunchKernel", kMainThread, "20", "1", R"("correlation":2)") +
               event("kernel", "k", kGpuStream, "200", "1", R"("correlation":1)") +
               event("kernel", "k", kGpuStream, "210", "1", R"("correlation":2)") +
               event("kernel", "k", kGpuStream, "212", "1", R"("correlation":3)")));
  CHECK(index.rows("SELECT kind, generation_requests FROM step ORDER BY id") == "unknown -; decode 16");
  CHECK(index.rows("SELECT step_id FROM kernel ORDER BY id") == "1; 2; 2");
}

TEST_CASE("images of steps without a usable id: in order where their number fits, else of no step") {
  const std::string_view name = "execute_context_0(0)_generation_1(1)";
  const auto trace = [&](std::string_view second_id) {
    return trace_of(
        event("user_annotation", name, kMainThread, "100", "20", R"("External id":0)") +
        event("user_annotation", name, kMainThread, "160", "20", R"("External id":0)") +
        event("gpu_user_annotation", name, kGpuStream, "170", "40", R"("External id":0)") +
        (second_id.empty() ? std::string() : event("gpu_user_annotation", name, kGpuStream, "220", "40", second_id)) +
        event("kernel", "k", kGpuStream, "180", "1"));
  };
  Ingested both(trace(R"("External id":0)"));
  CHECK(both.rows("SELECT count(*) FROM step") == "2");
  CHECK(both.rows("SELECT step_id FROM kernel") == "1");
  CHECK(both.issues(IssueKind::kAmbiguousStep) == 0);
  Ingested one(trace(""));
  CHECK(one.rows("SELECT count(*) FROM step") == "2");
  CHECK(one.rows("SELECT step_id FROM kernel") == "-");
  CHECK(one.issues(IssueKind::kAmbiguousStep) == 1);
}

TEST_CASE("steps of two processes keep apart though they share their ids") {
  std::string events;
  for (const char* process : {"1", "2"}) {
    events += event("user_annotation", "ProfilerStep#5", std::string(R"("tid":1,"pid":)") + process, "10", "50",
                    R"("External id":7)");
    events += event("gpu_user_annotation", "ProfilerStep#5", std::string(R"("tid":7,"pid":)") + process + "0", "60",
                    "50", R"("External id":7)");
    events += event("kernel", "k", std::string(R"("tid":7,"pid":)") + process + "0", "70", "1");
  }
  Ingested index(trace_of(events));
  CHECK(index.rows("SELECT count(*) FROM step") == "2");
  CHECK(index.rows("SELECT count(*) FROM kernel WHERE step_id IS NULL") == "2");
  CHECK(index.issues(IssueKind::kAmbiguousStep) == 2);
}

TEST_CASE("a trace of the device alone: annotations there make the steps, once for all streams") {
  const std::string_view name = "execute_context_1(9)_generation_0(0)";
  Ingested index(trace_of(event("gpu_user_annotation", name, kGpuStream, "100", "20") +
                          event("gpu_user_annotation", name, R"("pid":0,"tid":8)", "102", "20") +
                          event("gpu_user_annotation", name, kGpuStream, "200", "20") +
                          event("kernel", "a", kGpuStream, "105", "1") +
                          event("kernel", "b", R"("pid":0,"tid":8)", "106", "1") +
                          event("kernel", "c", kGpuStream, "205", "1") + event("kernel", "d", kGpuStream, "220", "1")));
  CHECK(index.rows("SELECT s.value, k.step_id FROM kernel k JOIN string s ON s.id = k.name_id ORDER BY k.id") ==
        "a 1; b 1; c 2; d -");
  CHECK(index.rows("SELECT kind, context_tokens FROM step") == "prefill 9; prefill 9");
}

TEST_CASE("events of no length, and at equal times: what encloses comes first, then file order") {
  Ingested index(
      trace_of(event("cuda_runtime", "call", kMainThread, "10", "0", R"("correlation":1)") +
               event("cpu_op", "inner", kMainThread, "10", "5") + event("cpu_op", "outer", kMainThread, "10", "9") +
               event("cpu_op", "empty", kMainThread, "10", "0") + event("kernel", "second", kGpuStream, "20", "0") +
               event("kernel", "third", kGpuStream, "20", "5") + event("kernel", "first", kGpuStream, "19.999", "0") +
               event("memory", "m", kGpuStream, "20", "0")));
  CHECK(index.rows(
            "SELECT s.value, o.parent_id, o.depth FROM cpu_op o JOIN string s ON s.id = o.name_id ORDER BY o.id") ==
        "outer - 0; inner 1 1; empty 2 2");
  CHECK(index.rows("SELECT cpu_op_id FROM runtime_call") == "2");
  CHECK(index.rows("SELECT s.value, k.dur FROM kernel k JOIN string s ON s.id = k.name_id ORDER BY k.id") ==
        "first 0; second 0; third 5000");
  CHECK(index.rows("SELECT s.value FROM slice l JOIN string s ON s.id = l.name_id") == "m");
}

TEST_CASE("a launch after its kernel is linked and noted") {
  Ingested index(trace_of(event("cuda_runtime", "cudaLaunchKernel", kMainThread, "30", "1", R"("correlation":1)") +
                          event("kernel", "k", kGpuStream, "20", "1", R"("correlation":1)")));
  CHECK(index.rows("SELECT launch_id FROM kernel") == "1");
  CHECK(index.issues(IssueKind::kLaunchAfterKernel) == 1);
}

TEST_CASE("StackTrie: one number for each distinct path") {
  StackTrie trie;
  const std::uint32_t main = trie.child(0, 1);
  const std::uint32_t step = trie.child(main, 2);
  CHECK(main == 1);
  CHECK(step == 2);
  CHECK(trie.child(0, 2) == 3);
  CHECK(trie.child(main, 2) == step);
  CHECK(trie.child(step, 2) == 4);  // recursion
  CHECK(trie.nodes()[3].parent == step);
  CHECK(trie.nodes()[3].frame == 2);
  CHECK(trie.nodes()[3].depth == 3);
  CHECK(trie.nodes()[2].depth == 1);
}

TEST_CASE("StackTrie: numbers outlive growth, deep and wide") {
  StackTrie trie;
  std::uint32_t deep = 0;
  for (std::uint32_t i = 1; i <= 10000; ++i) {
    deep = trie.child(deep, i % 3 + 1);
    REQUIRE(deep == i);
  }
  for (std::uint32_t i = 1; i <= 10000; ++i) REQUIRE(trie.child(1, 100 + i) == 10000 + i);
  std::uint32_t again = 0;
  for (std::uint32_t i = 1; i <= 10000; ++i) again = trie.child(again, i % 3 + 1);
  CHECK(again == deep);
  CHECK(trie.nodes()[deep - 1].depth == 10000);
  CHECK(trie.nodes().size() == 20000);
}

TEST_CASE("DeviceOwners: no evidence, no owner; one process, that one") {
  DeviceOwners owners;
  CHECK(owners.owner(1) == 0);
  CHECK(owners.mostly_unique(1));
  owners.vote(1, 10, 5, false);
  CHECK(owners.owner(1) == 10);
  CHECK(owners.owner(2) == 0);
}

TEST_CASE("DeviceOwners: a process whose calls come too late, are too few or far too old is ruled out") {
  DeviceOwners owners;
  for (int i = 0; i < 100; ++i) {
    for (const std::uint32_t device : {1U, 2U, 3U, 4U}) owners.vote(device, 10, 50'000, false);
    owners.vote(1, 20, i < 10 ? -5 : 40'000, false);
    if (i < 40) owners.vote(2, 20, 40'000, false);
    owners.vote(3, 20, 600'000, false);
    owners.vote(4, 20, i < 3 ? -5 : 200'000, false);  // clocks may disagree a little
  }
  CHECK(owners.owner(1) == 10);
  CHECK(owners.owner(2) == 10);
  CHECK(owners.owner(3) == 10);
  CHECK(owners.owner(4) == 0);
}

TEST_CASE("DeviceOwners: of those left, equal External ids tell, closeness does not") {
  DeviceOwners owners;
  owners.vote(1, 10, 5000, false);
  owners.vote(1, 20, 4000, false);
  CHECK(owners.owner(1) == 0);
  owners.vote(2, 10, 4000, false);
  owners.vote(2, 20, 5000, true);
  CHECK(owners.owner(2) == 20);
  owners.vote(3, 10, 4000, true);
  owners.vote(3, 20, 4000, true);
  CHECK(owners.owner(3) == 0);
}

TEST_CASE("DeviceOwners: delays may be as long as they like") {
  DeviceOwners owners;
  for (int i = 0; i < 3; ++i) owners.vote(1, 10, std::numeric_limits<std::int64_t>::max(), false);
  CHECK(owners.owner(1) == 10);
}

TEST_CASE("DeviceOwners: correlations most of which only one process has speak for themselves") {
  DeviceOwners owners;
  for (int i = 0; i < 4; ++i) owners.count_kernel(1, i == 0, 1);
  for (int i = 0; i < 4; ++i) owners.count_kernel(2, i < 2, 1);
  CHECK(owners.mostly_unique(1));
  CHECK_FALSE(owners.mostly_unique(2));
}

TEST_CASE("DeviceOwners: votes are linear in the kernels, and pairs of device and process bounded") {
  DeviceOwners owners;
  std::size_t votes = 0;
  for (int i = 0; i < 1000; ++i) votes += owners.count_kernel(1, true, 1000) ? 1000 : 0;
  CHECK(votes > 0);
  CHECK(votes <= 64 * 1000);
  DeviceOwners many;
  const auto vote = [&](std::uint32_t device) {
    for (std::uint32_t process = 1; process <= 64; ++process) many.vote(device, process, process == 1 ? 5 : -5, false);
  };
  for (std::uint32_t device = 1; device <= 4096; ++device) vote(device);
  CHECK(many.owner(4096) == 1);
  vote(4097);
  CHECK(many.owner(4097) == 0);  // not a guess from some of its processes
  CHECK_FALSE(many.count_kernel(4097, true, 1));
  CHECK(many.owner(1) == 1);
}

TEST_CASE("tables by dense, sparse and negative numbers: rows, and of operators their starts, near and far apart") {
  ExternalIdTable rows;
  OperatorTable operators;
  const std::int64_t ids[] = {0, 1, 63, 64, 65, 30000000, std::int64_t{1} << 62U, -1, -64, -65};
  const auto start_of = [](std::uint32_t number) { return std::int64_t{1} << number * 5; };
  std::uint32_t row = 0;
  for (const std::int64_t id : ids) {
    rows.set(id, ++row);
    operators.set(id, 1, row, start_of(row));
  }
  const auto check = [&](std::int64_t id, std::uint32_t expected, std::int64_t start) {
    CAPTURE(id);
    CHECK(rows.find(id) == expected);
    CHECK(operators.find(id).row == expected);
    if (expected > 0) CHECK(operators.find(id).ts == start);
  };
  row = 0;
  for (const std::int64_t id : ids) ++row, check(id, row, start_of(row));
  for (const std::int64_t id : {2, -2, 1000}) check(id, 0, 0);
  rows.set(1, 99);
  operators.set(1, 1, 99, 7);
  check(1, 99, 7);
}

TEST_CASE("OperatorTable: an id that several processes have is none") {
  OperatorTable table;
  table.set(1, 1, 10, 5);
  table.set(2, 2, 20, 6);  // of one page
  table.set(3, 1, 30, 7);
  CHECK(table.find(2).row == 20);
  CHECK(table.find(3).row == 30);
  table.set(1, 2, 11, 8);
  table.set(2, 2, 21, 9);
  CHECK(table.find(1).row == 0);
  CHECK(table.find(2).row == 21);
  table.set(1, 1, 12, 10);
  CHECK(table.find(1).row == 0);
}

// Slices given as two events, and flows: what belongs together.

// `rest` are further members, with a comma in front.
std::string edge(char ph, std::string_view name, int ts, std::string_view rest = {}) {
  return fmt::format(R"({{"ph":"{}","name":"{}","pid":1,"tid":1,"ts":{}{}}},)", ph, name, ts, rest);
}

constexpr const char* kPairSlices =
    "SELECT s.value, l.ts / 1000, l.dur / 1000 FROM slice l JOIN string s ON s.id = l.name_id ORDER BY l.id";
constexpr const char* kUnmatched = "SELECT ph, flow_id, typeof(flow_id) FROM flow_unmatched ORDER BY id";

std::string flow(char ph, std::string_view id, std::string_view name = "n", std::string_view category = "c") {
  return fmt::format(R"({{"ph":"{}","cat":"{}","name":"{}",{}"pid":1,"tid":1,"ts":1}},)", ph, category, name,
                     id.empty() ? std::string() : fmt::format(R"("id":{},)", id));
}

TEST_CASE("begin and end pair by time, wherever they stand in the file") {
  Ingested index(trace_of(edge('E', "a", 20) + edge('B', "a", 10) + edge('B', "b", 50) + edge('B', "b", 30) +
                          edge('E', "b", 40) + edge('E', "b", 60)));
  CHECK(index.rows(kPairSlices) == "a 0 10; b 20 10; b 40 10");
  CHECK(index.rows("SELECT count(*) FROM issue WHERE kind NOT IN ('foreign_format', 'no_device_events')") == "0");
}

TEST_CASE("an end needs no name, and gets no warning") {
  Ingested index(trace_of(edge('B', "a", 10) + edge('B', "b", 12) + R"({"ph":"E","pid":1,"tid":1,"ts":15},)" +
                          R"({"ph":"E","name":"","pid":1,"tid":1,"ts":20},{"ph":"E","pid":1,"tid":1,"ts":21},)"));
  CHECK(index.rows(kPairSlices) == "a 0 10; b 2 3");
  CHECK(index.issues(IssueKind::kMissingName) == 0);
  CHECK(index.issues(IssueKind::kEndWithoutBegin) == 1);
}

TEST_CASE("asynchronous slices pair by category, id and scope, the old ones by name too") {
  Ingested index(trace_of(
      edge('b', "x", 10, R"(,"cat":"c","id":"0x1")") + edge('b', "y", 11, R"(,"cat":"c","id":"0x2")") +
      edge('e', "x", 20, R"(,"cat":"c","id":"0x1")") + edge('e', "y", 31, R"(,"cat":"c","id":"0x2")") +
      edge('b', "scoped", 40, R"(,"cat":"c","id":1,"scope":"s")") + edge('e', "scoped", 45, R"(,"cat":"c","id":1)") +
      edge('e', "scoped", 46, R"(,"cat":"c","id":1,"scope":"s")") +
      edge('b', "local", 50, R"(,"cat":"c","id2":{"local":"0x9"})") +
      edge('e', "local", 51, R"(,"cat":"c","id2":{"global":"0x9"})") +
      R"({"ph":"e","cat":"c","id2":{"local":"0x9"},"name":"local","pid":2,"ts":52},)" +
      R"({"ph":"e","cat":"c","id2":{"local":"0x9"},"pid":1,"tid":5,"ts":53},)" +
      edge('S', "old", 60, R"(,"cat":"c","id":3)") + edge('F', "other", 61, R"(,"cat":"c","id":3)") +
      edge('F', "old", 62, R"(,"cat":"c","id":"3")") + edge('b', "open", 70, R"(,"cat":"c","id":"text")")));
  CHECK(index.rows(kPairSlices) == "x 0 10; y 1 20; scoped 30 6; local 40 3; old 50 2; open 60 -");
  CHECK(index.issues(IssueKind::kEndWithoutBegin) == 4);
  CHECK(index.issues(IssueKind::kBeginWithoutEnd) == 1);
  CHECK(index.rows("SELECT ph, read, stored, skipped FROM event_count ORDER BY ph") ==
        "F 2 0 2; S 1 1 0; b 5 5 0; e 7 0 7");
}

TEST_CASE("points in time of every phase are instants, no loss") {
  std::string events;
  for (const char ph : std::string_view("iIRPnTpNODVvc()")) events += edge(ph, "point", 1, R"(,"cat":"c","id":1)");
  Ingested index(trace_of(events));
  CHECK(index.rows("SELECT count(*) FROM instant") == "15");
  CHECK(index.rows("SELECT count(*) FROM issue WHERE kind NOT IN ('foreign_format', 'no_device_events')") == "0");
}

TEST_CASE("flows are one by category, name and id") {
  Ingested index(trace_of(flow('s', "1") + flow('f', "1") + flow('s', "2", "a") + flow('f', "2", "b") +
                          flow('s', "3", "n", "c") + flow('f', "3", "n", "d") + flow('s', "\"4\"") + flow('f', "4.0")));
  CHECK(index.rows(kUnmatched) == "s 3 integer; s 2 integer; f 2 integer; f 3 integer");
}

TEST_CASE("ids of flows: only numbers written as such are numbers, none binds to nothing") {
  Ingested index(trace_of(flow('s', "7") + flow('f', "\"007\"") + flow('s', "-5") + flow('s', "") + flow('f', "") +
                          flow('s', "null") + flow('s', "\"0x1f\"") + flow('f', "\"0x1F\"") + flow('f', "31") +
                          flow('s', "\"0xab\"") + flow('f', "\"0xab\"") + flow('s', "\"null\"") +
                          flow('s', "-9223372036854775808")));
  CHECK(index.rows("SELECT group_concat(t, ' ') FROM (SELECT ph || coalesce(flow_id, '-') || typeof(flow_id) AS t "
                   "FROM flow_unmatched ORDER BY 1)") ==
        "f-null f007text f0x1Ftext f31integer s-5integer s-9223372036854775808text s-null s-null s0x1ftext s7integer "
        "snulltext");
}

}  // namespace
}  // namespace tracedb
