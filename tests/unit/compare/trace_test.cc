#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "base/unknown.h"
#include "compare/steps/step_metrics.h"
#include "compare/trace/compared_trace.h"
#include "compare/trace/device_steps.h"
#include "compare/trace/kernel_name_table.h"
#include "compare/trace/recording.h"
#include "compare/work_sums.h"
#include "passes/columns/device_events.h"
#include "support/cases.h"
#include "support/rows.h"

namespace tracedb {
namespace {

LayerStack stack(std::string name, std::int32_t first, std::int32_t count) {
  return {std::move(name), first, count, 1};
}

using First = std::vector<std::vector<std::int32_t>>;

TEST_CASE("one stack on each side is the same, whatever it is called and has") {
  const JointStacks joint = join_stacks({{stack("stack 1", 0, 80)}, {stack("LlamaDecoderLayer", 0, 79)}});
  REQUIRE(joint.stacks.size() == 1);
  CHECK(as_row(joint.stacks[0].name, joint.stacks[0].count) == "LlamaDecoderLayer 80");
  CHECK(joint.first == First{{0}, {0}});
}

TEST_CASE("stacks by name, then by their number of layers, in order") {
  const JointStacks joint = join_stacks({{stack("Text", 0, 12), stack("Vision", 12, 24), stack("stack 1", 36, 4)},
                                         {stack("Vision", 0, 23), stack("stack 1", 23, 12), stack("stack 2", 35, 4)},
                                         {}});
  REQUIRE(joint.stacks.size() == 3);
  CHECK(as_row(joint.stacks[1].name, joint.stacks[2].first) == "Vision 36");
  CHECK(joint.first == First{{0, 12, 36}, {12, 0, 36}, {}});
}

TEST_CASE("a stack of one side alone has numbers of its own") {
  const JointStacks joint = join_stacks(
      {{stack("stack 1", 0, 19), stack("stack 2", 19, 38)}, {stack("stack 1", 0, 38), stack("stack 2", 38, 7)}});
  REQUIRE(joint.stacks.size() == 3);
  CHECK(joint.first == First{{0, 19}, {19, 57}});
  CHECK(joint.stacks[2].name == "stack 3");
}

TEST_CASE("names mirror") {
  const LayerStacks a = {stack("A", 0, 12), stack("X", 12, 4)};
  const LayerStacks b = {stack("B", 0, 12), stack("X", 12, 4)};
  CHECK(join_stacks({a, b}).stacks[0].name == join_stacks({b, a}).stacks[0].name);
}

TEST_CASE("numbers of stacks without a name mirror") {
  const LayerStacks a = {stack("stack 1", 0, 5)};
  const LayerStacks b = {stack("stack 1", 0, 3), stack("stack 2", 3, 7)};
  for (const std::int32_t layers : {3, 5, 7}) {
    const auto name_of = [&](const JointStacks& joint) {
      const auto found = std::find_if(joint.stacks.begin(), joint.stacks.end(),
                                      [&](const LayerStack& one) { return one.count == layers; });
      return found == joint.stacks.end() ? std::string() : found->name;
    };
    CHECK(name_of(join_stacks({a, b})) == name_of(join_stacks({b, a})));
    CHECK(name_of(join_stacks({a, b})).starts_with("stack "));
  }
}

constexpr StepKind kD = StepKind::kDecode;
constexpr StepKind kP = StepKind::kPrefill;
using StepTimes = std::vector<std::int64_t>;

// Steps and the device steps of their work, added in order.
struct MadeSteps {
  StepSet set;
  std::vector<DeviceStep> steps;

