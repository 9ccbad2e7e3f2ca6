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
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compare/align/alignment.h"

namespace tracedb {

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
