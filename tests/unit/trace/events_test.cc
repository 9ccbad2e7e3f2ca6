#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/cases.h"
#include "support/rows.h"
#include "trace/issue.h"
#include "trace/process_marks.h"
#include "trace/step_grammar.h"
#include "trace/tile_events.h"

namespace tracedb {
namespace {

TEST_CASE("every issue has a name of its own, and a sentence with an amount") {
  std::set<std::string_view> names;
  for (std::size_t kind = 0; kind <= static_cast<std::size_t>(IssueKind::kProfilerMessage); ++kind) {
    const IssueDescription& description = describe(static_cast<IssueKind>(kind));
    CHECK(static_cast<std::size_t>(description.kind) == kind);
    CHECK(names.insert(description.name).second);
    for (const auto& [count, amount] : {std::pair(1, "1 "), std::pair(12345, "12,345 ")}) {
      const std::string text = issue_sentence(description.kind, static_cast<std::uint64_t>(count)).text;
      CAPTURE(text);
      CHECK((text.find(amount) != std::string::npos || text.find(" 0 ") != std::string::npos));
      CHECK(text.find_first_of("{}|#") == std::string::npos);
    }
    CHECK_FALSE(to_string(description.severity).empty());
  }
}

TEST_CASE("the sentence of an issue counts") {
  CHECK(issue_sentence(IssueKind::kLaunchAfterKernel, 1).text == "1 kernel starts before its launch: clocks disagree");
  CHECK(issue_sentence(IssueKind::kLaunchAfterKernel, 1200).text ==
        "1,200 kernels start before their launches: clocks disagree");
  CHECK(issue_sentence(IssueKind::kLaunchAfterKernel, 2).id == "issue.launch_after_kernel");
}

TEST_CASE("the earliest place is kept with its sample") {
  IssueLog log;
  log.add(IssueKind::kBadNumber, 50, "later");
  log.add(IssueKind::kBadNumber, 20, "earlier");
  log.add(IssueKind::kBadNumber, 90, "latest", 3);
  log.add(IssueKind::kBadNumber, -1, "nowhere");
  log.add(IssueKind::kBadDuration, 1, "none", 0);
  REQUIRE(log.issues().size() == 1);
  CHECK(as_row(log.issues()[0].count, log.issues()[0].offset, log.issues()[0].sample,
               log.count(IssueKind::kBadDuration)) == "6 20 earlier 0");
  log.clear();
  CHECK(log.issues().empty());
}

TEST_CASE("without a place the first sample stays, until there is a place") {
  IssueLog log;
  log.add(IssueKind::kUnmatchedFlow, -1, "first");
  log.add(IssueKind::kUnmatchedFlow, -1, "second");
  CHECK(log.issues()[0].sample == "first");
  log.add(IssueKind::kUnmatchedFlow, 7, "placed");
  CHECK(as_row(log.issues()[0].sample, log.issues()[0].offset) == "placed 7");
}

TEST_CASE("logs merged piece by piece equal one log") {
  const struct {
    IssueKind kind;
    std::int64_t offset;
    const char* sample;
  } events[] = {{IssueKind::kBadNumber, 10, "a"},   {IssueKind::kMissingName, 20, "b"},
                {IssueKind::kBadNumber, 30, "c"},   {IssueKind::kUnmatchedFlow, -1, "d"},
                {IssueKind::kMissingName, 40, "e"}, {IssueKind::kUnmatchedFlow, -1, "f"}};
  IssueLog whole;
  for (const auto& event : events) whole.add(event.kind, event.offset, event.sample);
  for (std::size_t cut = 0; cut <= std::size(events); ++cut) {
    IssueLog first;
    IssueLog second;
    for (std::size_t i = 0; i < std::size(events); ++i) {
      (i < cut ? first : second).add(events[i].kind, events[i].offset, events[i].sample);
    }
    IssueLog merged;
    merged.merge(first);
    merged.merge(second);
    REQUIRE(merged.issues().size() == whole.issues().size());
    for (std::size_t i = 0; i < whole.issues().size(); ++i) {
      CHECK(merged.issues()[i].kind == whole.issues()[i].kind);
      CHECK(merged.issues()[i].count == whole.issues()[i].count);
      CHECK(merged.issues()[i].offset == whole.issues()[i].offset);
      CHECK(merged.issues()[i].sample == whole.issues()[i].sample);
    }
  }
}

TEST_CASE("issues come in the order of their kinds") {
  using enum IssueKind;
  IssueLog log;
  for (const IssueKind kind : {kEndWithoutBegin, kRepairedText, kKernelWithoutStep, kNoEvents}) log.add(kind, -1, "x");
  std::vector<IssueKind> kinds;
  for (const Issue& issue : log.issues()) kinds.push_back(issue.kind);
  CHECK(kinds == std::vector<IssueKind>{kNoEvents, kRepairedText, kEndWithoutBegin, kKernelWithoutStep});
}

TEST_CASE("samples are short and valid") {
  CHECK(issue_sample(std::string(500, 'a')) == std::string(200, 'a'));
  CHECK(issue_sample("a\xFFz") == "a\xEF\xBF\xBDz");
  CHECK(issue_sample("").empty());
  // What is cut stays valid, short and the same when it is cut again (logs are merged).
  for (const std::string& text :
       {std::string(200, '\xFF'), std::string(199, 'a') + "\xE2\x82\xAC", std::string(300, '\xC3')}) {
    const std::string sample = issue_sample(text);
    CHECK(sample.size() <= 200);
    CHECK(issue_sample(sample) == sample);
  }
}

TEST_CASE("the innermost mark that takes in other threads; several threads' marks cannot be told apart") {
  ProcessMarks marks;
  marks.open(100, 1, 7, StepScope::kProcess);
  CHECK(marks.step_at(10, false) == 7);
  marks.open(50, 1, 8, StepScope::kProcess);
  CHECK(marks.step_at(20, false) == 8);
  CHECK(marks.step_at(50, false) == 7);  // [ts, end)
  marks.open(90, 2, 9, StepScope::kThread);
  CHECK(marks.step_at(60, false) == 7);
  marks.open(90, 3, 10, StepScope::kProcess);
  CHECK(marks.step_at(70, false) == 0);
  CHECK(marks.step_at(95, false) == 7);
  CHECK(marks.step_at(100, false) == 0);
  CHECK(marks.empty());
}

TEST_CASE("a mark of unknown meaning takes in the backward pass only") {
  ProcessMarks marks;
  marks.open(100, 1, 7, StepScope::kBackward);
  CHECK(marks.step_at(10, false) == 0);
  CHECK(marks.step_at(10, true) == 7);
}

TEST_CASE("whose launches a mark takes in") {
  check_each(StepScope::kProcess, step_scope, {"ProfilerStep#3", "Optimizer.step#SGD.step", "## train_step 4 ##"});
  check_each(StepScope::kThread, step_scope, {"execute_context_0(0)_generation_4(4)", "step[DECODE bs=4]"});
  check_each(StepScope::kBackward, step_scope, {"my iteration"});
}

TEST_CASE("annotations among operators, and operators of the autograd engine") {
  check_each(true, is_mark_among_operators,
             {"ProfilerStep#12", "Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad"});
  check_each(false, is_mark_among_operators, {"aten::mm", "ProfilerStep", "Optimizer", ""});
  check_each(true, is_backward_operator,
             {"autograd::engine::evaluate_function: AddBackward0", "torch::autograd::AccumulateGrad",
              "CudnnConvolutionBackward", "MmBackward0"});
  check_each(false, is_backward_operator,
             {"aten::threshold_backward", "aten::mm", "Backward", "## Backward", "Backward pass", ""});
  check_each(true, is_optimizer_step, {"Optimizer.step#Adam.step"});
  check_each(false, is_optimizer_step, {"Optimizer.zero_grad#Adam.zero_grad"});
}

// "prefill 1/20 0/0": kind, context requests/tokens, generation requests/tokens; "-" for unknown.
std::string parsed(std::string_view name) {
  const std::optional<StepInfo> info = parse_step(name);
  if (!info) return "none";
  const auto text = [](const std::optional<std::int64_t>& number) { return number ? std::to_string(*number) : "-"; };
  return std::string(to_string(info->kind)) + " " + text(info->context_requests) + "/" + text(info->context_tokens) +
         " " + text(info->generation_requests) + "/" + text(info->generation_tokens);
}

TEST_CASE("every dialect of step names") {
  check_pairs<std::string_view>(
      parsed,
      {{"execute_context_0(0)_generation_16(16)", "decode 0/0 16/16"},
       {"execute_context_2(512)_generation_0(0)", "prefill 2/512 0/0"},
       {"execute_context_1(20)_generation_3(3)", "mixed 1/20 3/3"},
       {"execute_context_0(0)_generation_0(0)", "unknown 0/0 0/0"},
       {"execute_context_1(888_788544)_generation_0(0)", "prefill 1/888 0/0"},
       {"execute_context_0(0_0)_generation_4(4_1000)", "decode 0/0 4/4"},
       {"execute_context_1(512_0)_generation_0(0)", "prefill 1/512 0/0"},
       {"execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)", "decode 0/0 32/32"},
       {"execute_7_context_2(sq300sk300sqsq45000sqsk45000)_generation_5(sq5sk50sqsq5sqsk50)", "mixed 2/300 5/5"},
       {"step[DECODE bs=32]", "decode -/- 32/32"},
       {"step[EXTEND bs=15 toks=15360]", "prefill 15/15360 -/-"},
       {"step[MIXED bs=4 toks=70 c_sq=66 g_sk=9]", "mixed 4/70 -/-"},
       {"step[TARGET_VERIFY bs=8]", "decode -/- 8/8"},
       {"step[SPLIT_PREFILL bs=1 toks=8]", "prefill 1/8 -/-"},
       {"step[DRAFT_EXTEND bs=8 toks=8]", "unknown -/- -/-"},
       {"step[IDLE bs=0]", "other -/- 0/0"},
       {"prefill[bs=2 tok=300 ctx=[150, 150]]", "prefill 2/300 -/-"},
       {"decode[bs=117/128 tok=117 p=1 d=116 spec=0]", "decode -/- 117/117"},
       {"decode[bs=5]", "decode -/- 5/-"},
       {"execute_diffusion_1_256x256", "other -/- -/-"},
       {"execute_new_0_cached_32", "decode 0/- 32/-"},
       {"execute_new_2_cached_30", "mixed 2/- 30/-"},
       {"execute_new_3_cached_0", "prefill 3/- 0/-"},
       {"[Executor] _forward_step 7: 1 ctx reqs, 200 ctx tokens, 8 gen reqs", "mixed 1/200 8/8"},
       {"_forward_step 7: 0 ctx reqs, 0 ctx tokens, 8 gen reqs", "decode 0/0 8/8"},
       {"train_step", "train -/- -/-"},
       {"Trainer.training_step", "train -/- -/-"},
       {"## train_batch 12 ##", "train -/- -/-"},
       {"ProfilerStep#12", "unknown -/- -/-"},
       {"ProfilerStep*12", "unknown -/- -/-"}});
}

TEST_CASE("other annotations are no steps") {
  check_each("none", parsed,
             {"",
              "capture_32_FULL",
              "capture_8192_PIECEWISE",
              "## Call CompiledFxGraph fabc ##",
              "nccl:all_reduce",
              "DistributedDataParallel.forward",
              "attn(F)",
              "dispatch(B)",
              "1F1B",
              "execute_context",
              "execute_context_1",
              "my execute_context_1(2)_generation_0(0)",
              "execute_context_x(1)_generation_0(0)",
              "step[]",
              "steps[DECODE bs=1]",
              "ProfilerStep",
              "decode[tok=1]",
              "retrain_stepper",
              "train_step_size",
              "execute_new_1_cached_x",
              "Optimizer.step#SGD.step"});
}

TEST_CASE("numbers too large are unknown, names too long are none") {
  CHECK(parsed("execute_context_1(99999999999999999999)_generation_0(0)") == "prefill 1/- 0/0");
  CHECK(parsed("ProfilerStep#" + std::string(2000, '1')) == "none");
  CHECK(parsed("step[" + std::string(990, 'A')) == "unknown -/- -/-");
  CHECK(parsed("step[DECODE " + std::string(800, ' ') + "bs=3]") == "decode -/- 3/3");
}

TEST_CASE("the hash of the rules is a fixed-length word") { CHECK(step_rules_hash().size() == 32); }

using Times = std::vector<std::int64_t>;

std::string text_of(const KernelPairs& pairs) {
  std::string out;
  for (const TileKernel& kernel : pairs.kernels) {
    out += std::to_string(kernel.start) + "-" + std::to_string(kernel.end) + " ";
  }
  return out + "lost " + std::to_string(pairs.orphan_starts) + "/" + std::to_string(pairs.orphan_ends) + " twice " +
         std::to_string(pairs.duplicates);
}

TEST_CASE("kernel pairs") {
  const struct {
    std::string_view what;
    Times starts, ends;
    const char* pairs;
  } cases[] = {
      {"a lost end costs its own kernel only", {0, 140, 280}, {100, 380}, "0-100 280-380 lost 1/0 twice 0"},
      {"a lost start costs its own kernel only", {0, 280}, {100, 240, 380}, "0-100 280-380 lost 0/1 twice 0"},
      {"no gap between kernels", {0, 100, 200}, {100, 200, 300}, "0-100 100-200 200-300 lost 0/0 twice 0"},
      {"the trace begins and ends within a kernel", {50, 150}, {10, 100}, "50-100 lost 1/1 twice 0"},
      {"the trace begins within a kernel", {}, {10}, "lost 0/1 twice 0"},
      {"the trace begins and ends within a kernel", {10}, {10}, "lost 1/1 twice 0"},
      {"none", {}, {}, "lost 0/0 twice 0"},
      {"marks that come twice", {0, 5, 140}, {100, 103, 240}, "0-100 140-240 lost 0/0 twice 2"},
      {"times below 0", {-300, -160}, {-200, -60}, "-300--200 -160--60 lost 0/0 twice 0"},
      {"short kernels among long ones are no duplicates",
       {0, 100, 110, 210},
       {100, 110, 210, 220},
       "0-100 100-110 110-210 210-220 lost 0/0 twice 0"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    CHECK(text_of(pair_kernels(one.starts, one.ends)) == one.pairs);
  }
}

TEST_CASE("tile events: old and new names, tiles called the same") {
  CHECK(tile_event("INSTR_EVENT_0") == TileEvent::kKernelStart);
  CHECK(tile_event("Event1") == TileEvent::kKernelEnd);
  CHECK(tile_event("LockStall") == TileEvent::kLockStall);
  CHECK(tile_event("PORT_RUNNING_0") == TileEvent::kOther);
  const std::vector<TileProcess> processes = {
      {"core_trace for tile2,1", "0"}, {"core_trace for x for tile2,1", "7"}, {"core_trace", "8"}};
  CHECK(tile_labels(processes) == std::vector<std::string>{"tile2,1", "tile2,1 (pid 7)", "core_trace"});
}

}  // namespace
}  // namespace tracedb
