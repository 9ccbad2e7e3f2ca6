#include "compare/wafer/comparison.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/unknown.h"
#include "compare/wafer/trace.h"
#include "support/ingested.h"
#include "support/small_index.h"
#include "support/wafer_trace.h"

namespace tracedb::wafer {
namespace {

std::string codes(const std::vector<Warning>& warnings) {
  std::string text;
  for (const Warning& warning : warnings) text += fmt::format("{} ", warning.code);
  return text;
}

constexpr std::string_view kPass = "execute_context_1(16)_generation_0(0)";

std::string kernel(std::string_view name, std::string_view ts, std::string_view args) {
  return event("kernel", name, kGpuStream, ts, "2", args);
}

// An AMD device, three kernels and a fourth outside the only pass, operators 1 and 2.
std::string small_trace(std::string_view head) {
  const std::string events = event("user_annotation", kPass, kMainThread, "10", "20") +
                             event("user_annotation", "step", kMainThread, "1", "99") +
                             event("cpu_op", "aten::mm", kMainThread, "1", "2", R"("External id":1)") +
                             event("cpu_op", "aten::addmm", kMainThread, "4", "2", R"("External id":1)") +
                             event("python_function", "f", kMainThread, "1", "50", R"("Python id":1)") +
                             kernel("Cijk_x", "10", R"("correlation":5,"External id":1)") +
                             kernel("paged_attention_3d", "20", R"("correlation":6)") +
                             kernel("Cijk_x", "30", R"("External id":2)") + kernel("sort", "31", "");
  std::string trace = trace_of(events);
  trace.insert(1, head);
  return trace;
}

}  // namespace

TEST_CASE("warnings of one trace, and of two by code") {
  Trace trace = lettered({{'o', {"Other", "Other"}}, {'x', {"x", "X"}}}, std::string(75, 'x') + std::string(26, 'o'));
  CHECK(codes(warnings_of(trace, {})) ==
        "NO_PHASE_ANNOTATIONS NO_PYTHON_STACKS HIGH_UNKNOWN_KERNELS LAYER_DETECTION_FAILED ");
  trace.passes = {{0, 1, Phase::kDecode}};
  trace.has_python = true;
  trace.kernels.resize(100);
  LayerMap layers;
  CHECK(codes(warnings_of(trace, layers)) == "HIGH_UNKNOWN_KERNELS ");
  trace.kernels.resize(93);  // 18 of 93
  CHECK(codes(warnings_of(trace, layers)).empty());
  CHECK(codes(join(warnings_of(trace, layers), warnings_of({}, layers))) == "NO_PHASE_ANNOTATIONS NO_PYTHON_STACKS ");
  CHECK(join(warnings_of({}, layers), warnings_of({}, layers)).size() == 2);
}

TEST_CASE("only a second AMD trace comes first") {
  CHECK(is_swapped(Platform::kNvidia, Platform::kAmd));
  CHECK_FALSE(is_swapped(Platform::kAmd, Platform::kNvidia));
  CHECK_FALSE(is_swapped(Platform::kAmd, Platform::kAmd));
  CHECK_FALSE(is_swapped(Platform::kNvidia, Platform::kNvidia));
}

TEST_CASE("empty traces compare to nothing") {
  const Comparison comparison = compare({}, {}, std::nullopt);
  CHECK(comparison.first.kernels == 0);
  CHECK(comparison.architecture == Architecture::kUnknown);
  CHECK(comparison.operations.empty());
  CHECK(comparison.layers.empty());
  CHECK(comparison.alignment.layers.empty());
  CHECK(comparison.fusions.empty());
  CHECK(comparison.same_kernels.kernels.empty());
}

TEST_CASE("the filter is for operations, layers and sums; the rest is of all phases") {
  Trace trace = lettered({{'x', {"x", "X"}}}, "xx");
  trace.kernels[0].phase = Phase::kPrefill;
  const Comparison comparison = compare(trace, trace, Phase::kPrefill);
  CHECK(comparison.first.kernels == 1);
  CHECK(comparison.operations.at(0).first.count == 1);
  CHECK(comparison.alignment.layers.at(0).pairs.size() == 2);
}

TEST_CASE("a trace is read from an index") {
  const Ingested ingested(small_trace(
      R"("roctracer_version":4,"deviceProperties":[{"name":"MI","computeMajor":9,"computeMinor":4,"numSms":304,)"
      R"("totalGlobalMem":2147483648,"sharedMemPerBlock":65536,"maxThreadsPerBlock":1024,"warpSize":64}],)"));
  const Index index = Index::open(ingested.directory() / "index");
  const Trace trace = read_trace(index, Side::kSecond);
  CHECK(trace.platform == Platform::kAmd);
  CHECK(trace.device.name == "MI");
  CHECK(trace.device.compute_capability == "9.4");
  CHECK(trace.device.total_memory_gb == 2);
  CHECK(trace.device.shared_mem_per_block_kb == 64);
  CHECK(trace.has_python);
  REQUIRE(trace.passes.size() == 1);
  CHECK(trace.passes[0].phase == Phase::kPrefill);
  CHECK(trace.passes[0].end - trace.passes[0].begin == 20'000);
  REQUIRE(trace.names.size() == 3);
  REQUIRE(trace.kernels.size() == 4);
  const auto name = [&](std::size_t row) -> const KernelName& { return trace.names[trace.kernels[row].name]; };
  CHECK(name(0).op == "Dense GEMM");
  CHECK(name(0).pattern == "Cijk_* (Tensile)");
  CHECK(name(0).cpu_op == "aten::addmm");  // the later of two with the id of the first kernel
  CHECK(name(1).op == "Attention (Decode)");
  CHECK(name(1).side_op == "Attention (Prefill)");  // by the rules of the other platform
  CHECK(name(1).cpu_op.empty());
  CHECK(trace.kernels[1].correlation == 6);
  CHECK(trace.kernels[2].correlation == kUnknownValue);
  CHECK(trace.kernels[2].phase == Phase::kPrefill);  // at the very end of the pass
  CHECK(trace.kernels[3].phase == Phase::kDecode);
  CHECK(read_trace(index, Side::kFirst).names[trace.kernels[1].name].side_op == "Attention (Decode)");
}

TEST_CASE("kernels with equal starts keep the order of the file, whatever their durations") {
  std::string events;
  for (const auto& [name, dur] : {std::pair{"a", "5"}, std::pair{"b", "9"}, std::pair{"c", "5"}, std::pair{"d", "7"}}) {
    events += event("kernel", name, kGpuStream, "10", dur);
  }
  events += event("kernel", "e", kGpuStream, "9", "1");
  const Ingested ingested(trace_of(events));
  const Trace trace = read_trace(Index::open(ingested.directory() / "index"), Side::kFirst);
  std::string order;
  for (const Kernel& kernel : trace.kernels) order += trace.names[kernel.name].text;
  CHECK(order == "eabcd");
}

TEST_CASE("the first listed device says what a trace is of, by warps and roctracer") {
  const auto platform = [](std::string_view head) {
    const Ingested ingested(small_trace(head));
    const Index index = Index::open(ingested.directory() / "index");
    return fmt::format("{} {}", platform_of(index) == Platform::kAmd ? "AMD" : "NVIDIA", read_device(index).name);
  };
  CHECK(platform("") == "NVIDIA Unknown GPU");
  CHECK(platform(R"("roctracer_version":4,)") == "AMD MI300X");
  CHECK(platform(R"("roctracer_version":0,)") == "NVIDIA Unknown GPU");
  CHECK(platform(R"("deviceProperties":[],)") == "NVIDIA Unknown GPU");
  CHECK(platform(R"("deviceProperties":[{"name":"","warpSize":64}],)") == "AMD ");
  CHECK(platform(R"("deviceProperties":[{"name":"H","warpSize":32},{"name":"M","warpSize":64}],)") == "NVIDIA H");
}

TEST_CASE("an index without anything is an empty trace") {
  const TempDirectory folder;
  const Index index = open_small_index(folder / "empty.tracedb", SmallIndexContent::kEmpty);
  const Trace trace = read_trace(index, Side::kFirst);
  CHECK(trace.kernels.empty());
  CHECK(trace.device.warp_size == 32);
  CHECK_FALSE(trace.has_python);
  CHECK(codes(warnings_of(trace, find_layers(trace))) == "NO_PHASE_ANNOTATIONS NO_PYTHON_STACKS ");
}

}  // namespace tracedb::wafer
