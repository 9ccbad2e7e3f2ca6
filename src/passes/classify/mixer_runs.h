// Finds the mixers (attention or state space kernels) of a sequence model in a sequence of kernels: they show where its
// layers are. Kernels that mix tokens follow each other within a layer (a prefill and a decode part, a split and its
// reduction, a convolution and a scan); between those of two layers lie a norm, an activation, experts or several
// products. Pure functions over one sequence in time order.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "passes/classify/kernel_traits.h"

namespace tracedb {

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
