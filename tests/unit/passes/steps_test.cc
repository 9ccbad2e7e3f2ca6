#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>

#include "base/error.h"
#include "base/unknown.h"
#include "passes/classify/kernel_classes.h"
#include "passes/columns/group_stats.h"
#include "passes/layers/layer_set.h"
#include "passes/steps/inferred_steps.h"
#include "passes/steps/step_pattern.h"
#include "passes/steps/step_set.h"
#include "passes/steps/step_stats.h"
#include "support/asked_passes.h"
#include "support/ingested.h"
#include "support/kernel_letters.h"
#include "support/rows.h"

namespace tracedb {
namespace {

// KernelLetters back to back, ten ns each; a blank is 100 ns of waiting, '.' a copy. '(' and ')' enclose one graph
// launch.
struct KernelLetters {
  std::vector<std::int64_t> ts, dur, copy_ts, copy_dur;
  std::vector<std::uint32_t> name, stream, launch, copy_stream, device_of_stream = {0, 1};
  std::vector<Traits> traits = std::vector<Traits>(128, kOtherTrait);
  std::vector<bool> is_graph_launch = {false, false};
  std::string letters;

  explicit KernelLetters(std::string_view text) {
    std::int64_t now = 0;
    bool in_graph = false;
    for (const char c : text) {
      if (c == ' ') now += 100;
      if (c == '(') is_graph_launch.push_back(true);
      if (c == '(' || c == ')') in_graph = c == '(';
      if (c == ' ' || c == '(' || c == ')') continue;
      letters += c;
      now += 10;
      (c == '.' ? copy_ts : ts).push_back(now - 10);
      (c == '.' ? copy_dur : dur).push_back(10);
      (c == '.' ? copy_stream : stream).push_back(1);
      if (c == '.') continue;
      name.push_back(static_cast<std::uint32_t>(c));
      launch.push_back(in_graph ? static_cast<std::uint32_t>(is_graph_launch.size() - 1) : 1);
      traits[static_cast<std::size_t>(c)] = traits_of_letter(c);
    }
  }
  [[nodiscard]] InferredSteps infer() const {
    return infer_steps(
        {ts, dur, name, stream, launch, {}, copy_ts, copy_dur, copy_stream, device_of_stream, traits, is_graph_launch});
  }
  // Steps as "decode:ENG...", joined by blanks; what is in none as "-:...".
  [[nodiscard]] std::string steps() const {
    const InferredSteps found = infer();
    const auto of_kernel = steps_of_starts(ts, found.steps);
    const auto of_copy = steps_of_starts(copy_ts, found.steps);
    std::string out;
    std::uint32_t latest = UINT32_MAX;
    for (std::size_t i = 0, copy = 0; i < letters.size(); ++i) {
      const std::uint32_t step = letters[i] == '.' ? of_copy[copy++] : of_kernel[i - copy];
      if (step != latest) {
        out += out.empty() ? "" : " ";
        out += step == 0 ? "-" : std::string(to_string(found.steps[step - 1].kind));
        out += ":";
      }
      latest = step;
      out += letters[i];
    }
    return out;
  }
};

const std::string kLayers = times(3, "NGDGnGXG");
const std::string kDecode = "E" + kLayers + "nGs";

TEST_CASE("steps by the rhythm of the kernels") {
  const std::string prefill = "E" + times(3, "NGPGnGXG") + "nGs", mixed = "E" + times(3, "NGPDGnGXG") + "nGs";
  const std::string begun = "GDGnGXGnGs", unnamed = "u" + kLayers + "nGrvw",
                    block = "u" + times(2, "NGDGnGXG") + "nGrvw";
  const std::string unsaid = "E" + times(3, "NGAGnGXG") + "nGs", vision = "VNXVNXVNXG", training = "GXGGXGOOO",
                    clipped = "GXGGXGOXO";
  const std::string target = "E" + times(6, "NGDGnGXG") + "nGs";
  const std::string verified = target + times(3, "ENGDGnGXGnGs"),
                    by_two = target + times(4, "E" + times(2, "NGDGnGXG") + "nGs");
  const auto in_kind = [](std::string_view kind, std::initializer_list<std::string> steps) {
    return fmt::format("{0}:{1}", kind, fmt::join(steps, fmt::format(" {}:", kind)));
  };
  const struct {
    std::string_view what;
    std::string letters, steps;
  } cases[] = {
      {"between sampling and embedding", kDecode + " c" + kDecode + " c" + kDecode,
       in_kind("decode", {kDecode, "c" + kDecode, "c" + kDecode})},
      {"of several kinds", prefill + mixed + kDecode, "prefill:" + prefill + " mixed:" + mixed + " decode:" + kDecode},
      {"parts of steps at the ends are in none", begun + kDecode + kDecode + kDecode + "ENGDG",
       "-:" + begun + " " + in_kind("decode", {kDecode, kDecode, kDecode}) + " -:ENGDG"},
      {"the cut is where the device waits, not behind sampling's first kernel", kDecode + "c+ c" + kDecode,
       in_kind("decode", {kDecode + "c+", "c" + kDecode})},
      {"a copy before that wait is of the step before, one behind it of the next",
       kDecode + ".+  .c." + kDecode + ". ." + kDecode,
       in_kind("decode", {kDecode + ".+", ".c." + kDecode + ".", "." + kDecode})},
      {"names that do not say sampling or embedding: those that recur after the same number of layers",
       times(4, unnamed + " "), in_kind("decode", {unnamed, unnamed, unnamed, unnamed})},
      {"passes that draft are of the step before, which verified", times(3, verified + " "),
       in_kind("decode", {verified, verified, verified})},
      {"also where each has layers of its own", times(3, by_two + " "), in_kind("decode", {by_two, by_two, by_two})},
      {"a block of two layers that recurs is a repeating unit, no step", times(4, block + " "),
       in_kind("unit", {block, block, block, block})},
      {"attention that does not say: decode where graphs are replayed, else unknown",
       unsaid + "(" + unsaid + ")(" + unsaid + ")", "unknown:" + unsaid + " " + in_kind("decode", {unsaid, unsaid})},
      {"whole passes replayed as graphs", "(" + vision + ")c(" + vision + ")c(" + vision + ")",
       in_kind("unknown", {vision + "c", vision + "c", vision})},
      {"training: to the end of each optimizer step", times(3, training + "c"),
       in_kind("train", {training, "c" + training, "c" + training}) + " -:c"},
      {"training: the copies of the next step", times(3, training + ". .."),
       in_kind("train", {training + ".", ".." + training + ".", ".." + training + "..."})},
      {"gradients that are clipped within the optimizer's step, by a kernel like an activation", times(3, clipped),
       in_kind("train", {clipped, clipped, clipped})},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    CHECK(KernelLetters(one.letters).steps() == one.steps);
  }
  CHECK(KernelLetters(times(3, training + "c")).infer().reason == "optimizer steps");
  CHECK(KernelLetters(kDecode + kDecode).infer().confidence == 0.95);  // only what is recorded is certain
  const std::string longer = "uNGDGnGXGNGD" + std::string(10, 'G') + "nGXGnGrvw";
  CHECK(KernelLetters(times(2, block + " " + longer + " ")).infer().confidence == 0.5);  // half of the units are alike
}

TEST_CASE("a diffusion replayed from graphs is no decode") {
  const std::string pass = "GXGG" + times(8, "GNGRAG+NGXG+") + "NG+";
  CHECK(KernelLetters("(" + pass + ")(" + pass + ")(" + pass + ")").steps().find("decode") == std::string::npos);
  // With its text encoder's embedding before and its image decoder behind, all in one.
  CHECK(KernelLetters("E(" + pass + ")(" + pass + ")(" + pass + ")VNXVNX").steps().find("decode") == std::string::npos);
}

TEST_CASE("training: the first step counts if it has the work of the others, as a warm-up where its kernels differ") {
  const std::string step = "cGXGGXGOOO";
  const auto first = [&](const std::string& begin) {
    const KernelLetters kernels(begin + step + step + step);
    return std::pair(kernels.steps(), kernels.infer());
  };
  const std::string rest = " train:" + step + " train:" + step + " train:" + step;
  const std::string search = "cGGGGXGGGGGGXGGOOO", few = "GXGGXGO", part = "XGOOO";
  for (const std::string& begin : {search, few}) {
    CAPTURE(begin);
    const auto& [steps, found] = first(begin);
    CHECK(steps == "train:" + begin + rest);
    CHECK(found.steps[0].warm_up);
    CHECK(as_row(found.steps[1].warm_up, found.confidence) == "false 0.95");
  }
  CHECK_FALSE(first(step).second.steps[0].warm_up);
  CHECK(first(part).first == "-:" + part + rest);
  CHECK_FALSE(first(part).second.steps[0].warm_up);
}

TEST_CASE("no rhythm, no steps, and a reason") {
  for (const std::string_view letters : {"", "G", "VNXVNXVNX", "NGAGNGAGNGAG"}) {
    CAPTURE(letters);
    const InferredSteps found = KernelLetters(letters).infer();
    CHECK(as_row(found.steps.empty(), found.reason.empty()) == "true false");
  }
}

// Steps where no annotation names any: calls of the model; and steps by a pattern, on every thread they take in.

std::string launch(std::string_view name, int thread, int ts) {
  return launch_at(name, fmt::format(R"("pid":100,"tid":{})", thread), ts);
}

std::string module_call(std::string_view name, int ts, int dur) {
  return event("python_function", "nn.Module: " + std::string(name), kMainThread, std::to_string(ts),
               std::to_string(dur), R"("Python id":)" + std::to_string(ts) + R"(,"Python parent id":null)");
}

// "module calls: other other | k 1, l 0": source and kinds; then each kernel's step.
std::string text(const Ingested& ingested, const StepOptions& options = {}) {
  const Index index = Index::open(ingested.directory() / "index");
  const KernelClasses classes(index, default_rules());
  const StepSet set = load_steps(index, options, EventTables(index), classes.traits());
  std::string out(to_string(set.source));
  out += ":";
  for (const StepFacts& step : set.steps) out += " " + std::string(to_string(step.info.kind));
  out += " |";
  for (const std::uint32_t step : set.of_kernel) out += " " + std::to_string(step);
  return out;
}

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
  CHECK(text(index, {"ProfilerStep#[0-9]+"}) == "pattern: unknown | 1 1 0 0 0");  // autograd runs in the other
  CHECK(text(index, {"iteration [0-9]+"}) == "pattern: train | 0 0 1 1 0");
}

std::string captured_by(std::string_view pattern, std::string_view name) {
  const auto info = StepPattern(pattern).match(name);
  if (!info) return "none";
  const auto text = [](const std::optional<std::int64_t>& number) { return number ? std::to_string(*number) : "-"; };
  return std::string(to_string(info->kind)) + " " + text(info->context_requests) + "/" + text(info->context_tokens) +
         " " + text(info->generation_requests) + "/" + text(info->generation_tokens);
}

TEST_CASE("step patterns: groups by name, by place, none") {
  const std::string_view named = R"(c(?<context>\d+)(?:,g(?<generation>\d+))?$)";
  const std::string_view cases[][3] = {
      {R"(^iter \d+$)", "iter 12", "unknown -/- -/-"},
      {R"(^iter \d+$)", "iter x", "none"},
      {R"(^run_(\w+) c=(\d+) g=(\d+))", "run_Decode c=0 g=8", "decode -/0 -/8"},
      {R"(^b(?<generation_requests>\d+)t(?P<generation>[\d]+))", "b4t9", "decode -/- 4/9"},
      {named, "c7,g2", "mixed -/7 -/2"},
      {named, "c7", "prefill -/7 -/-"},
      {R"(^(?:a|b)_(extend))", "b_extend", "prefill -/- -/-"},
  };
  for (const auto& [pattern, name, expected] : cases) CHECK(captured_by(pattern, name) == expected);
}

TEST_CASE("step patterns that cannot be used are refused") {
  for (const std::string_view pattern : {"(", "(?<tokens>x)", "(?=x)", "((a{255}){255}){255}", "(a)\\1"}) {
    CAPTURE(pattern);
    CHECK_THROWS_AS(StepPattern{pattern}, Error);
  }
}

// A small index with annotations, steps and kernels of our own.
struct StepFixture : ChangedIndex {
  explicit StepFixture(const std::string& sql)
      : ChangedIndex("DELETE FROM annotation; DELETE FROM step; DELETE FROM kernel; DELETE FROM memory_op;" + sql) {}
  [[nodiscard]] StepSet steps(const StepOptions& options = {}) const {
    return load_steps(index, options, EventTables(index), KernelClasses(index, default_rules()).traits());
  }
  // "decode 16 | unknown -": kinds and decode requests; then the step of each kernel.
  [[nodiscard]] std::string text(const StepOptions& options = {}) const {
    const StepSet set = steps(options);
    std::string out;
    for (const StepFacts& step : set.steps) {
      out += (out.empty() ? "" : " | ") + std::string(to_string(step.info.kind)) + " " +
             (step.info.generation_requests ? std::to_string(*step.info.generation_requests) : "-");
    }
    out += " :";
    for (const std::uint32_t step : set.of_kernel) out += " " + std::to_string(step);
    return out;
  }
};

std::string kernel_rows(std::string_view steps_and_annotations) {
  return "INSERT INTO kernel (id, ts, dur, name_id, stream_id, step_id, annotation_id, kind) VALUES " +
         std::string(steps_and_annotations);
}

constexpr const char* kNames =
    "INSERT INTO string VALUES (20,'ProfilerStep#1'), (21,'execute_context_0(0)_generation_16(16)'), "
    "(22,'step[DECODE bs=16]'), (23,'Optimizer.step#SGD.step'), (24,'iter decode 4'), (25,'iter prefill 9');";

TEST_CASE("marks inside one another count once: the outer one, with the facts of the one that says more") {
  const StepFixture fixture(
      std::string(kNames) +
      "INSERT INTO annotation (id, ts, dur, kind, thread_id, name_id, parent_id) VALUES "
      "(1,0,100,'user',1,22,NULL), (2,10,50,'user',1,21,1);"
      "INSERT INTO step (id, annotation_id, sequence, kind, context_requests, generation_requests, "
      "generation_tokens) VALUES (1,1,0,'decode',NULL,NULL,NULL), (2,2,1,'decode',0,16,16);" +
      kernel_rows("(1,5,1,1,1,1,1,'compute'), (2,20,1,1,1,2,2,'compute'), (3,90,1,1,1,NULL,NULL,'compute')"));
  CHECK(fixture.text() == "decode 16 : 1 1 0");
}

TEST_CASE("a mark that says nothing gives way to those inside it that do") {
  const StepFixture fixture(
      std::string(kNames) +
      "INSERT INTO annotation (id, ts, dur, kind, thread_id, name_id, parent_id) VALUES "
      "(1,0,100,'user',1,20,NULL), (2,10,20,'user',1,21,1), (3,40,20,'user',1,21,1);"
      "INSERT INTO step (id, annotation_id, sequence, kind, generation_requests) VALUES "
      "(1,1,0,'unknown',NULL), (2,2,1,'decode',16), (3,3,2,'decode',8);" +
      kernel_rows("(1,5,1,1,1,1,1,'compute'), (2,20,1,1,1,2,2,'compute'), (3,50,1,1,1,3,3,'compute')"));
  CHECK(as_lines(fixture.text(), fixture.steps().notes.size()) == "decode 16 | decode 8 : 0 1 2\n1");
}

TEST_CASE("a profiler step in which an optimizer stepped is training") {
  const StepFixture fixture(
      std::string(kNames) +
      "INSERT INTO annotation (id, ts, dur, kind, thread_id, name_id, parent_id) VALUES "
      "(1,0,100,'user',1,20,NULL), (2,10,20,'user',1,23,1), (3,200,20,'user',1,20,NULL);"
      "INSERT INTO step (id, annotation_id, sequence, kind) VALUES (1,1,0,'unknown'), (2,3,1,'unknown');");
  CHECK(fixture.text() == "train - | unknown - :");
}

TEST_CASE("steps by a pattern: the outermost match around the launch") {
  const StepFixture fixture(std::string(kNames) +
                            "INSERT INTO annotation (id, ts, dur, kind, thread_id, name_id, parent_id) VALUES "
                            "(1,0,100,'user',1,24,NULL), (2,10,20,'user',1,20,1), (3,200,20,'user',1,25,NULL);" +
                            kernel_rows("(1,5,1,1,1,NULL,2,'compute'), (2,20,1,1,1,NULL,NULL,'compute'), "
                                        "(3,250,1,1,1,NULL,3,'compute')"));
  const StepOptions pattern{R"(^iter (?<kind>[a-z]+) (?<generation_requests>\d+)$)"};
  CHECK(fixture.text(pattern) == "decode 4 | prefill 9 : 1 0 2");
  CHECK(fixture.steps(pattern).source == StepSource::kPattern);
  CHECK(fixture.steps({"nothing"}).source == StepSource::kNone);
}

TEST_CASE("steps by a pattern from the device's annotations alone, once for all streams") {
  const StepFixture fixture(std::string(kNames) +
                            "INSERT INTO annotation (id, ts, dur, kind, stream_id, name_id) VALUES "
                            "(1,0,100,'gpu',1,24), (2,10,95,'gpu',2,24), (3,200,20,'gpu',1,24);" +
                            kernel_rows("(1,5,1,1,1,NULL,NULL,'compute'), (2,150,1,1,1,NULL,NULL,'compute'), "
                                        "(3,210,1,1,2,NULL,NULL,'compute')"));
  CHECK(fixture.text({"^iter"}) == "unknown - | unknown - : 1 0 2");
}

TEST_CASE("nothing to go by: no steps, no layers, and why") {
  const StepFixture fixture("");
  const StepSet set = fixture.steps();
  CHECK(set.source == StepSource::kNone);
  CHECK(set.notes.size() == 1);
  const EventTables events(fixture.index);
  const LayerSet layers = find_layers(fixture.index, events, set, {});
  CHECK(as_row(layers.layers, layers.of_kernel.empty()) == "0 true");
}

using StepTimes = std::vector<std::int64_t>;
using Ids = std::vector<std::uint32_t>;

TEST_CASE("figures of steps: of the longest device, copies in spans only, kernels of none apart") {
  const StepTimes ts = {0, 5, 20, 100, 300};
  const StepTimes dur = {10, 10, 30, kUnknownValue, 7};
  const Ids stream = {1, 2, 1, 3, 1};
  const Ids step = {1, 1, 1, 1, 0};
  const StepTimes copy_ts = {60};
  const StepTimes copy_dur = {5};
  const Ids copy_stream = {1};
  const Ids copy_step = {1};
  const Ids devices = {0, 7, 7, 9};
  const auto stats = step_stats({ts, dur, stream, step}, {copy_ts, copy_dur, copy_stream, copy_step}, devices, 2);
  REQUIRE(stats.size() == 3);
  CHECK(as_row(stats[0].kernels, stats[0].kernel_time, stats[1].kernels, stats[1].known, stats[1].kernel_time,
               stats[1].first, stats[1].gpu_span) == "1 7 4 3 50 0 65");
  CHECK(stats[1].gpu_busy == 50);  // 0..15, 20..50, 60..65
  CHECK(stats[2].kernels == 0);
  CHECK(stats[2].gpu_span == kUnknownValue);
}

TEST_CASE("the steady state leaves the ramps out") {
  const auto steady = [](const StepTimes& requests) {
    const StepRange range = steady_steps(requests);
    return std::pair(range.first, range.last);
  };
  CHECK(steady({0, 10, 60, 99, 100, 100, 96, 80, 100, 20}) == std::pair<std::size_t, std::size_t>(3, 7));
  CHECK(steady({-1, -1}) == std::pair<std::size_t, std::size_t>(0, 0));
  CHECK(steady({}) == std::pair<std::size_t, std::size_t>(0, 0));
}

TEST_CASE("medians") {
  CHECK(median_of({}) == std::nullopt);
  CHECK(median_of({3, 1, 2}) == 2.0);
  CHECK(median_of({4, 1, 2, 9}) == 3.0);
}

TEST_CASE("starts of steps: the first event on each device that runs a kernel of the step") {
  const std::vector<std::uint32_t> devices = {0, 10, 20};  // by stream
  const std::vector<std::int64_t> ts = {5, 6, 20, 30}, dur = {1, 1, 1, 1};
  const std::vector<std::uint32_t> stream = {1, 2, 1, 1}, step = {1, 1, 2, 0};
  // A copy before the first kernel is work of the step; copies alone make no step on a device.
  const std::vector<std::int64_t> copy_ts = {3, 15}, copy_dur = {1, 1};
  const std::vector<std::uint32_t> copy_stream = {1, 2}, copy_step = {1, 2};
  const auto starts = step_starts({ts, dur, stream, step}, {copy_ts, copy_dur, copy_stream, copy_step}, devices, 2);
  REQUIRE(starts.size() == 3);
  CHECK((starts[0].step == 1 && starts[0].device == 0 && starts[0].first == 3));
  CHECK((starts[1].step == 1 && starts[1].device == 1 && starts[1].first == 6));
  CHECK((starts[2].step == 2 && starts[2].device == 0 && starts[2].first == 20));
}

TEST_CASE("a step is the mean over its devices") {
  const std::vector<std::uint32_t> steps = {1, 1, 2, 3, 3};
  const std::vector<std::int64_t> values = {10, 20, kUnknownValue, 7, kUnknownValue};
  const auto means = means_of_steps(steps, values);
  REQUIRE(means.size() == 2);
  CHECK((means[0].step == 1 && means[0].mean == 15));
  CHECK((means[1].step == 3 && means[1].mean == 7));
}

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
const std::vector<std::uint32_t> kDevices = {0, 1, 1, 2};  // streams 1 and 2 share a device

struct Events {
  std::vector<std::int64_t> ts, dur;
  std::vector<std::uint32_t> stream;
  std::vector<GroupId> group;
  [[nodiscard]] GroupedEvents view() const { return {ts, dur, stream, kDevices, group}; }
};

TEST_CASE("figures of a group, by hand") {
  const Events events{{0, 10, 20, 30, 40}, {5, 4, 1, 2, kUnknownValue}, {1, 1, 1, 1, 1}, {0, 0, 0, 0, 0}};
  const GroupStats stats = group_stats(events.view(), 1).front();
  CHECK(as_row(stats.count, stats.known, stats.total, stats.min, stats.max, stats.median, stats.p90, stats.p99) ==
        "5 4 12 1 5 3 5 5");
  CHECK(stats.stddev == doctest::Approx(1.8257418583505538));
}

TEST_CASE("one value has no deviation; an empty group has nothing") {
  const Events events{{0}, {7}, {1}, {1}};
  const std::vector<GroupStats> stats = group_stats(events.view(), 2);
  CHECK(as_row(stats[1].stddev, stats[1].median, stats[0].count) == "0 7 0");
}

TEST_CASE("busy: overlap counts once on a device, twice on two") {
  const Events one{{0, 5, 20}, {10, 10, 1}, {1, 2, 1}, {0, 0, 0}};
  CHECK(as_row(group_stats(one.view(), 1)[0].busy, busy_time(one.view())) == "16 16");
  const Events two{{0, 5, 20}, {10, 10, 1}, {1, 3, 1}, {0, 0, 0}};
  CHECK(group_stats(two.view(), 1)[0].busy == 21);
  const Events inner{{0, 2, 12}, {10, 3, 3}, {1, 2, 1}, {0, 0, 0}};
  CHECK(busy_time(inner.view()) == 13);
}

TEST_CASE("absurd durations do not overflow") {
  const Events events{{5, 6}, {kMost, kMost}, {1, 3}, {0, 0}};
  const GroupStats stats = group_stats(events.view(), 1).front();
  CHECK(stats.total == kMost);
  CHECK(stats.busy == kMost);
}

TEST_CASE("groups close: sums of parts are sums of all; busy is at most total and at least the longest") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Events events;
    std::int64_t ts = 0;
    const auto pick = [&](unsigned most) { return static_cast<std::uint32_t>(random() % most); };
    for (std::uint32_t n = 1 + pick(40); n > 0; --n) {
      events.ts.push_back(ts += pick(4));
      events.dur.push_back(pick(10) == 0 ? kUnknownValue : std::int64_t{pick(8)});
      events.stream.push_back(1 + pick(3));
      events.group.push_back(pick(3));
    }
    const std::vector<GroupStats> parts = group_stats(events.view(), 3);
    Events together = events;
    std::fill(together.group.begin(), together.group.end(), 0U);
    const GroupStats all = group_stats(together.view(), 1).front();
    CHECK(parts[0].count + parts[1].count + parts[2].count == all.count);
    CHECK(parts[0].total + parts[1].total + parts[2].total == all.total);
    CHECK(all.busy == busy_time(events.view()));
    CHECK(all.busy <= all.total);
    CHECK(all.busy >= all.max);
    CHECK(parts[0].busy <= all.busy);
    CHECK(parts[0].busy + parts[1].busy + parts[2].busy >= all.busy);
  }
}

}  // namespace
}  // namespace tracedb
