// The role of every kernel of a trace (role.h), from its operation class, the modules around its launch and the order
// of the kernels within its layer: schema/METRICS.md 8.
//
// The order is looked at within a layer, or the head or tail of a step, on the stream that runs attention; of the other
// streams, communication is looked at with it, and their other kernels have the role that their class or module names.
// Outside of layers, and in training, where backward passes have another order, only classes and modules give roles.
#pragma once

#include <cstdint>

#include "base/large_vector.h"
#include "passes/classify/kernel_classes.h"
#include "passes/layers/layer_set.h"
#include "passes/roles/role.h"

namespace tracedb {

struct KernelRoles {
  LargeVector<KernelRole> of_kernel;  // by row

  // Of a row that there may not be: no role.
  [[nodiscard]] KernelRole of(std::size_t row) const { return row < of_kernel.size() ? of_kernel[row] : KernelRole{}; }
};

// kOrderOnly: as if the trace named no modules; to compare the two.
enum class RoleEvidence : std::uint8_t { kAll, kOrderOnly };

// Linear. `layers` with its `by_step`.
KernelRoles find_roles(const Index& index, const EventTables& events, const StepSet& steps, const LayerSet& layers,
                       const KernelClasses& classes, const RuleSet& rules, RoleEvidence evidence = RoleEvidence::kAll);

}  // namespace tracedb
