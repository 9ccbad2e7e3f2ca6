#include "compare/align/alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "base/parallel.h"
#include "base/unknown.h"

namespace tracedb {
namespace {

std::size_t count_layers(const LayerTemplates& templates) {
  return static_cast<std::size_t>(std::ranges::count_if(templates, [](const auto& entry) { return entry.first >= 0; }));
}

// Whether the sides have a stack of layers in common, and every one that both have with as many layers.
bool same_layers(const LayerTemplates& a, const LayerTemplates& b, const LayerStacks& stacks) {
  bool common = false;
  for (const LayerStack& stack : stacks) {
    const auto count = [&](const LayerTemplates& of) {
      return std::distance(of.lower_bound(stack.first), of.lower_bound(stack.first + stack.count));
    };
    if (count(a) == 0 || count(b) == 0) continue;
    if (count(a) != count(b)) return false;
    common = true;
  }
  return common;
}

std::vector<NameId> names_of(const LayerTemplate& of) {
  std::vector<NameId> names;
  for (const TemplateKernel& kernel : of.kernels) names.push_back(kernel.name);
  return names;
}

void add(PairSide& to, PositionSum& sum, std::span<const TemplateKernel> kernels, std::uint32_t position,
         const KernelRoles& roles) {
  const TemplateKernel& kernel = kernels[position];
  if (to.n == 0) {
    to = {kernel.name, 0, 0, kernel.example, -1, kernel.lane, position, roles.of(kernel.example).role, 0, 0};
  }
  to.named_n += kernel.named_n;
  to.named_time = saturating_add(to.named_time, kernel.named_time);
  to.n += kernel.n;
  to.time = saturating_add(to.time, kernel.time);
  sum = {kernel.n, kernel.accounted, kernel.work};
}

std::size_t different_names(const LayerTemplate& a, const LayerTemplate& b) {
  std::set<NameId> names;
  for (const LayerTemplate* of : {&a, &b}) {
    for (const TemplateKernel& kernel : of->kernels) names.insert(kernel.name);
  }
  return names.size();
}

class Aligner {
 public:
  Aligner(const ComparedTrace& baseline, const ComparedTrace& candidate, const StepGroup& group,
          const KernelNameTable& kernel_names)
      : baseline_(baseline), candidate_(candidate), group_(group), kernel_names_(kernel_names) {}

  GroupAlignment run() {
    LayerTemplates a, b;
    make_templates(false, a, b);
    out_.by_layer = same_layers(a, b, baseline_.layers.stacks);
    out_.layers = std::max(count_layers(a), count_layers(b));
    if (!out_.by_layer) {
      if (out_.layers > 0) {
        out_.notes.push_back(fmt::format("{}: {} and {} layers: whole steps are aligned", group_.said(),
                                         count_layers(a), count_layers(b)));
      }
      make_templates(true, a, b);
    }
    align(a, b);
    return std::move(out_);
  }

 private:
  void make_templates(bool whole, LayerTemplates& a, LayerTemplates& b) const {
    run_both([&] { a = layer_templates(baseline_, group_.baseline, kernel_names_, whole); },
             [&] { b = layer_templates(candidate_, group_.candidate, kernel_names_, whole); });
  }

  // Layers with the same two sequences are one segment. In the order of a step: head, layers, tail, none.
  void align(const LayerTemplates& a, const LayerTemplates& b) {
    std::set<std::int32_t> layers;
    for (const auto& [layer, of] : a) layers.insert(layer);
    for (const auto& [layer, of] : b) layers.insert(layer);
    std::vector<std::int32_t> order(layers.begin(), layers.end());
    std::ranges::sort(order, comes_before);
    std::map<std::tuple<int, std::vector<NameId>, std::vector<NameId>>, std::size_t> known;
    const LayerTemplate none;
    for (const std::int32_t layer : order) {
      const auto first = a.find(layer);
      const auto second = b.find(layer);
      const LayerTemplate& of_a = first == a.end() ? none : first->second;
      const LayerTemplate& of_b = second == b.end() ? none : second->second;
      const auto [entry, is_new] =
          known.try_emplace({layer >= 0 ? 0 : layer, names_of(of_a), names_of(of_b)}, out_.segments.size());
      if (is_new) open_segment(of_a, of_b);
      add_layer(entry->second, layer, of_a, of_b);
    }
    share(a, b);
  }

