// Steps where no annotation names any: calls of the model; and steps by a pattern, on every thread they take in.
#include "passes/steps/module_steps.h"

#include <doctest/doctest.h>

#include "passes/classify/kernel_classes.h"
#include "support/ingested.h"

namespace tracedb {
namespace {

std::string launch(std::string_view name, int thread, int ts) {
  const std::string ids = R"("correlation":)" + std::to_string(ts);
  return event("cuda_runtime", "cudaLaunchKernel", R"("pid":100,"tid":)" + std::to_string(thread), std::to_string(ts),
               "1", ids) +
         event("kernel", name, kGpuStream, std::to_string(1000 + ts), "1", ids);
}

std::string module_call(std::string_view name, int ts, int dur) {
  return event("python_function", "nn.Module: " + std::string(name), kMainThread, std::to_string(ts),
               std::to_string(dur), R"("Python id":)" + std::to_string(ts) + R"(,"Python parent id":null)");
}

// "module calls: other other | k 1, l 0": source and kinds; then each kernel's step.
std::string text(const Ingested& ingested, const StepOptions& options = {}) {
  const Index index = Index::open(ingested.directory() / "index");
  const KernelClasses classes(index, load_rules("default"));
  const StepSet set = load_steps(index, options, EventTables(index), classes.traits());
  std::string out(to_string(set.source));
  out += ":";
  for (const StepFacts& step : set.steps) out += " " + std::string(to_string(step.info.kind));
  out += " |";
  for (const std::uint32_t step : set.of_kernel) out += " " + std::to_string(step);
  return out;
}

}  // namespace

TEST_CASE("a model called twice makes two steps, with what any thread launched while its call lasted") {
  const std::string calls =
      module_call("ResNet_0", 0, 40) + module_call("Loss_0", 45, 3) + module_call("ResNet_0", 50, 40);
  const std::string launches =
      launch("a", 1, 10) + launch("b", 9, 20) + launch("between", 1, 47) + launch("c", 1, 60) + launch("after", 1, 95);
  CHECK(text(Ingested(trace_of(calls + launches))) == "module calls: other other | 1 1 0 2 0");
  const std::string mark = event("user_annotation", "ProfilerStep#3", kMainThread, "0", "99");
  CHECK(text(Ingested(trace_of(mark + calls + launches))) == "annotations: unknown | 1 1 1 1 1");
  CHECK(text(Ingested(trace_of(module_call("ResNet_0", 0, 40) + launches))) == "none: | 0 0 0 0 0");
  CHECK(text(Ingested(trace_of(module_call("A_0", 0, 40) + module_call("A_0", 0, 40) + launches))) ==
        "none: | 0 0 0 0 0");
}

TEST_CASE("calls of a model that is trained are of kind train") {
  CHECK(text(Ingested(trace_of(
            module_call("ResNet_0", 0, 20) + module_call("ResNet_0", 50, 20) + launch("a", 1, 10) + launch("b", 1, 60) +
            event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", R"("pid":100,"tid":9)", "30", "10") +
            launch("backward", 9, 35)))) == "module calls: train train | 1 0 2");
}

TEST_CASE("steps by a pattern: every thread where the mark covers the process, else the backward pass") {
  const std::string marks = event("user_annotation", "ProfilerStep#3", kMainThread, "0", "40") +
                            event("user_annotation", "iteration 7", kMainThread, "50", "40");
  const std::string launches =
      launch("a", 1, 10) + launch("b", 9, 20) + launch("c", 1, 55) +
      event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", R"("pid":100,"tid":9)", "58", "10") +
      launch("backward", 9, 60) + launch("helper", 8, 70);
  const Ingested index(trace_of(marks + launches));
  CHECK(text(index, {"ProfilerStep#[0-9]+"}) == "pattern: train | 1 1 0 0 0");
  CHECK(text(index, {"iteration [0-9]+"}) == "pattern: train | 0 0 1 1 0");
}

}  // namespace tracedb
