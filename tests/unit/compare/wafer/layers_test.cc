#include "compare/wafer/layers.h"

#include <doctest/doctest.h>

#include "base/unknown.h"
#include "compare/wafer/operations.h"
#include "support/wafer_trace.h"

namespace tracedb::wafer {
namespace {

const Letters kLayerLetters = {{'A', {"kernel_unified_attention_2d", "Attention (Prefill)"}},
                               {'D', {"kernel_unified_attention_3d", "Attention (Decode)"}},
                               {'S', {"selective_scan_fwd", "Other"}},
                               {'F', {"flash_fwd", "Other"}},
                               {'g', {"Cijk_gemm", "Dense GEMM"}},
                               {'x', {"other", "Other"}}};

// The layer of each kernel as a digit; '-': none.
std::string layers_text(const Trace& trace) {
  const LayerMap layers = find_layers(trace);
  std::string text;
  for (const Kernel& kernel : trace.kernels) {
    const auto layer = layers.layer_of(kernel);
    text += layer ? static_cast<char>('0' + *layer) : '-';
  }
  return text;
}

// Only names that kernels have.
Trace used(std::string_view kernels) {
  Letters letters;
  for (const char letter : kernels) letters[letter] = kLayerLetters.at(letter);
  return lettered(letters, kernels);
}

std::string layers_of(std::string_view kernels) { return layers_text(used(kernels)); }

}  // namespace

TEST_CASE("architecture by evidence in names, of one or both traces") {
  CHECK(architecture_of(used("gx")) == Architecture::kUnknown);
  CHECK(architecture_of(used("Fg")) == Architecture::kTransformer);
  CHECK(architecture_of(used("Sg")) == Architecture::kSsm);
  CHECK(architecture_of(used("SA")) == Architecture::kHybrid);
  CHECK(architecture_of(used("S"), used("A")) == Architecture::kHybrid);
  CHECK(architecture_of(used("x"), used("A")) == Architecture::kTransformer);
  CHECK(architecture_of(Trace{}) == Architecture::kUnknown);
  CHECK(to_string(Architecture::kHybrid) == "hybrid");
}

TEST_CASE("a layer lasts from marker to marker, decode attention is none") {
  CHECK(layers_of("gAggAgDg") == "-0001111");
  CHECK(layers_of("xSxSx") == "-0011");
  CHECK(layers_of("SAxx") == "----");  // hybrid: no markers
  CHECK(layers_of("Fxx") == "---");    // flash, but neither context nor 2d
  CHECK(layers_of("").empty());
}

TEST_CASE("markers at the same time skip a number, and others at that time are in the last") {
  Trace trace = used("gAAg");
  for (Kernel& kernel : trace.kernels) kernel.ts = 100;
  CHECK(layers_text(trace) == "1111");
}

TEST_CASE("layers are kept by correlation: the last one of a launch wins, and without one there is none") {
  Trace trace = used("AgAg");
  trace.kernels[1].correlation = 7;
  trace.kernels[3].correlation = 7;
  trace.kernels[2].correlation = kUnknownValue;
  CHECK(layers_text(trace) == "01-1");
  CHECK(find_layers(trace).size() == 2);
}

TEST_CASE("without markers, a launch of 70 kernels with attention and GEMM is a layer") {
  const auto launches = [](std::string_view kernels) {
    Trace trace = used(kernels);
    for (Kernel& kernel : trace.kernels) kernel.correlation = kernel.correlation < 71 ? 9 : 4;
    return find_layers(trace).size();
  };
  const std::string enough(69, 'x');
  CHECK(launches("Dg" + enough) == 1);
  CHECK(launches("Dg" + enough + "Dg" + std::string(68, 'x')) == 2);
  CHECK(launches("Dg" + enough.substr(2)) == 0);  // 69
  CHECK(launches("DD" + enough) == 0);
  CHECK(launches("gg" + enough) == 0);
}

TEST_CASE("the table of layers: one-sided ones first, then by gap; no status below 0.1 ms") {
  Trace first = used("AgAgAg");
  const Trace second = used("AgAg");
  first.kernels[2].dur = 1'000'000;
  first.kernels[5].dur = 300;
  const auto records = compare_layers(first, find_layers(first), second, find_layers(second), std::nullopt);
  REQUIRE(records.size() == 3);
  CHECK(records[0].layer == 2);
  CHECK(records[0].status == Status::kFirstOnly);
  CHECK_FALSE(records[0].in_both);
  CHECK(records[0].ratio == 0);
  CHECK(records[0].gap == 305);
  CHECK(records[1].layer == 1);
  CHECK(records[1].status == Status::kSlower);
  CHECK(records[1].gap == 1'000'000 - 3);
  CHECK(records[2].layer == 0);
  CHECK(records[2].status == Status::kSimilar);
  CHECK(records[2].ratio == 1);

  const auto mirrored = compare_layers(second, find_layers(second), first, find_layers(first), std::nullopt);
  REQUIRE(mirrored.size() == 3);
  CHECK(mirrored[0].status == Status::kSecondOnly);
  CHECK(mirrored[0].gap == -305);
  CHECK(mirrored[1].status == Status::kFaster);
  CHECK(compare_layers(first, find_layers(first), second, find_layers(second), Phase::kPrefill).empty());
  CHECK(compare_layers({}, {}, {}, {}, std::nullopt).empty());
}

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
