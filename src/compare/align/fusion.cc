#include "compare/align/fusion.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/saturating.h"
#include "compare/align/fusion_parts.h"

namespace tracedb {
namespace {

FusionKernel kernel_of(const PairSide& side) { return {side.name, side.n, side.time, side.example}; }

// A finding while it is collected.
struct Finding {
  struct Kernel {
    AlignedSegment* segment = nullptr;
    std::size_t pair = 0;
    bool fused = false;  // else one of the parts
  };
  Fusion fusion;
  std::vector<Kernel> kernels;
  double baseline_alone = 0, candidate_alone = 0;  // time of kernels without partner that it accounts for
  double support = 0, weight = 0;                  // sums over layers
};

class Collector {
 public:
  Collector(GroupAlignment alignment, const KernelNameTable& kernel_names)
      : alignment_(std::move(alignment)), kernel_names_(kernel_names) {}

  FusedAlignment run(double least_confidence) {
    for (AlignedSegment& segment : alignment_.segments) {
      search(segment, FusedBy::kBaseline);
      search(segment, FusedBy::kCandidate);
    }
    rate();
    FusedAlignment out;
    std::vector<Finding*> kept;
    for (auto& [key, finding] : found_) {
      if (finding.fusion.confidence < least_confidence) {
        ++out.uncertain;
      } else {
        kept.push_back(&finding);
      }
    }
    const auto time = [](const Finding* finding) {
      std::int64_t sum = finding->fusion.fused.time;
      for (const FusionKernel& part : finding->fusion.parts) sum = saturating_add(sum, part.time);
      return sum;
    };
    std::stable_sort(kept.begin(), kept.end(), [&](const Finding* a, const Finding* b) { return time(a) > time(b); });
    for (Finding* finding : kept) {
      account(*finding, static_cast<std::int32_t>(out.fusions.size()));
      out.fusions.push_back(std::move(finding->fusion));
    }
    out.alignment = std::move(alignment_);
    return out;
  }

 private:
  void search(AlignedSegment& segment, FusedBy by) {
    const FusionView view(segment, by, kernel_names_);
    PartsFinder finder(view);
    for (std::size_t i = 0; i < view.size(); ++i) {
      if (view.fusing(i).n == 0) continue;
      const FusedParts parts = finder.find(i);
      if (!parts.members.empty()) add(segment, view, by, i, parts);
    }
  }

  // The same kernels in other layers are the same finding.
  void add(AlignedSegment& segment, const FusionView& view, FusedBy by, std::size_t at, const FusedParts& parts) {
    Key key{by, name(view.fusing(at)), {}};
    for (const std::size_t i : parts.members) std::get<2>(key).push_back(name(view.other(i)));
    const auto [entry, is_new] = found_.try_emplace(std::move(key));
    Finding& finding = entry->second;
    Fusion& fusion = finding.fusion;
    if (is_new) {
      fusion.by = by;
      fusion.fused = {view.fusing(at).name, 0, 0, view.fusing(at).example};
      for (const std::size_t i : parts.members) {
        fusion.parts.push_back({view.other(i).name, 0, 0, view.other(i).example});
      }
    }
    fusion.implied = parts.implied;
    merge(fusion.fused, kernel_of(view.fusing(at)));
    finding.kernels.push_back({&segment, at, true});
    if (!segment.is_aligned(segment.pairs[at])) alone(finding, by, true) += static_cast<double>(view.fusing(at).time);
    for (std::size_t p = 0; p < parts.members.size(); ++p) {
      const PairSide& part = view.other(parts.members[p]);
      merge(fusion.parts[p], kernel_of(part));
      finding.kernels.push_back({&segment, parts.members[p], false});
      if (!segment.is_aligned(segment.pairs[parts.members[p]])) {
        alone(finding, by, false) += static_cast<double>(part.time);
      }
      fusion.partial = fusion.partial || op_parts(view.op(part)).size() > 1;
    }
    fusion.layers.insert(fusion.layers.end(), segment.layers.begin(), segment.layers.end());
    std::sort(fusion.layers.begin(), fusion.layers.end(), comes_before);
    fusion.layers.erase(std::unique(fusion.layers.begin(), fusion.layers.end()), fusion.layers.end());
    support(segment, finding);
  }

  static void support(const AlignedSegment& segment, Finding& finding) {
    const auto share = [](std::int64_t following, std::int64_t instances) {
      return instances > 0 ? static_cast<double>(following) / static_cast<double>(instances) : 0;
    };
    const double own = std::min(share(segment.baseline_following, segment.baseline_instances),
                                share(segment.candidate_following, segment.candidate_instances));
    const auto layers = static_cast<double>(segment.layers.size());
    finding.support += own * layers;
    finding.weight += layers;
    finding.fusion.support = finding.support / finding.weight;
  }

  static double& alone(Finding& finding, FusedBy by, bool fusing) {
    return (by == FusedBy::kBaseline) == fusing ? finding.baseline_alone : finding.candidate_alone;
  }

  [[nodiscard]] double baseline_part(double time) const {
    return alignment_.baseline_time > 0 ? time / alignment_.baseline_time : 0;
  }
  [[nodiscard]] double candidate_part(double time) const {
    return alignment_.candidate_time > 0 ? time / alignment_.candidate_time : 0;
  }

  void rate() {
    double baseline = alignment_.baseline_share;
    double candidate = alignment_.candidate_share;
    for (const auto& [key, finding] : found_) {
      baseline += baseline_part(finding.baseline_alone);
      candidate += candidate_part(finding.candidate_alone);
    }
    constexpr double kImplied = 0.5;
    for (auto& [key, finding] : found_) {
      Fusion& fusion = finding.fusion;
      fusion.confidence = fusion.support * std::min(baseline, candidate) * (fusion.implied ? kImplied : 1);
    }
  }

  void account(const Finding& finding, std::int32_t number) {
    alignment_.baseline_share += baseline_part(finding.baseline_alone);
    alignment_.candidate_share += candidate_part(finding.candidate_alone);
    for (const Finding::Kernel& kernel : finding.kernels) {
      KernelPair& pair = kernel.segment->pairs[kernel.pair];
      pair.fused = !pair.has_both();
      const bool of_baseline = (finding.fusion.by == FusedBy::kBaseline) == kernel.fused;
      (of_baseline ? pair.baseline : pair.candidate).fusion = number;
    }
  }

  static void merge(FusionKernel& to, const FusionKernel& more) {
    to.n += more.n;
    to.time = saturating_add(to.time, more.time);
  }
  [[nodiscard]] std::string name(const PairSide& side) const { return kernel_names_.entries()[side.name].name; }

  using Key = std::tuple<FusedBy, std::string, std::vector<std::string>>;

  GroupAlignment alignment_;
  const KernelNameTable& kernel_names_;
  std::map<Key, Finding> found_;
};

}  // namespace

FusedAlignment find_fusions(GroupAlignment alignment, const KernelNameTable& kernel_names, double least_confidence) {
  return Collector(std::move(alignment), kernel_names).run(least_confidence);
}

}  // namespace tracedb