  void open_segment(const LayerTemplate& a, const LayerTemplate& b) {
    out_.segments.emplace_back();
    paths_.emplace_back();
    const bool too_long = std::max(a.kernels.size(), b.kernels.size()) > kLongestAlignment;
    if (too_long && names_of(a) != names_of(b)) {
      out_.too_long = true;
      out_.notes.push_back(fmt::format("{}: {} and {} kernels in one sequence are too many to align", group_.said(),
                                       a.kernels.size(), b.kernels.size()));
      return;
    }
    paths_.back() = align_positions(a.kernels, b.kernels, kernel_names_);
    out_.segments.back().pairs.resize(paths_.back().size());
    mark_companions(a, b);
    if (const std::size_t names = different_names(a, b); names > kMostPairedSymbols) {
      out_.notes.push_back(
          fmt::format("{}: {} different kernels in one sequence are too many: only identical ones are paired",
                      group_.said(), names));
    }
  }

  void mark_companions(const LayerTemplate& a, const LayerTemplate& b) {
    const std::vector<std::uint32_t> hosts_a = companion_hosts(a.kernels, kernel_names_);
    const std::vector<std::uint32_t> hosts_b = companion_hosts(b.kernels, kernel_names_);
    const std::vector<AlignedPair>& path = paths_.back();
    std::uint32_t host = kNoPartner;
    for (std::uint32_t i = 0; i < path.size(); ++i) {
      const bool ends_a = path[i].a != kNoPartner && hosts_a[path[i].a] != kNoPartner;
      const bool ends_b = path[i].b != kNoPartner && hosts_b[path[i].b] != kNoPartner;
      if (!ends_a && !ends_b) {
        host = i;
      } else if (path[i].a == kNoPartner || path[i].b == kNoPartner) {
        out_.segments.back().pairs[i].companion_of = host;
      }
    }
  }

  void add_layer(std::size_t position, std::int32_t layer, const LayerTemplate& a, const LayerTemplate& b) {
    AlignedSegment& segment = out_.segments[position];
    segment.layers.push_back(layer);
    segment.baseline_instances += a.instances;
    segment.candidate_instances += b.instances;
    segment.baseline_following += a.following;
    segment.candidate_following += b.following;
    const std::vector<AlignedPair>& path = paths_[position];
    for (std::size_t i = 0; i < path.size(); ++i) {
      KernelPair& pair = segment.pairs[i];
      PositionSums& sums = segment.positions.emplace_back();
      if (path[i].a != kNoPartner) add(pair.baseline, sums.baseline, a.kernels, path[i].a, baseline_.roles);
      if (path[i].b != kNoPartner) add(pair.candidate, sums.candidate, b.kernels, path[i].b, candidate_.roles);
    }
  }

  void share(const LayerTemplates& a, const LayerTemplates& b) {
    double both_a = 0, both_b = 0;
    for (const AlignedSegment& segment : out_.segments) {
      for (const KernelPair& pair : segment.pairs) {
        if (!segment.is_aligned(pair)) continue;
        both_a += static_cast<double>(pair.baseline.time);
        both_b += static_cast<double>(pair.candidate.time);
      }
    }
    for (const auto& [layer, of] : a) out_.baseline_time += static_cast<double>(of.time);
    for (const auto& [layer, of] : b) out_.candidate_time += static_cast<double>(of.time);
    out_.baseline_share = out_.baseline_time > 0 ? both_a / out_.baseline_time : 0;
    out_.candidate_share = out_.candidate_time > 0 ? both_b / out_.candidate_time : 0;
  }

  const ComparedTrace& baseline_;
  const ComparedTrace& candidate_;
  const StepGroup& group_;
  const KernelNameTable& kernel_names_;
  std::vector<std::vector<AlignedPair>> paths_;  // by segment
  GroupAlignment out_;
};

}  // namespace

GroupAlignment align_group(const ComparedTrace& baseline, const ComparedTrace& candidate, const StepGroup& group,
                           const KernelNameTable& kernel_names) {
  return Aligner(baseline, candidate, group, kernel_names).run();
}

bool comes_before(std::int32_t layer, std::int32_t other) {
  const auto rank = [](std::int32_t of) {
    return of == kHead ? std::pair(0, 0) : of >= 0 ? std::pair(1, of) : std::pair(of == kTail ? 2 : 3, 0);
  };
  return rank(layer) < rank(other);
}

}  // namespace tracedb
