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
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/align/alignment.h"
#include "passes/classify/kernel_traits.h"

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

// Finds the kernels of one trace whose work a single kernel of the other does, by rules of conservation of work:
// schema/METRICS.md 11. Pure.

// One segment seen with fixed parts for the two traces: `fused` is where a kernel may do the work of several.
class FusionView {
 public:
  FusionView(const AlignedSegment& segment, FusedBy by, const KernelNameTable& kernel_names);

  [[nodiscard]] std::size_t size() const { return segment_.pairs.size(); }
  [[nodiscard]] const PairSide& fusing(std::size_t i) const {
    return by_ == FusedBy::kBaseline ? segment_.pairs[i].baseline : segment_.pairs[i].candidate;
  }
  [[nodiscard]] const PairSide& other(std::size_t i) const {
    return by_ == FusedBy::kBaseline ? segment_.pairs[i].candidate : segment_.pairs[i].baseline;
  }
  [[nodiscard]] const std::string& op(const PairSide& side) const {
    return kernel_names_.op_name(kernel_names_.op_of(side.name));
  }
  [[nodiscard]] bool known(const PairSide& side) const {
    return side.n > 0 && op(side) != "other" && op(side) != "triton_fused";
  }
  [[nodiscard]] Traits traits(const PairSide& side) const { return side.n > 0 ? traits_of_class(op(side)) : 0; }
  // Whether a pair runs on another stream than the one at `at`.
  [[nodiscard]] bool on_other_lane(std::size_t at, std::size_t i) const;
  // Whether it does and both traces have it: a search skips it, since its position among the kernels of another stream
  // is chance.
  [[nodiscard]] bool aside(std::size_t at, std::size_t i) const {
    return fusing(i).n > 0 && other(i).n > 0 && on_other_lane(at, i);
  }
  // The next pair from `from` on that is not aside, as seen from `at`; size(): none.
  [[nodiscard]] std::size_t after(std::size_t at, std::size_t from) const;
  [[nodiscard]] std::size_t before(std::size_t at, std::size_t from) const;
  // The pair has no kernel of the fusing side.
  [[nodiscard]] bool only_other(std::size_t i) const { return other(i).n > 0 && fusing(i).n == 0; }
  [[nodiscard]] const ClassFamilies& families() const { return kernel_names_.families(); }
  [[nodiscard]] OpId family(const PairSide& side) const {
    return kernel_names_.family_of(kernel_names_.op_of(side.name));
  }

 private:
  // Of the fusing side; nothing where no kernel of the other's lane has a partner.
  [[nodiscard]] std::optional<std::uint32_t> lane(std::size_t i) const;

  const AlignedSegment& segment_;
  FusedBy by_;
  const KernelNameTable& kernel_names_;
  std::map<std::uint32_t, std::uint32_t> lane_of_other_;  // by the other side's lane: that of most of its partners
};

struct FusedParts {
  std::vector<std::size_t> members;  // pairs whose other side the kernel does the work of, in order; empty: none
  bool implied = false;              // as of Fusion
};

// Finds the parts of one kernel after the other; parts found for one are not found again for a later one.
class PartsFinder {
 public:
  explicit PartsFinder(const FusionView& view) : view_(view), taken_(view.size(), false) {}

  FusedParts find(std::size_t at);

 private:
  const FusionView& view_;
  std::vector<bool> taken_;
};

}  // namespace tracedb
