#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/unknown.h"
#include "compare/wafer/comparison.h"
#include "compare/wafer/trace.h"
#include "support/ingested.h"
#include "support/rows.h"
#include "support/small_index.h"
#include "support/wafer_trace.h"

namespace tracedb::wafer {
namespace {

const Letters kAlignmentLetters = {{'A', {"kernel_unified_attention_2d", "Attention (Prefill)"}},
                                   {'P', {"paged_attention", "Attention (Prefill)"}},
                                   {'g', {"Cijk_qkv", "Dense GEMM"}},
                                   {'h', {"Cijk_out", "Dense GEMM"}},
                                   {'n', {"norm", "RMSNorm"}}};

Trace aligned_letters(std::string_view kernels) { return lettered(kAlignmentLetters, kernels); }

// "GEMM 1 2:1": operation, position, counts.
std::string text_of(const Alignment& alignment, std::size_t layer) {
  std::string text;
  for (const KernelPair& pair : alignment.layers.at(layer).pairs) {
    text += fmt::format("{} {} {}:{}, ", alignment.ops[pair.op], pair.position, pair.first.count, pair.second.count);
  }
  return text;
}

KernelPair counts(std::uint32_t first, std::uint32_t second) { return {0, 0, {0, first, 0}, {0, second, 0}}; }

TEST_CASE("a place is an operation and an absolute position: one more kernel shifts all behind it") {
  const Alignment alignment = align(aligned_letters("gnh"), aligned_letters("gnnh"));
  REQUIRE(alignment.layers.size() == 1);
  CHECK(text_of(alignment, 0) ==
        "Dense GEMM 0 1:1, Dense GEMM 2 1:0, Dense GEMM 3 0:1, RMSNorm 1 1:1, RMSNorm 2 0:1, ");
  CHECK(as_row(alignment.layers[0].first_total, alignment.layers[0].second_total, alignment.passes.all) == "6 10 1");
}

TEST_CASE("attention cuts layers, and what is before the first cut is dropped") {
  const Alignment alignment = align(aligned_letters("gAgAnn"), aligned_letters("AgAnAg"));
  REQUIRE(alignment.layers.size() == 3);
  CHECK(text_of(alignment, 0) == "Attention (Prefill) 0 1:1, Dense GEMM 1 1:1, ");
  CHECK(text_of(alignment, 1) == "Attention (Prefill) 0 1:1, RMSNorm 1 1:1, RMSNorm 2 1:0, ");
  CHECK(text_of(alignment, 2) == "Attention (Prefill) 0 0:1, Dense GEMM 1 0:1, ");
}

TEST_CASE("the first side is cut at 2d and 3d only, the second at any attention") {
  CHECK(align(aligned_letters("PgPg"), aligned_letters("PgPg")).layers.size() == 2);
  CHECK(text_of(align(aligned_letters("PgPg"), aligned_letters("P")), 0) ==
        "Attention (Prefill) 0 1:1, Attention (Prefill) 2 1:0, Dense GEMM 1 1:0, Dense GEMM 3 1:0, ");
}

TEST_CASE("passes are pooled by layer and place, their kernels by both ends, empty passes do not count") {
  Trace first = aligned_letters("ghnAg");  // at 100 ... 140
  first.passes = {
      {100, 100, Phase::kPrefill}, {110, 120, Phase::kDecode}, {121, 129, Phase::kDecode}, {130, 500, Phase::kDecode}};
  const Alignment alignment = align(first, aligned_letters("g"));
  REQUIRE(alignment.layers.size() == 1);
  CHECK(as_lines(text_of(alignment, 0), alignment.passes.all, alignment.passes.prefill, alignment.passes.decode) ==
        "Attention (Prefill) 0 1:0, Dense GEMM 0 2:1, Dense GEMM 1 1:0, RMSNorm 1 1:0, \n3\n1\n2");
  const KernelPair& pooled = alignment.layers[0].pairs[1];
  CHECK(pooled.first.total == 1 + 2);
  CHECK(first.names[pooled.first.name].text == "Cijk_qkv");  // first seen of equals
}

TEST_CASE("the name of a place is the most frequent") {
  Trace first = aligned_letters("ghh");
  first.passes = {{100, 100, Phase::kDecode}, {110, 110, Phase::kDecode}, {120, 120, Phase::kDecode}};
  const Alignment alignment = align(first, aligned_letters("h"));
  CHECK(first.names[alignment.layers.at(0).pairs.at(0).first.name].text == "Cijk_out");
}

TEST_CASE("nothing is aligned where a side has no kernels, or none in a pass") {
  CHECK(align({}, {}).layers.empty());
  CHECK(align(aligned_letters("g"), {}).layers.empty());
  Trace outside = aligned_letters("g");
  outside.passes = {{1, 2, Phase::kDecode}};
  CHECK(align(outside, aligned_letters("g")).layers.empty());
  CHECK(align(aligned_letters("g"), outside).layers.empty());
  CHECK(align(aligned_letters("g"), outside).passes.all == 0);
}

TEST_CASE("notes of fusion by the counts of a place") {
  CHECK(fusion_note(counts(2, 3), "RMSNorm").kind == NoteKind::kNone);  // 1.5 is not more than 1.5
  const FusionNote uneven = fusion_note(counts(1, 4), "Dense GEMM");
  CHECK(uneven.kind == NoteKind::kCountRatio);
  CHECK(uneven.fused_by == Side::kFirst);
  CHECK(uneven.ratio == 4);
  CHECK(fusion_note(counts(4, 1), "Dense GEMM").fused_by == Side::kSecond);
  const FusionNote fused = fusion_note(counts(0, 1), "RMSNorm+GEMM");
  CHECK(fused.kind == NoteKind::kHasFusedKernel);
  CHECK(fused.fused_by == Side::kSecond);
  const FusionNote one_sided = fusion_note(counts(0, 1), "RMSNorm");
  CHECK(one_sided.kind == NoteKind::kOneSided);
  CHECK(one_sided.fused_by == Side::kFirst);
  for (const char* op :
       {"Attention (Prefill)", "Attention (Decode)", "Dense GEMM", "KV Cache", "MoE GEMM", "MoE Routing"}) {
    CHECK(fusion_note(counts(1, 0), op).kind == NoteKind::kNone);
  }
  CHECK(to_string(NoteKind::kOneSided) == "one_sided");
}

TEST_CASE("same kernels are those of one name on both sides; their ratios have no weight") {
  const Trace first = aligned_letters("gnn");
  Trace second = aligned_letters("hnn");
  second.kernels[1].dur = 4;
  second.kernels[2].dur = 0;
  const SameKernels same = find_same_kernels(align(first, second), first, second);
  REQUIRE(same.kernels.size() == 2);
  CHECK(same.kernels[0].pair.position == 1);
  CHECK(same.average_ratio == 0.5);  // the infinite one is left out
  CHECK(std::isinf(ratio_of(same.kernels[1].pair)));
  CHECK(as_row(same.first_faster, same.second_faster) == "1 1");
  const SameKernels none = find_same_kernels({}, {}, {});
  CHECK(as_row(none.kernels.empty(), none.average_ratio) == "true 1");
}

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
  CHECK(as_lines(trace.kernels.empty(), trace.device.warp_size, trace.has_python,
                 codes(warnings_of(trace, find_layers(trace)))) ==
        "true\n32\nfalse\nNO_PHASE_ANNOTATIONS NO_PYTHON_STACKS ");
}

const Letters kFusionLetters = {
    {'f', {"fused_kernel", "Norm+GEMM"}}, {'g', {"gemm", "GEMM"}},    {'n', {"norm", "Norm"}},
    {'o', {"unknown", "Other"}},          {'s', {"silu", "SiLU"}},    {'z', {"zip", "Zip"}},
    {'a', {"add", "Add+Norm"}},           {'b', {"add2", "Add+Norm"}}};

// "GEMM 2 GEMM>Norm x5": type, side that fuses, unfused sequence, count.
std::string fusions(const std::string& first, const std::string& second) {
  std::string text;
  for (const Fusion& fusion : find_fusions(lettered(kFusionLetters, first), lettered(kFusionLetters, second))) {
    text += fmt::format("{}{} {} {} x{}", text.empty() ? "" : "; ", fusion.type,
                        fusion.fused_by == Side::kFirst ? 1 : 2, fmt::join(fusion.unfused, ">"), fusion.count);
  }
  return text;
}

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST_CASE("A: an operation A+B of one side alone, however rare") {
  CHECK(as_lines(fusions("gf", "gg"), fusions("gg", "gff")) == "Norm+GEMM 1 Norm>GEMM x1\nNorm+GEMM 2 Norm>GEMM x2");
  CHECK(fusions("f", "f").empty());
  const auto found = find_fusions(lettered(kFusionLetters, "gbab"), lettered(kFusionLetters, "g"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].fused_kernel == "add2");  // the first one in time
  CHECK(found[0].kernel_names == std::vector<std::string>{"add2", "add"});
}

TEST_CASE("B: five calls of an operation of one side alone behind one that both have") {
  CHECK(fusions(repeat("gn", 5), repeat("g", 5)) == "GEMM 2 GEMM>Norm x5");
  CHECK(fusions(repeat("g", 5), repeat("gn", 5)) == "GEMM 1 GEMM>Norm x5");
  CHECK(fusions(repeat("gn", 4), repeat("g", 4)).empty());
  CHECK(fusions(repeat("gn", 5), repeat("z", 5)).empty());  // GEMM is on one side, too
}

TEST_CASE("B: more than 80 % of all calls, the first kernel of the trace among them") {
  CHECK(fusions(repeat("gn", 4) + "zn", "gz").empty());                   // 4 of 5
  CHECK(fusions(repeat("gn", 5) + "zn", "gz") == "GEMM 2 GEMM>Norm x6");  // 5 of 6
  CHECK(fusions("n" + repeat("gn", 4), "g").empty());                     // nothing is before the first
  CHECK(fusions("n" + repeat("gn", 5), "g") == "GEMM 2 GEMM>Norm x6");
  CHECK(fusions("gnnnnnn", "g").empty());  // mostly behind itself
}

TEST_CASE("B: Other may be what is fused into, but is no subject") {
  CHECK(fusions(repeat("on", 5), "o") == "Other 2 Other>Norm x5");
  CHECK(fusions(repeat("go", 5), "g").empty());
}

TEST_CASE("C: uneven counts, from 50 calls in all and 1.5 times on") {
  CHECK(fusions(repeat("g", 30), repeat("g", 20)) == "GEMM 2 GEMM x10");
  CHECK(fusions(repeat("g", 20), repeat("g", 30)) == "GEMM 1 GEMM x10");
  CHECK(fusions(repeat("g", 29), repeat("g", 20)).empty());  // 49
  CHECK(fusions(repeat("g", 31), repeat("g", 21)).empty());  // 1.48 times
  CHECK(fusions(repeat("o", 90), repeat("o", 10)).empty());
}

TEST_CASE("findings come as A, B, C, those of the first trace and the first of the alphabet before others") {
  CHECK(fusions("f" + repeat("g", 10) + repeat("zs", 5), "a" + repeat("gn", 40) + "z") ==
        "Norm+GEMM 1 Norm>GEMM x1; Add+Norm 2 Add>Norm x1; Zip 2 Zip>SiLU x5; GEMM 1 GEMM>Norm x40");
}

TEST_CASE("of B and C only the first of a fused type stays, whoever fuses") {
  // SiLU and Zip behind GEMM; GEMM also is uneven.
  CHECK(fusions(repeat("gs", 30) + repeat("gz", 30), repeat("g", 10)) == "GEMM 2 GEMM>SiLU x30");
  CHECK(fusions(repeat("gs", 6), repeat("gz", 6)) == "GEMM 2 GEMM>SiLU x6");  // the opposite finding is lost
  // A is taken whole, and hides what has its type.
  CHECK(fusions("f" + repeat("fn", 5), "g") == "Norm+GEMM 1 Norm>GEMM x6");
}

TEST_CASE("no fusion without kernels, nor between equal traces under one table") {
  CHECK(fusions("", "").empty());
  CHECK(fusions("", repeat("gn", 60)).empty());
  CHECK(fusions(repeat("gnz", 60), repeat("gnz", 60)).empty());
  CHECK(find_fusions({}, {}).empty());
}

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
    const auto layer = layers.find(kernel.correlation);
    text += layer == layers.end() ? '-' : static_cast<char>('0' + layer->second);
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
  CHECK(as_row(layers_of("gAggAgDg"), layers_of("xSxSx")) == "-0001111 -0011");
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
  CHECK(as_row(layers_text(trace), find_layers(trace).size()) == "01-1 2");
}

