// The role of every kernel of a trace (role.h), from its operation class, the modules around its launch and the order
// of the kernels within its layer: schema/METRICS.md 8.
//
// The order is looked at within a layer, or the head or tail of a step, on the stream that runs attention; of the other
// streams, communication is looked at with it, and their other kernels have the role that their class or module names.
// Outside of layers, and in training, where backward passes have another order, only classes and modules give roles.
#pragma once

#include <span>
#include <string_view>

#include "base/large_vector.h"
#include "passes/classify/kernel_classes.h"
#include "passes/layers/layer_set.h"
#include "passes/roles/layer_roles.h"
#include "passes/roles/role.h"

namespace tracedb {

struct KernelRoles {
  LargeVector<KernelRole> of_kernel;  // by row

  // Of a row that there may not be: no role.
  [[nodiscard]] KernelRole of(std::size_t row) const { return row < of_kernel.size() ? of_kernel[row] : KernelRole{}; }
};

// Linear. `layers` with its `by_step`.
KernelRoles find_roles(const Index& index, const EventTables& events, const StepSet& steps, const LayerSet& layers,
                       const KernelClasses& classes, const RuleSet& rules);

// What the class names of the modules around a launch say of its kernels: "QKVParallelLinear" within "Qwen3Attention".
// Pure.
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
