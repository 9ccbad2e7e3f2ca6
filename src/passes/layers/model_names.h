// What the Python code and the step marks of a trace tell of the software that made it. Guesses, by the names of
// packages and files; nothing where the trace has neither.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/index.h"
#include "passes/classify/kernel_traits.h"

namespace tracedb {

// Of a trace of its profiler of which no more is known: whichever of those that are built on PyTorch.
inline constexpr std::string_view kOnlyProfiler = "PyTorch";

// "vLLM", "Diffusers"; else kOnlyProfiler for a trace of that.
std::optional<std::string> framework_name(const Index& index);

// "LlamaForCausalLM", "flux": a pipeline of Diffusers, else the class of the model, else the file that has its code.
std::optional<std::string> model_name(const Index& index);

// What kernel time says a model is.
enum class Architecture { kUnknown, kTransformer, kMoeTransformer, kSsm, kMoeSsm, kHybrid, kMoeHybrid, kConvolutional };
std::string_view to_string(Architecture architecture);

struct ClassTime {
  Traits traits = 0;
  std::int64_t time = 0;
};
Architecture architecture_of(std::span<const ClassTime> times);

// Facts about a whole trace that follow from kernel time by name, without reading each kernel.
struct ModelFacts {
  Architecture architecture = Architecture::kUnknown;
  bool diffusion = false;  // its step marks or its python code say that it denoises
  double classified = 0;   // share of kernel time whose name says what it is for; 0 where there is none
};

// "transformer, MoE", "transformer, diffusion"; "diffusion" alone where kernels do not tell the rest.
std::string architecture_text(const ModelFacts& facts);

// `traits` as of KernelClasses::traits().
ModelFacts model_facts(const Index& index, const std::vector<Traits>& traits);

}  // namespace tracedb