TEST_CASE("without markers, a launch of 70 kernels with attention and GEMM is a layer") {
  const auto launches = [](std::string_view kernels) {
    Trace trace = used(kernels);
    for (Kernel& kernel : trace.kernels) kernel.correlation = kernel.correlation < 71 ? 9 : 4;
    return find_layers(trace).size();
  };
  const std::string enough(69, 'x');
  CHECK(as_row(launches("Dg" + enough), launches("Dg" + enough + "Dg" + std::string(68, 'x'))) == "1 2");
  CHECK(launches("Dg" + enough.substr(2)) == 0);  // 69
  CHECK(as_row(launches("DD" + enough), launches("gg" + enough)) == "0 0");
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
  CHECK(as_row(records[0].in_both, records[0].ratio, records[0].gap, records[1].layer) == "false 0 305 1");
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

TEST_CASE("a layer is slower or faster beyond 0.1 ms and 1.2 times") {
  const auto status = [](std::int64_t first_ns, std::int64_t second_ns) {
    Trace first = used("A"), second = used("A");
    first.kernels[0].dur = first_ns;
    second.kernels[0].dur = second_ns;
    return to_string(compare_layers(first, find_layers(first), second, find_layers(second), {}).at(0).status);
  };
  CHECK(as_row(status(600'000, 500'000), status(600'001, 500'000), status(500'000, 600'001),
               status(1'200'000, 1'000'000)) == "similar slower faster similar");
}

TEST_CASE("tokens are the number behind context, as that tool splits names") {
  CHECK(as_row(token_count("execute_context_1(4096)_generation_0(0)"),
               token_count("execute_context_1()_generation_0(0)"), token_count("execute_context_1(x)"),
               token_count("execute_context_1)2("), token_count("execute_context"),
               token_count("execute_1(5)_generation_0(0)"), token_count("")) == "4096 0 0 0 0 0 0");
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

const Letters kOperationLetters = {{'a', {"a", "A"}},
                                   {'b', {"b", "A"}},
                                   {'c', {"c", "C"}},
                                   {'n', {"norm", "RMSNorm"}},
                                   {'f', {"fused", "RMSNorm+GEMM"}}};

Trace operation_letters(std::string_view kernels) { return lettered(kOperationLetters, kernels); }

std::string names_of(const std::vector<OperationRecord>& records) {
  std::string text;
  for (const OperationRecord& record : records) text += record.operation + ' ';
  return text;
}

TEST_CASE("the status begins beyond 5 ms, and a second side of no time has ratio 1") {
  Trace first = operation_letters("c");
  Trace second = operation_letters("c");
  second.kernels[0].dur = 0;
  first.kernels[0].dur = 5'000'000;
  CHECK(compare_operations(first, second, std::nullopt)[0].status == Status::kSimilar);
  CHECK(compare_operations(first, second, std::nullopt)[0].ratio == 1);
  first.kernels[0].dur = 5'000'001;
  CHECK(compare_operations(first, second, std::nullopt)[0].status == Status::kSlower);
}

TEST_CASE("RMSNorm of one side stands against RMSNorm+GEMM of the other, twice, and not the other way round") {
  const auto records = compare_operations(operation_letters("f"), operation_letters("n"), std::nullopt);
  CHECK(names_of(records) == "RMSNorm RMSNorm+GEMM ");
  CHECK(compare_operations(operation_letters("n"), operation_letters("f"), std::nullopt).empty());
  CHECK(names_of(compare_operations(operation_letters("nf"), operation_letters("n"), std::nullopt)) ==
        "RMSNorm+GEMM RMSNorm ");
}

TEST_CASE("the filter by phase leaves the pattern alone") {
  Trace first = operation_letters("ab");
  Trace second = operation_letters("aa");
  first.kernels[1].phase = second.kernels[0].phase = Phase::kPrefill;
  const auto records = compare_operations(first, second, Phase::kPrefill);
  REQUIRE(names_of(records) == "A ");
  CHECK(as_row(records[0].first.count, records[0].first.prefill, records[0].first.decode) == "1 true false");
  CHECK(records[0].first.pattern == "a");  // of decode, though only b is in prefill
  CHECK(compare_operations(operation_letters("a"), operation_letters("a"), Phase::kPrefill).empty());
}

TEST_CASE("the operator is the one of most kernels, the first by alphabet of several") {
  Trace trace = operation_letters("aabbc");
  trace.names[0].cpu_op = "aten::mm";
  trace.names[1].cpu_op = "aten::bmm";
  const auto records = compare_operations(trace, operation_letters("ac"), std::nullopt);
  REQUIRE(names_of(records) == "A C ");
  CHECK(as_row(records[0].first.cpu_op, records[1].first.cpu_op.empty()) == "aten::bmm true");
}

}  // namespace
}  // namespace tracedb::wafer