  MadeSteps& step(StepKind kind, std::uint32_t track = 1, std::optional<std::int64_t> tokens = std::nullopt) {
    StepFacts facts;
    facts.info.kind = kind;
    facts.info.generation_tokens = tokens;
    facts.track = track;
    set.steps.push_back(facts);
    return *this;
  }
  // Of the latest step.
  MadeSteps& run(std::int64_t first, std::int64_t span, std::uint32_t device = 0) {
    DeviceStep& made = steps.emplace_back();
    made.step = static_cast<std::uint32_t>(set.steps.size());
    made.device = device;
    made.first = first;
    made.span = span;
    return *this;
  }
  [[nodiscard]] StepTimes periods() const { return step_periods(set, steps).within_kind; }
  [[nodiscard]] PeriodSums sums(const std::vector<std::uint32_t>& group) const {
    return sum_periods(set, steps, group, periods());
  }
};

TEST_CASE("periods: from a run to the next of its kind on the device, without another mark between") {
  constexpr std::int64_t kNone = kUnknownValue;
  const struct {
    std::string_view what;
    MadeSteps made;
    StepTimes periods;
  } cases[] = {
      {"another kind lies between",
       MadeSteps().step(kD).run(0, 8).step(kD).run(10, 8).step(kP).run(25, 9).step(kD).run(40, 8).step(kD).run(52, 8),
       {10, kNone, kNone, 12, kNone}},
      {"a step that ran nothing on the device lies between too",
       MadeSteps().step(kD).run(0, 8).step(kD).step(kD).run(30, 8),
       {kNone, kNone}},
      {"two devices",
       MadeSteps().step(kD).run(0, 8, 0).run(1, 8, 1).step(kD).run(10, 8, 0).run(13, 8, 1),
       {10, 12, kNone, kNone}},
      {"two processes whose steps take turns, each on a device of its own",
       MadeSteps().step(kD, 1).run(0, 8, 0).step(kD, 2).run(1, 8, 1).step(kD, 1).run(10, 8, 0).step(kD, 2).run(13, 8,
                                                                                                               1),
       {10, 12, kNone, kNone}},
      {"and on one device: what follows is not the next step of the same track",
       MadeSteps().step(kD, 1).run(0, 8).step(kD, 2).run(10, 8).step(kD, 1).run(20, 8),
       {kNone, kNone, kNone}},
      {"the next run does not start later",
       MadeSteps().step(kD).run(50, 8).step(kD).run(50, 8).step(kD).run(20, 8),
       {kNone, kNone, kNone}},
      {"no steps", MadeSteps().run(0, 8), {kNone}},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    CHECK(one.made.periods() == one.periods);
  }
}

TEST_CASE("transitions: from a run to the next, where that is of another kind") {
  MadeSteps made;
  made.step(kD).run(0, 8).step(kD).run(10, 8).step(kP).run(25, 9).step(kD).run(40, 8).step(kP).step(kD).run(52, 8);
  const StepPeriods found = step_periods(made.set, made.steps);
  CHECK(found.to(kP) == StepTimes{kUnknownValue, 15, kUnknownValue, kUnknownValue, kUnknownValue});
  CHECK(found.to(kD) == StepTimes{kUnknownValue, kUnknownValue, 15, kUnknownValue, kUnknownValue});
  CHECK(found.transitions[1].to == kP);
  // No device step has both.
  for (std::size_t i = 0; i < made.steps.size(); ++i) {
    CHECK((found.within_kind[i] == kUnknownValue || found.transitions[i].period == kUnknownValue));
  }
}

TEST_CASE("tokens a second: of the steps that have a period, where all say") {
  MadeSteps made;
  made.step(kD, 1, 4).run(0, 6).step(kD, 1, 8).run(10, 7).step(kD, 1, 100).run(30, 8);
  REQUIRE(made.sums({0, 1, 2}).tokens_per_s());
  CHECK(*made.sums({0, 1, 2}).tokens_per_s() == doctest::Approx(12e9 / 30));
  MadeSteps unknown;
  unknown.step(kD, 1, 4).run(0, 6).step(kD).run(10, 7).step(kD, 1, 4).run(30, 8);
  CHECK_FALSE(unknown.sums({0, 1, 2}).tokens_per_s());
  CHECK_FALSE(unknown.sums({2}).tokens_per_s());
}

// Instant by instant, straight from the definition.
std::vector<std::int64_t> by_instants(const std::vector<WorkInterval>& intervals, std::int64_t end) {
  std::vector<std::int64_t> out(intervals.size(), 0);
  for (std::int64_t at = 0; at < end; ++at) {
    for (const Work work : {Work::kCompute, Work::kComm, Work::kCopy}) {
      const auto owner = std::find_if(intervals.begin(), intervals.end(), [&](const WorkInterval& interval) {
        return interval.work == work && interval.begin <= at && at < interval.end;
      });
      if (owner == intervals.end()) continue;
      ++out[static_cast<std::size_t>(owner - intervals.begin())];
      break;
    }
  }
  return out;
}

std::vector<WorkInterval> random_intervals(std::mt19937& chance, std::int64_t end) {
  std::vector<WorkInterval> out(chance() % 24);
  for (WorkInterval& interval : out) {
    interval.begin = static_cast<std::int64_t>(chance()) % end;
    interval.end = std::min<std::int64_t>(end, interval.begin + static_cast<std::int64_t>(chance() % 30));
    interval.work = static_cast<Work>(chance() % 3);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const WorkInterval& a, const WorkInterval& b) { return a.begin < b.begin; });
  return out;
}

TEST_CASE("exclusive time of random intervals: each instant belongs to one") {
  std::mt19937 chance(11);
  std::vector<std::int64_t> times;
  for (int round = 0; round < 2000; ++round) {
    constexpr std::int64_t kEnd = 120;
    const std::vector<WorkInterval> intervals = random_intervals(chance, kEnd);
    exclusive_times(intervals, times);
    REQUIRE(times == by_instants(intervals, kEnd));
  }
}

TEST_CASE("exclusive time of nothing, and of intervals without length") {
  std::vector<std::int64_t> times(3, 7);
  exclusive_times({}, times);
  CHECK(times.empty());
  const std::vector<WorkInterval> points = {{5, 5, Work::kCompute}, {5, 5, Work::kCopy}};
  exclusive_times(points, times);
  CHECK(times == std::vector<std::int64_t>{0, 0});
}

TEST_CASE("normalised names: readable symbols, without Inductor's running number") {
  check_pairs<std::string_view>(normalised_name, {{"_Z4axpyf", "axpy(float)"},
                                                  {"triton_poi_fused_add_mul_17", "triton_poi_fused_add_mul"},
                                                  {"triton_red_fused_3", "triton_red_fused"}});
  CHECK(normalised_name("triton_per_fused__softmax_0") == normalised_name("triton_per_fused__softmax_12"));
  // Numbers that say which kernel it is stay.
  check_unchanged(normalised_name, {"gemm_128_64", "triton_mm_7", "_gumbel_sample_kernel", "", "_Z"});
}

TEST_CASE("the same kernel has one number, however it is spelled") {
  KernelNameTable words;
  const NameId readable = words.intern("axpy(float)", "axpy", "elementwise");
  CHECK(words.intern("_Z4axpyf", "axpy", "elementwise") == readable);
  const NameId first = words.intern("triton_poi_fused_add_1", "triton_poi_fused_add_1", "elementwise");
  CHECK(words.intern("triton_poi_fused_add_8", "triton_poi_fused_add_8", "elementwise") == first);
  const NameId other = words.intern("axpy(double)", "axpy", "elementwise");
  CHECK(other != readable);
  CHECK(words.op_of(other) == words.op_of(readable));
  CHECK(as_row(words.op_name(words.op_of(other)), words.entries()[other].short_name) == "elementwise axpy");
  CHECK(words.op_name(words.op_of(0)) == "other");  // of kernels without a name
}

// Kernels named after their classes, aligned in pairs.
struct FamilySides {
  KernelNameTable words{ClassFamilies(load_rules("default"))};
  GroupAlignment alignment;
  std::set<OpId> a, b;

