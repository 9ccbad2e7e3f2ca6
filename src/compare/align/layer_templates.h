// The usual sequence of kernels of each layer of a group of device steps, with their times: schema/METRICS.md 11.
// Pure, linear except for device steps that deviate.
//
// The order in which kernels of several streams start varies from step to step. Two steps are the same if the sequence
// of each stream is; the usual sequence is in the order of the first such step. Steps with other kernels are aligned
// with the usual sequence, and their additional kernels get positions of their own: every kernel of a layer has a
// position.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "compare/align/sequence_alignment.h"
#include "compare/steps/step_groups.h"
#include "compare/trace/compared_trace.h"

namespace tracedb {

// A position in the usual sequence. Times in ns, sums over the device steps.
struct TemplateKernel {
  NameId name = 0;
  std::uint32_t lane = 0;  // its stream, counted within the layer
  Work work = Work::kCompute;
  std::uint32_t example = 0;  // row of table kernel, in a step that follows the sequence if one has the position
  std::int64_t n = 0;
  std::int64_t time = 0;
  std::int64_t accounted = 0;  // accounted_time() of device_steps.h
  // Of those kernels, which in single steps may be others, the ones that have this name.
  std::int64_t named_n = 0, named_time = 0;
};

struct LayerTemplate {
  std::vector<TemplateKernel> kernels;
  std::int64_t instances = 0;  // device steps that have the layer
  std::int64_t following = 0;  // those with exactly the usual kernels
  std::int64_t time = 0;       // of all kernels of the layer
};

// By layer, as of stack_table.h; with `whole` all of a device step is one sequence, under kNoLayer.
using LayerTemplates = std::map<std::int32_t, LayerTemplate>;
LayerTemplates layer_templates(const ComparedTrace& trace, const GroupSide& group, const KernelNameTable& kernel_names,
                               bool whole);

// Aligns the usual sequences of two traces: schema/METRICS.md 11. Pure.
//
// Sequences are in the order in which kernels started. On several streams that order is accidental: then streams are
// matched by what runs on them, each pair is aligned by itself, and the rest is aligned across streams, if that costs
// less than aligning everything in order. Companions (kernel_name_table.h) follow the kernel whose work they finish.

// Every position of both once; in the order of the sequences as far as they agree. Which one comes first does not
// matter.
std::vector<AlignedPair> align_positions(std::span<const TemplateKernel> a, std::span<const TemplateKernel> b,
                                         const KernelNameTable& kernel_names);

// By position: that of the kernel whose work it ends, or kNoPartner.
std::vector<std::uint32_t> companion_hosts(std::span<const TemplateKernel> kernels,
                                           const KernelNameTable& kernel_names);

}  // namespace tracedb
