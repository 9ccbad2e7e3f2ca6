// The roles of the kernels of one layer, and of a step's head and tail, by their order: schema/METRICS.md 8. Pure.
//
// A layer with attention is
//
//   input norm, product(s) of q k v, [norm of q k], [rope], [cache], attention, output product, [communication],
//   norm, MLP or experts, [communication]
//
// Products between attention and the next norm or communication are its output, if there is exactly one. Of the MLP,
// the product before the activation is gate_up and the last one behind it is down; of experts, a product before the
// routing is the router. What does not fit keeps no role: two products where one is expected, products beside others on
// the other side of a norm. Modules, where they are known, say which products belong to attention and which to the MLP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "passes/roles/role.h"

namespace tracedb {

// What a kernel does, without its place.
enum class Mark : std::uint8_t {
  kOther,
  kProduct,
  kMixer,  // attention
  kSsm,
  kNorm,
  kActivation,
  kRouting,
  kExperts,
  kCombine,
  kComm,
  kRope,
  kKvCache,
  kEmbedding,
  kSampling,
  kSoftmax,
  kElementwise,
  kReduce,
  kCompanion,  // ends the work of the kernel before it
};

// The part of a layer that the modules around a launch are; kUnknown: they do not say; kOutside: they
// say what it does, and it is none of these.
enum class ModulePart : std::uint8_t { kUnknown, kOutside, kAttention, kMlp, kLogits };

struct MarkedKernel {
  Mark mark = Mark::kOther;
  bool normalises = false;  // also a norm, whatever the mark: communication fused with one
  ModulePart part = ModulePart::kUnknown;
  bool linear = false;       // a product that a module for linear maps launched
  bool in_norm = false;      // a module for a norm launched it: part of the norm, if no kernel there is one by itself
  Role named = Role::kNone;  // by its module
  std::uint32_t name = 0;    // equal: the same kernel
};

// The role that the mark alone gives, wherever the kernel runs; else none.
KernelRole role_of_mark(const MarkedKernel& kernel);

// `kernels` in time order. `is_first`: the first layer of the step.
std::vector<KernelRole> roles_of_layer(std::span<const MarkedKernel> kernels, bool is_first);
std::vector<KernelRole> roles_of_head(std::span<const MarkedKernel> kernels);
// `is_language`: the model reads or writes tokens, so that its last product makes logits.
std::vector<KernelRole> roles_of_tail(std::span<const MarkedKernel> kernels, bool is_language);

}  // namespace tracedb
