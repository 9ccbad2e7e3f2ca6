// What the class names of the modules around a launch say of its kernels: "QKVParallelLinear" within "Qwen3Attention".
// Pure.
#pragma once

#include <span>
#include <string_view>

#include "passes/roles/layer_roles.h"

namespace tracedb {

struct ModuleMark {
  ModulePart part = ModulePart::kUnknown;
  bool linear = false;         // a linear map
  Mark mark = Mark::kOther;    // of the kernels that are neither products nor communication; kOther: by their class
  Role all = Role::kNone;      // of all kernels but communication
  Role product = Role::kNone;  // of matrix products
  Role comm = Role::kNone;     // of communication
};

// `classes`: of the modules, outermost first, without their numbers. None: nothing is known.
ModuleMark mark_of_modules(std::span<const std::string_view> classes);

// What a kernel is by its class, as its module has it.
MarkedKernel marked(const MarkedKernel& by_class, const ModuleMark& module);

}  // namespace tracedb
