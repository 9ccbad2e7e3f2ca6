#include "trace/step_grammar.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace tracedb {
namespace {

// "prefill 1/20 0/0": kind, context requests/tokens, generation requests/tokens; "-" for unknown.
std::string parsed(std::string_view name) {
  const std::optional<StepInfo> info = parse_step(name);
  if (!info) return "none";
  const auto text = [](const std::optional<std::int64_t>& number) { return number ? std::to_string(*number) : "-"; };
  return std::string(to_string(info->kind)) + " " + text(info->context_requests) + "/" + text(info->context_tokens) +
         " " + text(info->generation_requests) + "/" + text(info->generation_tokens);
}

}  // namespace

TEST_CASE("every dialect of step names") {
  const std::vector<std::pair<std::string_view, std::string_view>> names = {
      {"execute_context_0(0)_generation_16(16)", "decode 0/0 16/16"},
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
      {"ProfilerStep*12", "unknown -/- -/-"},
  };
  for (const auto& entry : names) {  // no bindings: clang cannot capture them
    const auto& name = entry.first;
    const auto& expected = entry.second;
    CAPTURE(name);
    CHECK(parsed(name) == expected);
  }
}

TEST_CASE("other annotations are no steps") {
  for (const std::string_view name : {"",
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
                                      "Optimizer.step#SGD.step"}) {
    CAPTURE(name);
    CHECK(parsed(name) == "none");
  }
}

TEST_CASE("numbers too large are unknown, names too long are none") {
  CHECK(parsed("execute_context_1(99999999999999999999)_generation_0(0)") == "prefill 1/- 0/0");
  CHECK(parsed("ProfilerStep#" + std::string(2000, '1')) == "none");
  CHECK(parsed("step[" + std::string(990, 'A')) == "unknown -/- -/-");
  CHECK(parsed("step[DECODE " + std::string(800, ' ') + "bs=3]") == "decode -/- 3/3");
}

TEST_CASE("the hash of the rules is a fixed-length word") { CHECK(step_rules_hash().size() == 32); }

}  // namespace tracedb
