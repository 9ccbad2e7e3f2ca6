// Aligns the usual sequences of two traces: schema/METRICS.md 11. Pure.
//
// Sequences are in the order in which kernels started. On several streams that order is accidental: then streams are
// matched by what runs on them, each pair is aligned by itself, and the rest is aligned across streams, if that costs
// less than aligning everything in order. Companions (kernel_name_table.h) follow the kernel whose work they finish.
#pragma once

#include <span>
#include <vector>

#include "compare/align/layer_templates.h"
#include "compare/align/sequence_alignment.h"

namespace tracedb {

// Every position of both once; in the order of the sequences as far as they agree. Which one comes first does not
// matter.
std::vector<AlignedPair> align_positions(std::span<const TemplateKernel> a, std::span<const TemplateKernel> b,
                                         const KernelNameTable& kernel_names);

// By position: that of the kernel whose work it ends, or kNoPartner.
std::vector<std::uint32_t> companion_hosts(std::span<const TemplateKernel> kernels,
                                           const KernelNameTable& kernel_names);

}  // namespace tracedb
