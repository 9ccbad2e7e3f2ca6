// The passes of training, and the names that PyTorch gives to their parts.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tracedb {

enum class Pass : std::uint8_t { kForward, kBackward, kOptimizer };
inline constexpr std::array<std::string_view, 3> kPassNames = {"forward", "backward", "optimizer"};

// "Optimizer.step#SGD.step": the range that torch.optim puts around each step.
bool is_optimizer_step(std::string_view annotation);

// Operators of the autograd engine: "autograd::engine::evaluate_function: MmBackward0", and, as versions that did not
// put that around them wrote them, its nodes: "torch::autograd::AccumulateGrad", "CudnnConvolutionBackward".
bool is_backward_operator(std::string_view name);

}  // namespace tracedb