  NameId name(std::string_view op, const char* side) {
    const NameId id = words.intern(std::string(op) + side, op, op, op == "reduce" ? "gemm.split_sum" : "");
    if (op != "reduce") (*side == 'a' ? a : b).insert(words.op_of(id));
    return id;
  }
  FamilySides& pair(std::string_view baseline, std::string_view candidate) {
    if (alignment.segments.empty()) alignment.segments.emplace_back();
    KernelPair& pair = alignment.segments[0].pairs.emplace_back();
    if (!baseline.empty()) pair.baseline = {name(baseline, "a"), 1, 10, 0, -1};
    if (!candidate.empty()) pair.candidate = {name(candidate, "b"), 1, 10, 0, -1};
    return *this;
  }
  // As what kernels of a class are shown on a side.
  std::string shown(std::string_view op, const char* side) {
    const ClassLevels levels(a, b, alignment, words);
    return words.op_name(levels.op_of(words.intern(std::string(op) + side, op, op), words));
  }
};

TEST_CASE("the family of a class") {
  const ClassFamilies families(load_rules("default"));
  const auto family = [&](std::string_view op) { return families.family_of(op); };
  check_each("attention", family, {"attention_decode", "attention"});
  check_each("norm", family, {"elementwise+norm"});
  check_each("norm+quantise", family, {"elementwise+norm+quantise"});
  check_unchanged(family, {"elementwise", "reduce", "of other rules"});
  CHECK(families.family_of("kv_cache+rotary") == families.family_of("rotary+kv_cache"));
  CHECK(families.host_of("gemm.split_sum") == "dense_gemm");
  CHECK(families.host_of("gemm.any").empty());
  CHECK(ClassFamilies().family_of("elementwise+norm") == "elementwise+norm");
}

TEST_CASE("classes are shown at the finest level that both sides have") {
  FamilySides sides;
  sides.pair("attention_decode", "attention")
      .pair("norm", "norm")
      .pair("elementwise+norm", "norm")
      .pair("copy", "copy");
  CHECK(as_row(sides.shown("attention_decode", "a"), sides.shown("attention", "b"),
               sides.shown("elementwise+norm", "a"), sides.shown("norm", "b"),
               sides.shown("copy", "a")) == "attention attention norm norm copy");
}

TEST_CASE("what both sides name alike keeps its class, and so does what is new") {
  FamilySides fine;
  fine.pair("attention_decode", "attention_decode").pair("attention_prefill", "attention_prefill");
  CHECK(fine.shown("attention_decode", "a") == "attention_decode");
  CHECK(fine.shown("attention_prefill", "b") == "attention_prefill");
  FamilySides more;
  more.pair("attention_decode", "attention_decode").pair("", "attention_prefill");
  CHECK(more.shown("attention_prefill", "b") == "attention_prefill");
  FamilySides none;
  none.pair("elementwise+norm", "");
  CHECK(none.shown("elementwise+norm", "a") == "elementwise+norm");
}

TEST_CASE("classes that both have, but take for one another, are shown as their family") {
  FamilySides sides;
  sides.pair("norm", "elementwise+norm").pair("elementwise+norm", "norm").pair("norm", "norm");
  for (const char* side : {"a", "b"}) {
    CHECK(as_row(sides.shown("norm", side), sides.shown("elementwise+norm", side)) == "norm norm");
  }
}

TEST_CASE("a companion counts as what its host is") {
  FamilySides sides;
  sides.pair("dense_gemm", "dense_gemm").pair("", "reduce");
  CHECK(sides.shown("reduce", "b") == "dense_gemm");
}

Change worse() {
  Change change;
  change.baseline_steps = change.candidate_steps = 8;
  change.verdict = Verdict::kWorse;
  return change;
}

constexpr HostWaits kFree = {0, 0, 0, 1000};
constexpr HostWaits kBound = {2, 500, 30, 1000};

TEST_CASE("a period is bound by the host from 2 percent on") {
  CHECK_FALSE(HostWaits{}.bound());
  CHECK_FALSE(HostWaits{9, 19, 100, 1000}.bound());
  CHECK(HostWaits{9, 20, 0, 1000}.bound());
  CHECK(kBound.calls_per_gap() == 15);
  CHECK(HostWaits{}.calls_per_gap() == 0);
}

TEST_CASE("waits of a group: of its runs that have a period") {
  const RecordedGaps gaps = {{true, false}, {100, 0, 50, 7}, {9, 0, 3, 1}};
  const std::vector<std::int64_t> periods = {1000, 1000, 500, kUnknownValue};
  const HostWaits all = sum_host_waits(gaps, std::vector<std::uint32_t>{0, 1, 2, 3}, periods);
  CHECK(as_row(all.gaps, all.waiting, all.calls, all.periods) == "2 150 12 2500");
  const HostWaits some = sum_host_waits(gaps, std::vector<std::uint32_t>{1, 3}, periods);
  CHECK(as_row(some.gaps, some.periods) == "0 1000");
  CHECK_FALSE(sum_host_waits({}, std::vector<std::uint32_t>{0}, periods).bound());
}

TEST_CASE("traces differ in what they record, where that is known of both") {
  const Recording none, stacks = {true, false}, both = {true, true};
  CHECK(recording_difference(stacks, stacks).empty());
  CHECK(recording_difference(std::nullopt, stacks).empty());
  CHECK(recording_difference(stacks, none) ==
        "the baseline records python stacks, the candidate neither python stacks nor shapes");
  CHECK(recording_difference(stacks, both) ==
        "the baseline records python stacks, the candidate python stacks and shapes");
}

TEST_CASE("a period recorded differently is inconclusive, one bound by the host has a caveat") {
  Change usual = worse();
  judge_period(usual, "", kFree, kFree);
  CHECK(usual.verdict == Verdict::kWorse);
  CHECK(as_row(usual.caveat.empty(), usual.recorded_alike) == "true true");
  Change different = worse();
  judge_period(different, "they differ", kBound, kFree);
  CHECK(different.verdict == Verdict::kInconclusive);
  CHECK(as_lines(different.reason, different.recorded_alike) == "recorded differently\nfalse");
  Change waits = worse();
  judge_period(waits, "", kFree, kBound);
  CHECK(waits.verdict == Verdict::kWorse);
  CHECK(waits.caveat == "candidate waits for the recording host, 50 % of the period, 15 calls per gap");
  judge_period(waits, "", kBound, kBound);
  CHECK(waits.caveat == "both wait for the recording host, 50 % and 50 % of the period, 15 and 15 calls per gap");
  Change unknown;
  judge_period(unknown, "they differ", kBound, kBound);
  CHECK(as_row(unknown.recorded_alike, unknown.caveat.empty()) == "true true");
}

}  // namespace
}  // namespace tracedb
