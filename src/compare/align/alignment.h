// Pairs the kernels of both traces, per step group and layer. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compare/align/layer_templates.h"
#include "compare/align/sequence_alignment.h"
#include "compare/steps/step_groups.h"

namespace tracedb {

// One side of a pair, summed over the device steps of the group and the layers of the segment. n = 0: the other is
// unpaired.
struct PairSide {
  NameId name = 0;
  std::int64_t n = 0;
  std::int64_t time = 0;                     // ns
  std::uint32_t example = 0;                 // row of table kernel
  std::int32_t fusion = -1;                  // the finding that accounts for it (find_fusions()); -1: none
  std::uint32_t lane = 0;                    // its stream, counted within the layer
  std::uint32_t position = 0;                // in its own trace's usual sequence
  Role role = Role::kNone;                   // of the example
  std::int64_t named_n = 0, named_time = 0;  // of the kernels, which in single steps may be others: those of this name
};

struct KernelPair {
  PairSide baseline, candidate;
  bool fused = false;  // unpaired, but explained by a fusion finding (find_fusions())
  // Of an unpaired companion (kernel_name_table.h): the pair whose work it finishes; else kNoPartner.
  std::uint32_t companion_of = kNoPartner;
  [[nodiscard]] bool has_both() const { return baseline.n > 0 && candidate.n > 0; }
};

// The kernels of one pair in one layer, summed over the device steps of the group.
struct PositionSum {
  std::int64_t n = 0;
  std::int64_t time = 0;  // ns, accounted_time() of device_steps.h
  Work work = Work::kCompute;
};
struct PositionSums {
  PositionSum baseline, candidate;
};

// Layers with the same pair of usual sequences, and the pairs of kernels of those sequences in order.
struct AlignedSegment {
  std::vector<std::int32_t> layers;
  std::vector<KernelPair> pairs;
  std::vector<PositionSums> positions;  // pair after pair for each layer
  // Device steps times layers, and how many of them follow the usual sequence exactly.
  std::int64_t baseline_instances = 0, candidate_instances = 0;
  std::int64_t baseline_following = 0, candidate_following = 0;

  // Has both, or finishes the work of a pair that has.
  [[nodiscard]] bool is_aligned(const KernelPair& pair) const {
    return pair.has_both() || (pair.companion_of != kNoPartner && pairs[pair.companion_of].has_both());
  }
};

struct GroupAlignment {
  bool by_layer = false;  // false: whole steps, since the numbers of layers differ
  std::size_t layers = 0;
  std::vector<AlignedSegment> segments;  // head, layers in order, tail, none
  bool too_long = false;                 // a sequence is: its segment has no pairs, and the shares below are unknown
  // Of the kernel time: in aligned pairs, or explained by a fusion finding. Each kernel counts once.
  double baseline_share = 0, candidate_share = 0;
  double baseline_time = 0, candidate_time = 0;  // all kernel time of the group, ns
  std::vector<std::string> notes;
};

GroupAlignment align_group(const ComparedTrace& baseline, const ComparedTrace& candidate, const StepGroup& group,
                           const KernelNameTable& kernel_names);

// The order of a step: head, layers, tail, none.
bool comes_before(std::int32_t layer, std::int32_t other);

// Finds work that one trace does in one kernel and the other in several, by conservation of work: schema/METRICS.md 11.
// Pure.
//
// A finding needs classes of work that have kernels of their own in one trace, are missing in the other, and are
// accounted for by a kernel next to them whose class names those parts (norm+quantise), or that must contain them
// (attention in place of softmax between matrix products; one MoE kernel in place of routing, products and sum; one
// routing kernel in place of several; a matrix product of experts that leaves no sum to be made), or that is one of
// their class in place of several (attention in two kernels; a norm of queries and one of keys). Work that a name may
// leave out (kernel_name_table.h: the residual add of a norm) neither makes nor prevents a finding. Kernels of unknown
// class never take part. Kernels that both traces have are never a finding, so a trace compared with itself has none,
// and swapping the traces swaps who fuses.

enum class FusedBy { kBaseline, kCandidate };

struct FusionKernel {
  NameId name = 0;
  std::int64_t n = 0;         // in all runs of the group and the layers of the finding
  std::int64_t time = 0;      // ns
  std::uint32_t example = 0;  // row of table kernel: id - 1
};

struct Fusion {
  FusedBy by = FusedBy::kCandidate;
  FusionKernel fused;                // of the side that fuses
  std::vector<FusionKernel> parts;   // of the other side, in order
  std::vector<std::int32_t> layers;  // where it was found
  bool partial = false;              // some of the parts are fused already
  bool implied = false;              // not by its name: the work must be in it, since it is nowhere else
  double support = 0;                // share of the runs and layers of the finding that follow the usual sequences
  double confidence = 0;             // support x the lesser share of time accounted for; half where implied
};

struct FusedAlignment {
  GroupAlignment alignment;     // which kernels the findings account for is marked, and added to the shares
  std::vector<Fusion> fusions;  // in order of the time of the kernels, longest first
  std::size_t uncertain = 0;    // findings of less confidence than requested, which are left out
};
FusedAlignment find_fusions(GroupAlignment alignment, const KernelNameTable& kernel_names, double least_confidence);

}  // namespace tracedb
