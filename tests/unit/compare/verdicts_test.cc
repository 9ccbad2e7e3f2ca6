#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "compare/comparison.h"
#include "compare/reason_parts.h"
#include "compare/same_kernels.h"
#include "compare/steps/step_groups.h"
#include "compare/steps/step_metrics.h"
#include "compare/trace/recording.h"
#include "passes/layers/stack_table.h"
#include "support/places.h"
#include "support/rows.h"

namespace tracedb {
namespace {

// Kernels that ran ten times on both sides, by their durations in us.
struct Kernels {
  std::vector<SameTimes> times;
  double baseline = 0, candidate = 0;  // time of computation

  Kernels& add(double a, double b, bool computes = true) {
    times.push_back({10, 10, static_cast<std::int64_t>(a * 10'000), static_cast<std::int64_t>(b * 10'000), computes});
    if (computes) other(a, b);
    return *this;
  }
  Kernels& other(double a, double b) {  // ten runs of what one side alone has
    baseline += a * 10'000;
    candidate += b * 10'000;
    return *this;
  }
  Kernels& slower(int n, double ratio) {
    for (int i = 0; i < n; ++i) add(10 + i, (10 + i) * ratio);
    return *this;
  }
  [[nodiscard]] Kernels swapped() const {
    Kernels out = *this;
    for (SameTimes& one : out.times) {
      std::swap(one.baseline_n, one.candidate_n);
      std::swap(one.baseline_time, one.candidate_time);
    }
    std::swap(out.baseline, out.candidate);
    return out;
  }
  [[nodiscard]] std::optional<ClockChange> change() const { return find_clock_change(times, baseline, candidate); }
};

TEST_CASE("clocks: all kernels slower by one factor") {
  const auto change = Kernels().slower(8, 1.12).change();
  REQUIRE(change);
  CHECK(change->ratio == doctest::Approx(1.12));
  CHECK(as_row(change->kernels, change->holding) == "8 8");
  CHECK(change->time_share == doctest::Approx(1));
  CHECK(Kernels().slower(8, 1.12).swapped().change()->ratio == doctest::Approx(1 / 1.12));
}

TEST_CASE("clocks: what is a change of the clock, and what is none") {
  const auto kernels = [](int n, double ratio) { return Kernels().slower(n, ratio); };
  Kernels brief;
  for (int i = 0; i < 10; ++i) brief.add(1.5, 1.9);
  const struct {
    std::string_view what;
    Kernels kernels;
    bool found;
  } cases[] = {
      {"faster", kernels(8, 0.9), true},
      {"3 % or less is none", kernels(8, 1.03), false},
      {"more than 3 %", kernels(8, 1.04), true},
      {"3 % or less is none", kernels(8, 0.972), false},
      {"ranks of one job: a waiting collective that holds most of the time, all else takes as long",
       kernels(40, 1.0).add(871'000, 2'240'000, false), false},
      {"nor where it counts as computation", kernels(40, 1.0).add(871'000, 2'240'000), false},
      {"a collective beside slower kernels", kernels(8, 1.12).add(871'000, 10, false), true},
      {"one outlier is allowed", kernels(5, 1.12).add(10, 2), true},
      {"three are not", kernels(5, 1.12).add(10, 30).add(10, 30).add(10, 30), false},
      {"a class that is slower, with most of the time", kernels(10, 1.0).add(500, 1000).add(400, 800), false},
      {"a class that is slower, with most of the kernels", kernels(10, 1.2).add(500, 500).add(400, 400), false},
      {"too few kernels", kernels(4, 1.2), false},
      {"just enough kernels", kernels(5, 1.2), true},
      {"too little of the time", kernels(8, 1.2).other(200, 200), false},
      {"too short", brief, false},
      {"nothing at all", Kernels(), false},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    CHECK(one.kernels.change().has_value() == one.found);
    CHECK(one.kernels.swapped().change().has_value() == one.found);
  }
  const auto change = kernels(8, 1.12).add(10, 30).change();  // an outlier is told apart
  REQUIRE(change);
  CHECK(as_row(change->kernels, change->holding) == "9 8");
  CHECK(change->time_share < 0.9);
  CHECK_FALSE(find_clock_change(std::vector<SameTimes>(9), 0, 0));
}

TEST_CASE("permission: what may be said under which condition") {
  for (const Claim claim : {Claim::kRatio, Claim::kVerdict, Claim::kKernels}) CHECK(permission_of({}).may(claim));
  // Other work outweighs another load, which is still compared.
  const Permission both = permission_of({.other_work = true, .incomparable = "the load differs"});
  CHECK(!both.may(Claim::kRatio));
  CHECK(both.why_not(Claim::kVerdict) == "other work");
  CHECK(both.may(Claim::kKernels));
  const Permission load = permission_of({.incomparable = "the load differs"});
  CHECK(load.may(Claim::kRatio));
  CHECK(load.why_not(Claim::kVerdict) == "the load differs");
  // Names out of step forbid what rests on names alone.
  const Permission names = permission_of({.names_out_of_step = true});
  CHECK(names.may(Claim::kRatio));
  CHECK(names.may(Claim::kVerdict));
  CHECK(!names.may(Claim::kKernels));
}

TEST_CASE("other work: numbers of layers") {
  const auto of = [](const char* model, std::int64_t layers) {
    WorkFacts facts;
    facts.model = model;
    facts.layers = layers;
    return facts;
  };
  const WorkFacts whole = of("Qwen2Model", 24);
  CHECK(work_difference(whole, of("Qwen2ForCausalLM", 11)).text ==
        "other number of layers: Qwen2Model, 24 layers, against Qwen2ForCausalLM, 11 layers: another size, or a trace "
        "that is cut off");
  CHECK(work_difference(whole, of("LlamaModel", 11)).text ==
        "other model: Qwen2Model, 24 layers, against LlamaModel, 11 layers");
  CHECK(work_difference(whole, whole).text.empty());
}

LayerPart part(std::int32_t layer, double baseline, double candidate, double baseline_n = 1, double candidate_n = 1) {
  const std::int64_t change = std::llround(candidate - baseline);
  return {{{baseline, candidate, change, 0, change}, baseline_n, candidate_n}, layer};
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

// "layers [1] (0/0) +1500": place, its layers where they are not all, how many of those compared moved, and the change.
std::string places_of(const std::vector<LayerPart>& parts) {
  std::string out;
  std::int64_t sum = 0;
  GroupComparison group;
  for (const LayerPart& own : parts) {
    group.baseline.layer_times[own.layer].assign(6, std::llround(own.change.baseline));
    group.candidate.layer_times[own.layer].assign(6, std::llround(own.change.candidate));
  }
  for (const Reason& reason : split_by_place(group, whole(parts), parts, 100)) {
    const auto& place = reason.place;
    const char* kind = place.kind == PlaceKind::kStepHead   ? "head"
                       : place.kind == PlaceKind::kStepTail ? "tail"
                                                            : "layers";
    out += fmt::format("{}{} [{}] ({}/{}) {:+}", out.empty() ? "" : "; ", kind, fmt::join(place.layers, ","),
                       place.moved, place.compared, reason.change.change);
    sum += reason.change.change;
  }
  CHECK(sum == whole(parts).change.change);
  return out;
}

TEST_CASE("reasons by place") {
  const struct {
    std::string_view what;
    std::vector<LayerPart> parts;
    const char* places;
  } cases[] = {
      {"slower in all layers: one reason",
       {part(0, 1000, 1500), part(1, 1000, 1510), part(2, 1000, 1490), part(3, 1000, 1505)},
       "layers [] (4/4) +2005"},
      {"slower in one layer: a reason for that layer",
       {part(0, 1000, 1010), part(1, 1000, 2500), part(2, 1000, 995), part(3, 1000, 1000)},
       "layers [1] (0/0) +1500; layers [] (1/3) +5"},
      {"the head changed as the layers did",
       {part(kHead, 2000, 3000), part(0, 1000, 1500), part(1, 1000, 1500), part(2, 1000, 1500)},
       "layers [] (3/3) +2500"},
      {"the head is a reason of its own where it changed otherwise",
       {part(kHead, 2000, 500), part(0, 1000, 1500), part(1, 1000, 1500), part(2, 1000, 1500)},
       "head [] (0/0) -1500; layers [] (3/3) +1500"},
      {"what only one side has at the head is new",
       {part(kHead, 0, 900, 0, 1), part(0, 1000, 1500), part(1, 1000, 1500), part(2, 1000, 1500)},
       "head [] (0/0) +900; layers [] (3/3) +1500"},
      {"unless the kernels are as many, some of them elsewhere",
       {part(kTail, 0, 900, 0, 1), part(0, 1000, 1500, 2, 1), part(1, 1000, 1500), part(2, 1000, 1500)},
       "layers [] (3/3) +2400"},
      {"what only the tail has is in the tail", {part(kTail, 1000, 1500)}, "tail [] (0/0) +500"},
      {"layers that moved against each other are two reasons",
       {part(0, 1000, 1500), part(1, 1000, 1400), part(2, 1000, 1500), part(3, 1000, 500), part(4, 1000, 500),
        part(5, 1000, 550)},
       "layers [3,4,5] (0/0) -1450; layers [0,1,2] (0/0) +1400; layers [] (0/0) +0"},
      {"within a tenth they are noise, and within a percent none moved",
       {part(0, 1000, 1090), part(1, 1000, 1090), part(2, 1000, 920), part(3, 1000, 915), part(4, 1000, 1005)},
       "layers [] (2/5) +20"},
      {"where others doubled, two percent are noise",
       {part(0, 1000, 2000), part(1, 1000, 1020), part(2, 1000, 2010), part(3, 1000, 1000)},
       "layers [] (2/4) +2030"},
      {"layers that differ are not named where all changed",
       {part(0, 2000, 1000), part(1, 2000, 1010), part(2, 2000, 990), part(3, 2000, 600), part(4, 2000, 1005),
        part(5, 2000, 995)},
       "layers [] (6/6) -6400"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    CHECK(places_of(one.parts) == one.places);
  }
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
  cells(group.candidate, 3400, 1200, 580);  // of two steps: +700, +100, -10
  Reason reason;
  reason.op = "dense_gemm";
  reason.change.change = 790;
  const auto anywhere = changes_by_role(group, names, reason);
  REQUIRE(anywhere.size() == 2);
  CHECK(anywhere[0].role == Role::kGateUp);
  CHECK(anywhere[0].change == doctest::Approx(700));
  CHECK(anywhere[1].role == Role::kDown);

  reason.place.kind = PlaceKind::kLayers;
  reason.change.change = 800;  // the tail is a reason of its own
  CHECK(changes_by_role(group, names, reason).size() == 2);
  reason.place.kind = PlaceKind::kStepTail;
  reason.change.change = -10;
  REQUIRE(changes_by_role(group, names, reason).size() == 1);
  CHECK(changes_by_role(group, names, reason)[0].role == Role::kLmHead);
  reason.place.kind = PlaceKind::kStep;
  reason.change.change = 400;  // a fusion took part of it
  CHECK(changes_by_role(group, names, reason).empty());
  cells(group.candidate, 3400, 1200, 400);  // +700, +100, -100: the two are more than the whole
  reason.change.change = 700;
  REQUIRE(changes_by_role(group, names, reason).size() == 1);
  CHECK(changes_by_role(group, names, reason)[0].role == Role::kGateUp);
  cells(group.candidate, 3400, 2400, 0);  // +700, +700, -300: either alone would hide the other
  reason.change.change = 1100;
  CHECK(changes_by_role(group, names, reason).empty());
}

TEST_CASE("recorded work: what an operator's shapes say of how much it does") {
  const struct {
    std::string_view op, shapes, kind, operands;
    double work;
  } cases[] = {
      {"aten::addmm", "[[512],[141,2048],[2048,512],[],[]]", "linear layer", "[141,2048] x [2048,512]",
       141.0 * 2048 * 512},
      {"aten::bmm", "[[96,3137,64],[96,64,3137]]", "batched product", "[96,3137,64] x [96,64,3137]",
       96.0 * 3137 * 64 * 3137},
      {"aten::cudnn_convolution", "[[32,64,56,56],[256,64,1,1],[],[]]", "convolution", "[32,64,56,56] x [256,64,1,1]",
       32.0 * 56 * 56 * 256 * 64},
      // Nothing of other operators, of backward passes and without shapes.
      {"aten::add", "[[4,4],[4,4],[]]", "", "", 0},
      {"aten::_flash_attention_backward", "[[1,141,8,64],[1,141,8,64]]", "", "", 0},
      {"aten::mm", "", "", "", 0},
      {"aten::mm", "[[],[]]", "", "", 0},
      {"aten::cudnn_convolution", "[[2,0,8,8],[4,0,1,1]]", "", "", 0},
  };
  for (const auto& one : cases) {
    CAPTURE(one.op);
    CAPTURE(one.shapes);
    const RecordedShape found = shape_of(one.op, one.shapes);
    CHECK(found.work == one.work);
    if (one.work == 0) continue;
    CHECK(found.kind == one.kind);
    CHECK(found.operands == one.operands);
  }
  const RecordedShape attention =
      shape_of("aten::_flash_attention_forward", "[[1,141,8,64],[1,141,8,64],[1,141,8,64],[],[]]");
  CHECK(as_row(attention.kind, attention.operands) == "attention [1,141,8,64]");
}

TEST_CASE("usual steps: warm-up at the start, rare long steps and two kinds of steps") {
  struct Case {
    std::string_view what;
    std::vector<std::int64_t> times;
    std::size_t warm_up;
    std::vector<std::size_t> rare;
    std::optional<std::int64_t> slow_from;
  };
  const Case cases[] = {
      {"none", {}, 0, {}, {}},
      {"one", {7}, 0, {}, {}},
      {"alike", {100, 101, 99, 100, 102}, 0, {}, {}},
      {"at most a fifth longer is regular", {100, 100, 100, 120, 100}, 0, {}, {}},
      {"one stalls", {100, 101, 99, 480, 100, 102}, 0, {3}, {}},
      {"short steps are regular", {100, 101, 20, 100, 99}, 0, {}, {}},
      {"the first warms up", {1063, 3}, 1, {}, {}},
      {"two warm up, one stalls", {900, 300, 100, 101, 99, 100, 250, 100, 100}, 2, {6}, {}},
      {"noise is no warm-up", {110, 100, 95, 105, 102}, 0, {}, {}},
      {"two of four stall", {118, 115, 1021, 1076}, 0, {}, 1021},
      {"half of them stall", {170, 400, 171, 840, 170, 300, 172, 500}, 0, {}, 300},
      {"one of four is no kind", {100, 101, 99, 300}, 0, {3}, {}},
      {"two of five are not rare", {100, 125, 100, 125, 100}, 0, {}, {}},
      {"every second one is a quarter longer", {100, 126, 100, 125, 101, 125, 100, 124, 99, 126, 100}, 0, {}, {}},
      {"two of eleven are rare", {100, 101, 125, 99, 100, 100, 126, 101, 100, 99, 100}, 0, {2, 6}, {}},
      {"spread without a gap", {100, 110, 125, 140, 160, 190, 210}, 0, {}, {}},
      {"zeros", {0, 0, 0, 0}, 0, {}, {}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.what);
    const UsualSteps found = usual_steps(one.times);
    CHECK(found.warm_up == one.warm_up);
    CHECK(found.rare == one.rare);
    CHECK(found.slow_from == one.slow_from);
    CHECK(found.counted.size() + found.rare.size() + found.warm_up == one.times.size());
  }
}

TEST_CASE("usual steps: of two sides the larger margin holds for both") {
  const std::vector<std::int64_t> calm = {100, 101, 99, 130, 100, 102}, noisy = {100, 110, 90, 130, 105, 95};
  const double margin = usual_steps(noisy).margin;
  CHECK(usual_steps(calm).margin == doctest::Approx(0.2));
  CHECK(usual_steps(calm).rare.size() == 1);
  CHECK(margin > 0.3);
  CHECK(usual_steps(calm, 0, margin).rare.empty());
  CHECK(usual_steps(std::vector<std::int64_t>{100, 110, 90, 130}).margin == 0);
}

TEST_CASE("usual steps: marked warm-up is left out whatever its time, but never all") {
  CHECK(usual_steps(std::vector<std::int64_t>{90, 100, 100, 100}, 1).warm_up == 1);
  CHECK(usual_steps(std::vector<std::int64_t>{90}, 1).warm_up == 0);
}

std::vector<std::int64_t> noisy(std::mt19937& chance, std::size_t n, std::int64_t about) {
  std::vector<std::int64_t> values(n);
  for (std::int64_t& value : values) value = about + static_cast<std::int64_t>(chance() % 101) - 50;
  return values;
}

Change judged(double baseline, double candidate, Interval interval, std::size_t steps = 10, double coverage = 1,
              const std::string& barred = "") {
  Change out;
  out.baseline.mean = baseline;
  out.candidate.mean = candidate;
  out.interval = interval;
  out.baseline_steps = 10;
  out.candidate_steps = steps;
  judge(out, coverage, barred, kUsualChange);
  return out;
}

TEST_CASE("draws of means: constant and empty samples, zeros") {
  const MeanDraws constant = draw_means(std::vector<std::int64_t>(7, 42));
  CHECK(constant.mean == 42);
  CHECK(constant.draws == std::vector<double>(kResamples, 42.0));
  CHECK(draw_means({}).draws.empty());
  CHECK(draw_means({}).mean == 0);
  CHECK(draw_means(std::vector<std::int64_t>{4, 8}).mean == 6);
  CHECK(draw_means(std::vector<std::int64_t>{4, 8}, 3).mean == doctest::Approx(2.4));
  CHECK(draw_means({}, 2).draws == std::vector<double>(kResamples, 0.0));
}

TEST_CASE("draws of means: the same in every run, whatever the order, within the sample") {
  std::mt19937 chance(5);
  for (const std::size_t n : {std::size_t{2}, std::size_t{5}, std::size_t{40}, std::size_t{200}, std::size_t{1000}}) {
    std::vector<std::int64_t> values = noisy(chance, n, 1000);
    const MeanDraws first = draw_means(values);
    std::shuffle(values.begin(), values.end(), chance);
    CHECK(draw_means(values).draws == first.draws);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const auto [least, most] = std::minmax_element(first.draws.begin(), first.draws.end());
    CHECK(*least >= static_cast<double>(*low));
    CHECK(*most <= static_cast<double>(*high));
  }
}

TEST_CASE("interval of a difference: none against itself, negated by a swap, about the difference") {
  std::mt19937 chance(6);
  for (const std::size_t n : {std::size_t{5}, std::size_t{12}, std::size_t{300}}) {
    const MeanDraws a = draw_means(noisy(chance, n, 1000));
    const MeanDraws b = draw_means(noisy(chance, n + 3, 1300));
    const Interval itself = difference_interval(a, a);
    CHECK(as_row(itself.low, itself.high) == "0 0");
    const Interval there = difference_interval(a, b);
    const Interval back = difference_interval(b, a);
    CHECK(there.low == -back.high);
    CHECK(there.high == -back.low);
    CHECK(there.low <= there.high);
    CHECK(there.low > 150);
    CHECK(there.high < 450);
  }
  const Interval new_one = difference_interval({}, draw_means(std::vector<std::int64_t>(5, 9)));
  CHECK(as_row(new_one.low, new_one.high) == "9 9");
}

TEST_CASE("interval of a difference: holds the true one in 95 of 100 samples, be they small" *
          doctest::skip(test_stride() > 1)) {
  std::mt19937 chance(9);
  const auto sample = [&](std::size_t n) {  // of a normal distribution, near enough
    std::vector<std::int64_t> values(n);
    for (std::int64_t& value : values) {
      for (int i = 0; i < 12; ++i) value += static_cast<std::int64_t>(chance() % 10001) - 5000;
    }
    return draw_means(values);
  };
  for (const auto& sizes : {std::pair{5U, 5U}, {8U, 8U}, {5U, 11U}, {11U, 11U}, {60U, 60U}}) {
    const auto a = sizes.first, b = sizes.second;
    CAPTURE(a);
    int inside = 0, inside_alone = 0;
    for (int i = 0; i < 1000; ++i) {
      const MeanDraws baseline = sample(a);
      const Interval found = difference_interval(baseline, sample(b)), alone = difference_interval({}, baseline);
      inside += found.low <= 0 && found.high >= 0 ? 1 : 0;
      inside_alone += alone.low <= 0 && alone.high >= 0 ? 1 : 0;
    }
    CHECK(inside >= 930);
    CHECK(inside <= 970);
    CHECK(inside_alone >= 930);
    CHECK(inside_alone <= 970);
  }
}

TEST_CASE("the way of drawing changes with the size of the sample, the width of the interval hardly") {
  std::mt19937 chance(8);
  const auto width = [&](std::size_t n) {
    const MeanDraws draws = draw_means(noisy(chance, n, 1000));
    const auto [least, most] = std::minmax_element(draws.draws.begin(), draws.draws.end());
    return *most - *least;
  };
  const double directly = width(50);
  const double by_normal = width(51);
  CHECK(by_normal > directly / 2);
  CHECK(by_normal < directly * 2);
}

TEST_CASE("verdicts") {
  CHECK(judged(100, 110, {5, 15}).verdict == Verdict::kWorse);
  CHECK(judged(100, 90, {-15, -5}).verdict == Verdict::kBetter);
  const auto is_wide = [](const Change& change) {
    return change.verdict == Verdict::kInconclusive && change.wide && change.judged() && !change.barred;
  };
  CHECK(is_wide(judged(100, 110, {-1, 15})));  // nothing, or much
  CHECK(is_wide(judged(100, 104, {1, 7})));    // little, or much
  CHECK(is_wide(judged(100, 97, {-6, 1})));
  CHECK(judged(100, 102, {-1, 5}).verdict == Verdict::kSame);
  CHECK(judged(100, 101, {0.5, 1.5}).verdict == Verdict::kSame);  // sure, and too small
  CHECK(judged(100, 100, {0, 0}).verdict == Verdict::kSame);
  CHECK(judged(0, 5, {5, 5}).verdict == Verdict::kWorse);     // new
  CHECK(judged(5, 0, {-5, -5}).verdict == Verdict::kBetter);  // gone
  const Change few = judged(100, 110, {5, 15}, 4);
  CHECK(few.verdict == Verdict::kInconclusive);
  CHECK(!few.judged());
  CHECK(!few.reason.empty());
  CHECK(judged(100, 110, {5, 15}, 10, 0.79).verdict == Verdict::kInconclusive);
  CHECK(judged(100, 110, {5, 15}, 10, 1, "the load differs").verdict == Verdict::kInconclusive);
  CHECK(judged(100, 110, {5, 15}).reason.empty());
}

TEST_CASE("verdicts of swapped sides are opposite, also where the change is just large enough") {
  for (double candidate = 95; candidate < 105; candidate += 0.01) {
    const double change = candidate - 100;
    const Interval interval = {change - 0.001, change + 0.001};
    const Verdict there = judged(100, candidate, interval).verdict;
    const Verdict back = judged(candidate, 100, {-interval.high, -interval.low}).verdict;
    const Verdict opposite = there == Verdict::kWorse    ? Verdict::kBetter
                             : there == Verdict::kBetter ? Verdict::kWorse
                                                         : there;
    CHECK(back == opposite);
  }
}

// Steps of `n` tokens, that take so long a token.
Change under_load(std::vector<std::int64_t> a, std::vector<std::int64_t> b, double slower, double attention = 0) {
  const LoadDifference load = load_difference(a, b, attention);
  for (std::int64_t& value : a) value *= 1000;
  for (std::int64_t& value : b) value = std::llround(1000 * slower * static_cast<double>(value));
  return make_change({a}, {b}, 1, "", kUsualChange, load);
}

TEST_CASE("a load that differs is counted in the interval, and no verdict depends on it") {
  const std::vector<std::int64_t> few(10, 1000), more(10, 1070);
  const Change by_load = under_load(few, more, 1);
  CHECK(by_load.verdict == Verdict::kInconclusive);
  CHECK(as_lines(by_load.reason, by_load.barred, by_load.is_by_load()) == "the load differs by 7.0 %\nfalse\ntrue");
  CHECK(by_load.interval.low == doctest::Approx(0).scale(1000));
  CHECK(by_load.interval.high == doctest::Approx(70'000));
  const Change back = under_load(more, few, 1);
  CHECK(back.interval.low == doctest::Approx(-by_load.interval.high));
  CHECK(under_load(few, more, 1, 0.5).interval.low < -30'000);   // attention takes the square of it
  CHECK(under_load(more, few, 1.07).reason == by_load.reason);   // as long, with fewer tokens
  CHECK(under_load(few, more, 1.2).verdict == Verdict::kWorse);  // with and without
  CHECK(under_load(few, few, 1.07).verdict == Verdict::kWorse);  // the same load
  const LoadDifference load = load_difference(few, more, 0.1);
  CHECK(as_lines(load.power, load.of("attention_prefill").power, load.of("op dense_gemm").power) == "1.1\n2\n1");
  CHECK(under_load(few, {10, 1200}, 1).by_load.high == 0);  // no load to compare, which bars a verdict
  CHECK(under_load({}, more, 1).by_load.low == 0);          // not known
  CHECK(under_load(few, std::vector<std::int64_t>(10, 1005), 1).verdict == Verdict::kSame);
}

TEST_CASE("of steps whose loads scatter the times hold what that makes: the load is no reason of equal programs") {
  std::mt19937 chance(4);
  int unsure = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<std::int64_t> a(30), b(30);
    for (auto* side : {&a, &b}) {
      for (std::int64_t& value : *side) value = 1000 + static_cast<std::int64_t>(chance() % 1000);
    }
    const Change change = under_load(a, b, 1);
    unsure += !change.is_by_load() && (change.verdict == Verdict::kSame || change.wide) ? 0 : 1;
  }
  CHECK(unsure <= 16);
}

}  // namespace
}  // namespace tracedb
