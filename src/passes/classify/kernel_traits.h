// What a kernel is for, as a set of bits: one for each class of the active rules, several for a fused kernel. Passes
// over sequences of kernels compare these instead of texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tracedb {

using Traits = std::uint32_t;

inline constexpr Traits kAttentionTrait = 1U << 0;
inline constexpr Traits kPrefillTrait = 1U << 1;  // with kAttentionTrait
inline constexpr Traits kDecodeTrait = 1U << 2;   // with kAttentionTrait
inline constexpr Traits kSsmTrait = 1U << 3;
inline constexpr Traits kGemmTrait = 1U << 4;
inline constexpr Traits kMoeTrait = 1U << 5;
inline constexpr Traits kNormTrait = 1U << 6;
inline constexpr Traits kActivationTrait = 1U << 7;
inline constexpr Traits kSamplingTrait = 1U << 8;
inline constexpr Traits kEmbeddingTrait = 1U << 9;
inline constexpr Traits kOptimizerTrait = 1U << 10;
inline constexpr Traits kConvolutionTrait = 1U << 11;
inline constexpr Traits kOtherTrait = 1U << 12;  // nothing recognised
inline constexpr Traits kElementwiseTrait = 1U << 13;
inline constexpr Traits kGeneratedTrait = 1U << 14;  // by a compiler, nothing recognised
inline constexpr Traits kCommunicationTrait = 1U << 15;
inline constexpr Traits kFirstPlainTrait = 1U << 16;            // further classes, told apart and nothing more
inline constexpr Traits kSoftmaxTrait = kFirstPlainTrait << 3;  // attention in parts

inline constexpr Traits kMixerTraits = kAttentionTrait | kSsmTrait;  // what every layer of a sequence model has once

// Of a class, "norm" or "elementwise+norm+quantise".
Traits traits_of_class(std::string_view class_name);

// Of a name, given those of all names by id (KernelClasses::traits()).
inline Traits traits_of(const std::vector<Traits>& traits, std::uint32_t name) {
  return name < traits.size() ? traits[name] : kOtherTrait;
}

// Finds the mixers (attention or state space kernels) of a sequence model in a sequence of kernels: they show where its
// layers are. Kernels that mix tokens follow each other within a layer (a prefill and a decode part, a split and its
// reduction, a convolution and a scan); between those of two layers lie a norm, an activation, experts or several
// products. Pure functions over one sequence in time order.

struct MixerRun {
  std::size_t first = 0, last = 0;  // positions in the sequence, both inclusive
};

// `names` tell apart kernels of one sequence: mixers whose name comes far more seldom than the others' (once a step,
// to prepare the others) do not count, nor does what comes before the first matrix product of the sequence.
std::vector<MixerRun> mixer_runs(std::span<const Traits> sequence);

// The traits of a sequence without the mixer bits of kernels that only prepare others: names that come once where
// others come twelve times and more. By name id; `traits` as of KernelClasses::traits().
std::vector<Traits> without_seldom_mixers(std::span<const std::uint32_t> names, const std::vector<Traits>& traits);

}  // namespace tracedb
