#include "compare/reason_parts.h"

#include <doctest/doctest.h>

#include <cmath>

#include "passes/layers/layers.h"

namespace tracedb {
namespace {

LayerPart part(std::int32_t layer, double baseline, double candidate) {
  const std::int64_t change = std::llround(candidate - baseline);
  return {layer, {baseline, candidate, change, 0, change}, 1, 1};
}

// The row that the parts add up to.
Reason whole(const std::vector<LayerPart>& parts) {
  Reason out;
  for (const LayerPart& own : parts) {
    out.change.baseline += own.change.baseline;
    out.change.candidate += own.change.candidate;
    out.change.change += own.change.change;
    out.change.duration_effect += own.change.change;
    out.baseline_n += own.baseline_n;
    out.candidate_n += own.candidate_n;
  }
  return out;
}

std::vector<Reason> split(const std::vector<LayerPart>& parts) {
  const std::vector<Reason> out = split_by_place(whole(parts), parts, 100);
  std::int64_t sum = 0;
  for (const Reason& reason : out) sum += reason.change.change;
  CHECK(sum == whole(parts).change.change);
  return out;
}

}  // namespace

TEST_CASE("an operation that is slower in all layers is one reason") {
  const auto found = split({part(0, 1000, 1500), part(1, 1000, 1510), part(2, 1000, 1490), part(3, 1000, 1505)});
  REQUIRE(found.size() == 1);
  CHECK(found[0].place.kind == PlaceKind::kLayers);
  CHECK(found[0].place.layers.empty());
  CHECK(found[0].place.moved == 4);
  CHECK(found[0].place.compared == 4);
}

TEST_CASE("an operation that is slower in one layer is a reason for that layer") {
  const auto found = split({part(0, 1000, 1010), part(1, 1000, 2500), part(2, 1000, 995), part(3, 1000, 1000)});
  REQUIRE(found.size() == 2);
  CHECK(found[0].place.layers == std::vector<std::int32_t>{1});
  CHECK(found[0].change.change == 1500);
  CHECK(found[1].change.change == 5);
}

TEST_CASE("the head is a reason of its own where it changed otherwise than the layers") {
  const auto same = split({part(kHead, 2000, 3000), part(0, 1000, 1500), part(1, 1000, 1500), part(2, 1000, 1500)});
  CHECK(same.size() == 1);
  const auto other = split({part(kHead, 2000, 500), part(0, 1000, 1500), part(1, 1000, 1500), part(2, 1000, 1500)});
  REQUIRE(other.size() == 2);
  CHECK(other[0].place.kind == PlaceKind::kStepHead);
  CHECK(other[0].change.change == -1500);
  CHECK(other[1].change.change == 1500);
}

TEST_CASE("what only the tail has is in the tail") {
  const auto found = split({part(kTail, 1000, 1500)});
  REQUIRE(found.size() == 1);
  CHECK(found[0].place.kind == PlaceKind::kStepTail);
}

TEST_CASE("layers that differ from each other are not named where all changed") {
  const auto found = split({part(0, 2000, 1000), part(1, 2000, 1010), part(2, 2000, 990), part(3, 2000, 600),
                            part(4, 2000, 1005), part(5, 2000, 995)});
  REQUIRE(found.size() == 1);
  CHECK(found[0].place.moved == 6);
}

TEST_CASE("the roles that changed an operation, as far as its kernels add up to it") {
  KernelNameTable names;
  const NameId gemm = names.intern("gemm", "gemm", "dense_gemm");
  const NameId norm = names.intern("norm", "norm", "norm");
  GroupComparison group;
  group.candidate_units = 2;
  const auto cells = [&](GroupWork& work, std::int64_t gate, std::int64_t down, std::int64_t head) {
    work.cells = {{0, gemm, Work::kCompute, {1, gate, gate}, Role::kGateUp},
                  {0, gemm, Work::kCompute, {1, down, down}, Role::kDown},
                  {0, norm, Work::kCompute, {1, 7, 7}, Role::kInputNorm},
                  {kTail, gemm, Work::kCompute, {1, head, head}, Role::kLmHead}};
  };
  cells(group.baseline, 1000, 500, 300);
  cells(group.candidate, 3400, 1200, 400);  // of two steps: +700, +100, -100
  Reason reason;
  reason.op = "dense_gemm";
  reason.change.change = 700;
  const auto anywhere = changes_by_role(group, names, reason);
  REQUIRE(anywhere.size() == 2);
  CHECK(anywhere[0].role == Role::kGateUp);
  CHECK(anywhere[0].change == doctest::Approx(700));
  CHECK(anywhere[1].role == Role::kDown);

  reason.place.kind = PlaceKind::kLayers;
  reason.change.change = 800;  // the tail is a reason of its own
  CHECK(changes_by_role(group, names, reason).size() == 2);
  reason.place.kind = PlaceKind::kStepTail;
  reason.change.change = -100;
  REQUIRE(changes_by_role(group, names, reason).size() == 1);
  CHECK(changes_by_role(group, names, reason)[0].role == Role::kLmHead);
  reason.place.kind = PlaceKind::kStep;
  reason.change.change = 400;  // a fusion took part of it
  CHECK(changes_by_role(group, names, reason).empty());
}

}  // namespace tracedb
