#include "compare/wafer/phases.h"

#include <doctest/doctest.h>

#include "support/wafer_trace.h"

namespace tracedb::wafer {

TEST_CASE("tokens are the number behind context, as that tool splits names") {
  CHECK(token_count("execute_context_1(4096)_generation_0(0)") == 4096);
  CHECK(token_count("execute_context_1()_generation_0(0)") == 0);
  CHECK(token_count("execute_context_1(x)") == 0);
  CHECK(token_count("execute_context_1)2(") == 0);
  CHECK(token_count("execute_context") == 0);
  CHECK(token_count("execute_1(5)_generation_0(0)") == 0);
  CHECK(token_count("") == 0);
  // Pieces end at any underscore.
  CHECK(token_count("execute_context_1(888_788544)_generation_0(0)") == 0);
}

TEST_CASE("prefill is tokens without generation") {
  CHECK(phase_of("execute_context_1(4096)_generation_0(0)") == Phase::kPrefill);
  CHECK(phase_of("execute_context_1(100)_generation_0(0)") == Phase::kPrefill);
  CHECK(phase_of("execute_context_0(0)_generation_8(8)") == Phase::kDecode);
  CHECK(phase_of("execute_context_2(300)_generation_6(6)") == Phase::kDecode);
  CHECK(phase_of("execute_context_2(300)_generation_01(1)") == Phase::kPrefill);
  CHECK(phase_of("execute_8192_context_9(sq8155sk8430)_generation_0(sq0)") == Phase::kDecode);
}

TEST_CASE("a kernel has the phase of the last pass that begins before it, if it is still within") {
  Trace trace = lettered({{'a', {"a", "A"}}}, "aaaaaa");  // at 100, 110 ... 150
  trace.passes = {{110, 140, Phase::kPrefill}, {120, 120, Phase::kDecode}, {150, 200, Phase::kPrefill}};
  assign_phases(trace);
  std::string phases;
  for (const Kernel& kernel : trace.kernels) phases += kernel.phase == Phase::kPrefill ? 'p' : 'd';
  CHECK(phases == "dpdddp");  // 130 and 140 are in the first pass, but behind the second
}

TEST_CASE("without passes all is decode") {
  Trace trace = lettered({{'a', {"a", "A"}}}, "aa");
  trace.kernels[0].phase = Phase::kPrefill;
  assign_phases(trace);
  CHECK(trace.kernels[0].phase == Phase::kDecode);
  CHECK(passes(std::nullopt, trace.kernels[0]));
  CHECK_FALSE(passes(Phase::kPrefill, trace.kernels[0]));
}

}  // namespace tracedb::wafer
