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

// One thread at a time; an object is used for many layers, to use its memory again.
class LayerRoles {
 public:
  // `kernels` in time order. `is_first`: the first layer of the step.
  std::span<const KernelRole> of_layer(std::span<const MarkedKernel> kernels, bool is_first);
  std::span<const KernelRole> of_head(std::span<const MarkedKernel> kernels);
  // `is_language`: the model reads or writes tokens, so that its last product makes logits.
  std::span<const KernelRole> of_tail(std::span<const MarkedKernel> kernels, bool is_language);

 private:
  struct Range {
    std::size_t from = 0, to = 0;
  };

  void begin(std::span<const MarkedKernel> kernels);
  void join_norms();
  void find_attention_in_parts();
  void find_separate_norms();
  void find_mixers();
  void into_attention(Range range, Role comm);
  void name_inputs(const std::vector<std::size_t>& inputs);
  std::size_t out_of_attention(Range range);
  void into_mlp(Range range);
  void mlp(Range range, bool is_delimited);
  void dense_mlp(Range range, bool is_delimited);
  std::size_t name_dense(const std::vector<std::size_t>& products, std::size_t activation, bool is_delimited);
  void experts(Range range, std::size_t first_routing);
  void shared_experts(Range range);
  void behind_mlp(Range range);
  void name_residual(Range range, std::uint8_t confidence);
  void end();

  void claim(std::size_t at, Role role, std::uint8_t confidence);
  [[nodiscard]] bool is(std::size_t at, Mark mark) const { return kernels_[at].mark == mark; }
  [[nodiscard]] bool is_norm(std::size_t at) const;
  template <class Predicate>
  [[nodiscard]] std::size_t find(Range range, Predicate predicate) const;
  [[nodiscard]] std::size_t find_mark(Range range, Mark mark) const;
  [[nodiscard]] std::size_t find_norm(Range range) const;
  [[nodiscard]] std::vector<std::size_t> products(Range range, ModulePart part) const;

  std::vector<MarkedKernel> kernels_;
  std::vector<bool> separate_norm_;  // a norm in several kernels stands here
  std::vector<Range> mixers_;        // first and one behind the last
  std::vector<KernelRole> out_;
};

}  // namespace tracedb
