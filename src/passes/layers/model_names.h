// What the Python code and the step marks of a trace tell of the software that made it. Guesses, by the names of
// packages and files; nothing where the trace has neither.
#pragma once

#include <optional>
#include <string>

#include "index/index.h"

namespace tracedb {

// "vLLM", "Diffusers"; else "PyTorch" for a trace of its profiler.
std::optional<std::string> framework_name(const Index& index);

// "LlamaForCausalLM", "flux": a pipeline of Diffusers, else the class of the model, else the file that has its code.
std::optional<std::string> model_name(const Index& index);

}  // namespace tracedb
