// Which annotation names mark a step of the workload, and what they say about it. One table for all dialects; the hash
// of the table is stored in every index (meta.step_rules), so that steps found under other rules are told apart.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracedb {

// kUnit: no annotation says so; something repeats, but a step it is not (passes/steps/inferred_steps.h).
enum class StepKind : std::uint8_t { kPrefill, kDecode, kMixed, kTrain, kOther, kUnknown, kUnit };
std::string_view to_string(StepKind kind);
std::optional<StepKind> step_kind_from(std::string_view text);
inline constexpr std::size_t kStepKinds = static_cast<std::size_t>(StepKind::kUnit) + 1;

struct StepInfo {
  StepKind kind = StepKind::kUnknown;
  std::optional<std::int64_t> context_requests;
  std::optional<std::int64_t> context_tokens;
  std::optional<std::int64_t> generation_requests;
  std::optional<std::int64_t> generation_tokens;
};

// nullopt: the name is no step. Deterministic, no state.
std::optional<StepInfo> parse_step(std::string_view annotation);

// Whose launches a mark takes in while it is open. Every mark has those of its own thread.
enum class StepScope : std::uint8_t {
  kThread,    // no others: made for one request or one worker, as servers do
  kBackward,  // also those of autograd's threads, which work for the thread that asked for gradients
  kProcess    // also those of every other thread of the process: a whole iteration
};
// Of ProfilerStep, of a training iteration and of Optimizer.step kProcess, of a server's steps kThread; of a name that
// is not known here kBackward.
StepScope step_scope(std::string_view annotation);

// Old profilers wrote every range of the user's as an operator: whether this one is a step mark or belongs to an
// optimizer, and so is an annotation.
bool is_mark_among_operators(std::string_view name);

std::string step_rules_hash();  // 32 hexadecimal digits

// The passes of training, and the names that PyTorch gives to their parts.
enum class Pass : std::uint8_t { kForward, kBackward, kOptimizer };
inline constexpr std::array<std::string_view, 3> kPassNames = {"forward", "backward", "optimizer"};

// "Optimizer.step#SGD.step": the range that torch.optim puts around each step.
bool is_optimizer_step(std::string_view annotation);

// Operators of the autograd engine: "autograd::engine::evaluate_function: MmBackward0", and, as versions that did not
// put that around them wrote them, its nodes: "torch::autograd::AccumulateGrad", "CudnnConvolutionBackward".
bool is_backward_operator(std::string_view name);

}  // namespace tracedb
