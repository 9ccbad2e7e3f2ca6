// Steps and passes of training: launches of autograd's thread, marks that old profilers wrote as operators.
#include <doctest/doctest.h>

#include "support/ingested.h"

namespace tracedb {
namespace {

constexpr std::string_view kAutograd = R"("pid":100,"tid":9)";
constexpr std::string_view kSteps =
    "SELECT n.name, t.value FROM kernel k JOIN kernel_name n ON n.id = k.name_id LEFT JOIN step s ON s.id = k.step_id "
    "LEFT JOIN annotation a ON a.id = s.annotation_id LEFT JOIN string t ON t.id = a.name_id ORDER BY k.id";
constexpr std::string_view kPasses =
    "SELECT n.name, k.pass FROM kernel k JOIN kernel_name n ON n.id = k.name_id ORDER BY k.id";

// A launch at `ts` on a thread, and its kernel, which runs long after.
std::string launch(std::string_view name, std::string_view thread, int ts) {
  const std::string ids = R"("correlation":)" + std::to_string(ts);
  return event("cuda_runtime", "cudaLaunchKernel", thread, std::to_string(ts), "1", ids) +
         event("kernel", name, kGpuStream, std::to_string(1000 + ts), "1", ids);
}

std::string numbered(std::string_view name, std::string_view thread, int ts, int dur, int number, int forward_thread) {
  return event(
      "cpu_op", name, thread, std::to_string(ts), std::to_string(dur),
      R"("Fwd thread id":)" + std::to_string(forward_thread) + R"(,"Sequence number":)" + std::to_string(number));
}

}  // namespace

TEST_CASE("a ProfilerStep takes in the launches of the process's other threads, a server's step does not") {
  Ingested index(trace_of(event("user_annotation", "ProfilerStep#3", kMainThread, "0", "100") +
                          event("user_annotation", "ProfilerStep#4", kMainThread, "100", "100") +
                          launch("forward", kMainThread, 10) + launch("backward", kAutograd, 50) +
                          launch("late", kAutograd, 150) + launch("after", kAutograd, 250) +
                          launch("other_process", R"("pid":2,"tid":1)", 60)));
  CHECK(index.rows(kSteps) ==
        "forward ProfilerStep#3; backward ProfilerStep#3; other_process -; late ProfilerStep#4; after -");
  Ingested server(trace_of(event("user_annotation", "execute_context_0(0)_generation_4(4)", kMainThread, "0", "100") +
                           launch("own", kMainThread, 10) + launch("other", kAutograd, 50)));
  CHECK(server.rows(kSteps) == "own execute_context_0(0)_generation_4(4); other -");
}

TEST_CASE("a launch whose thread has a mark of its own keeps it, and two threads' marks cannot be told apart") {
  Ingested index(trace_of(event("user_annotation", "ProfilerStep#3", kMainThread, "0", "100") +
                          event("user_annotation", "execute_context_0(0)_generation_4(4)", kAutograd, "20", "10") +
                          launch("own", kAutograd, 25) + launch("shared", kAutograd, 50) +
                          event("user_annotation", "ProfilerStep#8", R"("pid":100,"tid":8)", "60", "40") +
                          launch("doubtful", kAutograd, 70)));
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
                          launch("forward", kMainThread, 10) + launch("update", kMainThread, 70)));
  CHECK(index.rows(kSteps) == "forward ProfilerStep#3; update ProfilerStep#3");
  CHECK(index.rows(kPasses) == "forward forward; update optimizer");
  CHECK(index.rows("SELECT t.value FROM cpu_op c JOIN string t ON t.id = c.name_id") == "aten::add_");
  CHECK(index.rows("SELECT kind, count(*) FROM annotation GROUP BY 1") == "user 2");
  CHECK(index.rows("SELECT stored, skipped FROM event_count WHERE category = 'Operator'") == "3 0");
}

TEST_CASE("passes: optimizer by its mark, backward by autograd's operators, else forward") {
  Ingested index(trace_of(
      event("user_annotation", "Optimizer.step#SGD.step", kMainThread, "60", "30") +
      event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", kAutograd, "40", "10") +
      event("cpu_op", "aten::mm", kAutograd, "41", "8") + event("cpu_op", "aten::mm", kMainThread, "9", "8") +
      launch("forward", kMainThread, 10) + launch("backward", kAutograd, 43) + launch("update", kMainThread, 70) +
      launch("helper", R"("pid":100,"tid":8)", 75) + launch("other_process", R"("pid":2,"tid":1)", 80) +
      event("kernel", "unknown", kGpuStream, "2000", "1")));
  CHECK(index.rows(kPasses) ==
        "forward forward; backward backward; update optimizer; helper optimizer; other_process -; unknown -");
}

TEST_CASE("passes: operators of autograd before it put evaluate_function around them") {
  Ingested index(trace_of(event("Operator", "CudnnConvolutionBackward", kAutograd, "40", "10") +
                          event("Operator", "torch::autograd::AccumulateGrad", kAutograd, "60", "10") +
                          event("Operator", "aten::threshold_backward", kMainThread, "80", "10") +
                          launch("wgrad", kAutograd, 45) + launch("add", kAutograd, 65) +
                          launch("forward", kMainThread, 85)));
  CHECK(index.rows(kPasses) == "wgrad backward; add backward; forward forward");
}

TEST_CASE("passes: a thread whose operators have sequence numbers that another thread had first is autograd's") {
  Ingested index(trace_of(numbered("aten::mm", kMainThread, 0, 10, 5, 0) +
                          numbered("MmGradient", kAutograd, 40, 10, 5, 1) + launch("forward", kMainThread, 1) +
                          launch("backward", kAutograd, 45) + launch("hook", kAutograd, 60)));
  CHECK(index.rows(kPasses) == "forward forward; backward backward; hook backward");
  // Each thread counts by itself: two of them that compute forward have the same numbers.
  Ingested replicas(trace_of(numbered("aten::mm", kMainThread, 0, 10, 5, 0) +
                             numbered("aten::mm", kAutograd, 5, 10, 5, 0) + launch("first", kMainThread, 1) +
                             launch("second", kAutograd, 6)));
  CHECK(replicas.rows(kPasses) == "first -; second -");
}

TEST_CASE("passes: an operator where a fwdbwd flow ends is of the backward pass, and what it encloses") {
  Ingested index(trace_of(event("cpu_op", "gradient", kMainThread, "40", "10") +
                          event("cpu_op", "aten::mm", kMainThread, "41", "8") +
                          R"({"ph":"s","cat":"fwdbwd","name":"fwdbwd","id":1,"pid":100,"tid":1,"ts":0},)"
                          R"({"ph":"f","bp":"e","cat":"fwdbwd","name":"fwdbwd","id":1,"pid":100,"tid":1,"ts":40},)" +
                          launch("forward", kMainThread, 10) + launch("backward", kMainThread, 43)));
  CHECK(index.rows(kPasses) == "forward forward; backward backward");
}

TEST_CASE("passes: a kernel without a launch has that of its operator") {
  Ingested index(trace_of(
      event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", kAutograd, "40", "10", R"("External id":3)") +
      event("kernel", "k", kGpuStream, "45", "1", R"("External id":3)")));
  CHECK(index.rows(kPasses) == "k backward");
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

}  // namespace tracedb
