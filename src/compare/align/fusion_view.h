// Aligned pairs as the search for fusions looks at them (fusion.cc).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/align/alignment.h"
#include "passes/classify/kernel_traits.h"

namespace tracedb {

struct PairPlace {
  AlignedSegment* segment = nullptr;
  std::size_t pair = 0;
  auto operator<=>(const PairPlace&) const = default;
  [[nodiscard]] KernelPair& get() const { return segment->pairs[pair]; }
};

// Pairs seen with fixed parts for the two traces: `fused` is where a kernel may do the work of several.
class FusionView {
 public:
  // The pairs of a segment, or the end of one and the beginning of the next, which is at `border`.
  FusionView(std::vector<PairPlace> places, std::size_t border, FusedBy by, const KernelNameTable& kernel_names)
      : places_(std::move(places)), border_(border), by_(by), kernel_names_(kernel_names) {
    std::map<std::uint32_t, std::map<std::uint32_t, std::size_t>> partners;
    for (std::size_t i = 0; i < size(); ++i) {
      if (has_both(i)) ++partners[other(i).lane][fusing(i).lane];
    }
    for (const auto& [from, lanes] : partners) {
      lane_of_other_[from] = std::ranges::max_element(lanes, {}, [](const auto& one) { return one.second; })->first;
    }
  }

  [[nodiscard]] std::size_t size() const { return places_.size(); }
  [[nodiscard]] const PairPlace& place(std::size_t i) const { return places_[i]; }
  [[nodiscard]] FusedBy by() const { return by_; }
  [[nodiscard]] bool has_both(std::size_t i) const { return places_[i].get().has_both(); }
  [[nodiscard]] const PairSide& fusing(std::size_t i) const {
    return by_ == FusedBy::kBaseline ? places_[i].get().baseline : places_[i].get().candidate;
  }
  [[nodiscard]] const PairSide& other(std::size_t i) const {
    return by_ == FusedBy::kBaseline ? places_[i].get().candidate : places_[i].get().baseline;
  }
  // Of pairs of several streams, which may cross: in the order in which the other side runs them.
  [[nodiscard]] std::pair<bool, std::uint32_t> order(std::size_t i) const { return {i >= border_, other(i).position}; }
  [[nodiscard]] const std::string& op(const PairSide& side) const {
    return kernel_names_.op_name(kernel_names_.op_of(side.name));
  }
  [[nodiscard]] bool known(const PairSide& side) const {
    return side.n > 0 && op(side) != "other" && op(side) != "triton_fused";
  }
  [[nodiscard]] Traits traits(const PairSide& side) const { return side.n > 0 ? traits_of_class(op(side)) : 0; }
  // Whether a pair runs on another stream than the one at `at`.
  [[nodiscard]] bool on_other_lane(std::size_t at, std::size_t i) const {
    const std::optional<std::uint32_t> own = lane(at), its = lane(i);
    return own && its && *own != *its;
  }
  // Whether it does and both traces have it: a search skips it, since its position among the kernels of another stream
  // is chance.
  [[nodiscard]] bool aside(std::size_t at, std::size_t i) const { return has_both(i) && on_other_lane(at, i); }
  // The next pair from `from` on that is not aside, as seen from `at`; size(): none.
  [[nodiscard]] std::size_t after(std::size_t at, std::size_t from) const {
    for (++from; from < size() && aside(at, from);) ++from;
    return from;
  }
  [[nodiscard]] std::size_t before(std::size_t at, std::size_t from) const {
    while (from-- > 0) {
      if (!aside(at, from)) return from;
    }
    return size();
  }
  // The pair has no kernel of the fusing side.
  [[nodiscard]] bool only_other(std::size_t i) const { return other(i).n > 0 && fusing(i).n == 0; }
  [[nodiscard]] const ClassFamilies& families() const { return kernel_names_.families(); }
  [[nodiscard]] OpId family(const PairSide& side) const {
    return kernel_names_.family_of(kernel_names_.op_of(side.name));
  }

 private:
  // Of the fusing side; nothing where no kernel of the other's lane has a partner.
  [[nodiscard]] std::optional<std::uint32_t> lane(std::size_t i) const {
    if (fusing(i).n > 0) return fusing(i).lane;
    const auto found = lane_of_other_.find(other(i).lane);
    return found == lane_of_other_.end() ? std::nullopt : std::optional(found->second);
  }

  std::vector<PairPlace> places_;
  std::size_t border_;
  FusedBy by_;
  const KernelNameTable& kernel_names_;
  std::map<std::uint32_t, std::uint32_t> lane_of_other_;  // by the other side's lane: that of most of its partners
};

}  // namespace tracedb
