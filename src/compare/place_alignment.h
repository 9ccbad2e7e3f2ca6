// Two usual sequences of kernels laid side by side: metrics F.11. Pure.
//
// Sequences are in the order in which kernels started. Where they run on several streams, that order is an accident:
// then the streams of one are matched with those of the other by what runs on them, each is aligned by itself, and what
// is left is aligned across streams, where that costs less than to align the whole in order. Companions (families.h)
// follow the kernel whose work they end.
#pragma once

#include <span>
#include <vector>

#include "compare/layer_templates.h"
#include "compare/sequence_alignment.h"

namespace tracedb {

// Every place of both once; in the order of the sequences as far as they agree. Which one comes first does not matter.
std::vector<AlignedPair> align_places(std::span<const TemplateKernel> a, std::span<const TemplateKernel> b,
                                      const Vocabulary& vocabulary);

// By place: that of the kernel whose work it ends, or kNoPartner.
std::vector<std::uint32_t> companion_hosts(std::span<const TemplateKernel> kernels, const Vocabulary& vocabulary);

std::vector<RoleUse> role_uses(std::span<const TemplateKernel> kernels);

}  // namespace tracedb
