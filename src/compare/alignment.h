// Pairs the kernels of both traces, per step group and layer. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/layer_templates.h"
#include "compare/step_groups.h"

namespace tracedb {

// One side of a pair, summed over the runs of the group and the layers of the segment. n = 0: the other stands alone.
struct PairSide {
  NameId name = 0;
  std::int64_t n = 0;
  std::int64_t time = 0;      // ns
  std::uint32_t example = 0;  // row of table kernel
  std::int32_t fusion = -1;   // the finding that accounts for it (set by find_fusions()); -1: none
  std::uint32_t lane = 0;     // its stream, counted within the layer
  std::uint32_t place = 0;    // in the side's own usual sequence
};

struct KernelPair {
  PairSide baseline, candidate;
  bool fused = false;  // alone, but a fusion says which kernel does its work (set by find_fusions())
  // The pair whose kernel's work it ends, of a companion (families.h) that stands alone beside it; else kNoPartner.
  std::uint32_t companion_of = kNoPartner;
  [[nodiscard]] bool has_both() const { return baseline.n > 0 && candidate.n > 0; }
};

// What the kernels of one pair take in one layer, summed over the runs of the group.
struct PlaceSum {
  std::int64_t n = 0;
  std::int64_t time = 0;  // ns, accounted_time() of exclusive_time.h
  Work work = Work::kCompute;
};
struct PlaceSums {
  PlaceSum baseline, candidate;
};

// Layers whose usual sequences are the same on either side, and the pairs of those sequences in order.
struct AlignedSegment {
  std::vector<std::int32_t> layers;
  std::vector<KernelPair> pairs;
  std::vector<PlaceSums> places;  // pair after pair for each layer
  // Runs times layers, and those of them that follow the usual sequence exactly.
  std::int64_t baseline_instances = 0, candidate_instances = 0;
  std::int64_t baseline_following = 0, candidate_following = 0;
};

struct GroupAlignment {
  bool by_layer = false;  // false: whole steps, since the sides have not the same number of layers
  std::size_t layers = 0;
  std::vector<AlignedSegment> segments;  // head, layers in order, tail, none
  bool too_long = false;                 // a sequence was: its segment has no pairs, and the shares below are unknown
  // Of the kernel time: in pairs that have both, or accounted for by a fusion (find_fusions() adds these).
  double baseline_share = 0, candidate_share = 0;
  double baseline_time = 0, candidate_time = 0;  // all kernel time of the group, ns
  std::vector<std::string> notes;
};

GroupAlignment align_group(const Side& baseline, const Side& candidate, const StepGroup& group,
                           const Vocabulary& vocabulary);

// The order of a step: head, layers, tail, none.
bool comes_before(std::int32_t layer, std::int32_t other);

}  // namespace tracedb
