#include "compare/wafer/fusion.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/wafer_trace.h"

namespace tracedb::wafer {
namespace {

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

}  // namespace

TEST_CASE("A: an operation A+B of one side alone, however rare") {
  CHECK(fusions("gf", "gg") == "Norm+GEMM 1 Norm>GEMM x1");
  CHECK(fusions("gg", "gff") == "Norm+GEMM 2 Norm>GEMM x2");
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

}  // namespace tracedb::wafer
