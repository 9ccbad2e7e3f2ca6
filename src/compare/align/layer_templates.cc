#include "compare/align/layer_templates.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/unknown.h"

namespace tracedb {
namespace {

constexpr NameId kLaneEnd = UINT32_MAX;  // between the lanes of a key

// The kernels of a layer in one device step, in time order.
struct Sequence {
  std::vector<TemplateKernel> kernels;
  std::vector<std::uint32_t> streams;
  bool one_stream = true;

  void add(const TemplateKernel& kernel, std::uint32_t stream) {
    one_stream = one_stream && (streams.empty() || streams.front() == stream);
    kernels.push_back(kernel);
    streams.push_back(stream);
  }
  void clear() {
    kernels.clear();
    streams.clear();
    one_stream = true;
  }
};

// A sequence stream by stream, streams in the order of their kernels, so that neither their numbers nor which one
// starts first matters.
struct LaneOrder {
  std::vector<std::uint32_t> positions;  // into the sequence, lane after lane; empty: as they are, in one lane
  std::vector<NameId> key;               // equal for sequences whose lanes are
};

std::vector<std::vector<std::uint32_t>> lanes_of(const Sequence& sequence) {
  std::vector<std::uint32_t> streams;
  std::vector<std::vector<std::uint32_t>> lanes;
  for (std::uint32_t i = 0; i < sequence.kernels.size(); ++i) {
    const auto found = std::ranges::find(streams, sequence.streams[i]);
    const auto lane = static_cast<std::size_t>(found - streams.begin());
    if (found == streams.end()) {
      streams.push_back(sequence.streams[i]);
      lanes.emplace_back();
    }
    lanes[lane].push_back(i);
  }
  return lanes;
}

void lane_order(Sequence& sequence, LaneOrder& out) {
  out.positions.clear();
  out.key.clear();
  if (sequence.one_stream) {
    for (const TemplateKernel& kernel : sequence.kernels) out.key.push_back(kernel.name);
    return;
  }
  std::vector<std::vector<std::uint32_t>> lanes = lanes_of(sequence);
  const auto name = [&](std::uint32_t position) { return sequence.kernels[position].name; };
  std::ranges::stable_sort(lanes, [&](const auto& a, const auto& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [&](std::uint32_t x, std::uint32_t y) { return name(x) < name(y); });
  });
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    for (const std::uint32_t position : lanes[lane]) {
      sequence.kernels[position].lane = lane;
      out.positions.push_back(position);
      out.key.push_back(name(position));
    }
    out.key.push_back(kLaneEnd);
  }
}

struct NamesHash {
  std::size_t operator()(const std::vector<NameId>& names) const {
    std::uint64_t hash = names.size();
    for (const NameId name : names) hash = (hash ^ name) * 0x9e3779b97f4a7c15 + (hash >> 29);
    return hash;
  }
};

// In which order the kernels of several streams started where their lanes were first met: the same for all layers, so
// that layers with the same lanes have the same sequence.
using FirstOrders = std::unordered_map<std::vector<NameId>, std::vector<std::uint32_t>, NamesHash>;

void count(TemplateKernel& to, const TemplateKernel& more) {
  to.n += more.n;
  to.time = saturating_add(to.time, more.time);
  to.accounted = saturating_add(to.accounted, more.accounted);
  if (to.name != more.name) return;
  to.named_n += more.n;
  to.named_time = saturating_add(to.named_time, more.time);
}

// The instances of a layer with exactly the same kernels, each stream in the same order.
struct Variant {
  std::vector<TemplateKernel> kernels;
  std::vector<std::uint32_t> rank;  // of each lane after lane: its position in `kernels`; empty: the same
  std::int64_t instances = 0;
};

struct Variants {
  std::unordered_map<std::vector<NameId>, std::size_t, NamesHash> by_key;
  std::vector<Variant> all;  // in the order in which they first occur

  void add(const Sequence& sequence, const LaneOrder& order, FirstOrders& orders) {
    const auto [entry, is_new] = by_key.try_emplace(order.key, all.size());
    if (is_new) open(sequence, order, orders);
    Variant& variant = all[entry->second];
    ++variant.instances;
    const std::size_t kernels = sequence.kernels.size();
    for (std::size_t i = 0; i < kernels; ++i) {
      const std::size_t from = order.positions.empty() ? i : order.positions[i];
      const std::size_t to = order.positions.empty() ? i : variant.rank[i];
      count(variant.kernels[to], sequence.kernels[from]);
    }
  }

 private:
  void open(const Sequence& sequence, const LaneOrder& order, FirstOrders& orders) {
    Variant variant;
    if (!order.positions.empty()) variant.rank = orders.try_emplace(order.key, order.positions).first->second;
    variant.kernels.resize(sequence.kernels.size());
    for (std::size_t i = 0; i < sequence.kernels.size(); ++i) {
      const std::size_t from = order.positions.empty() ? i : order.positions[i];
      TemplateKernel& kernel = variant.kernels[order.positions.empty() ? i : variant.rank[i]];
      kernel = sequence.kernels[from];
      kernel.n = kernel.time = kernel.accounted = 0;
    }
    all.push_back(std::move(variant));
  }
};

// Cuts device steps into the sequences of their layers.
class Cutter {
 public:
  Cutter(const ComparedTrace& trace, bool whole)
      : trace_(trace),
        whole_(whole),
        names_(trace.events.kernels.ids("name_id")),
        streams_(trace.events.kernels.ids("stream_id")),
        kinds_(trace.events.kernels.ids("kind")),
        dur_(trace.events.kernels.int64s("dur")) {}

  void add(const DeviceStep& step, std::map<std::int32_t, Variants>& variants) {
    for (const std::uint32_t row : trace_.work.kernels(step)) {
      Sequence& sequence = open(whole_ ? kNoLayer : trace_.layers.of_kernel[row]);
      const Work work = work_of_kernel(kinds_[row]);
      const std::int64_t time = duration_or_zero(dur_[row]);
      sequence.add(
          {trace_.name(names_[row]), 0, work, row, 1, time, accounted_time(work, time, trace_.work.kernel_own[row])},
          streams_[row]);
    }
    for (const std::int32_t layer : opened_) {
      Sequence& sequence = sequences_[slot(layer)];
      lane_order(sequence, order_);
      variants[layer].add(sequence, order_, orders_);
      sequence.clear();
    }
    opened_.clear();
  }

 private:
  static std::size_t slot(std::int32_t layer) { return static_cast<std::size_t>(layer - kTail); }  // kTail: the least

  Sequence& open(std::int32_t layer) {
    const std::size_t position = slot(layer);
    if (position >= sequences_.size()) sequences_.resize(position + 1);
    if (sequences_[position].kernels.empty()) opened_.push_back(layer);
    return sequences_[position];
  }

  const ComparedTrace& trace_;
  bool whole_;
  std::span<const std::uint32_t> names_, streams_, kinds_;
  std::span<const std::int64_t> dur_;
  std::vector<Sequence> sequences_;
  std::vector<std::int32_t> opened_;
  LaneOrder order_;
  FirstOrders orders_;
};

// Without an alignment, which would take too long: the n-th of a name to the n-th, others to the end.
std::vector<AlignedPair> pairs_by_name(std::span<const TemplateKernel> a, std::span<const TemplateKernel> b) {
  std::unordered_map<NameId, std::vector<std::uint32_t>> positions;
  for (auto i = static_cast<std::uint32_t>(b.size()); i-- > 0;) positions[b[i].name].push_back(i);
  std::vector<bool> taken(b.size(), false);
  std::vector<AlignedPair> pairs;
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    std::vector<std::uint32_t>& of_name = positions[a[i].name];
    pairs.push_back({i, of_name.empty() ? kNoPartner : of_name.back()});
    if (of_name.empty()) continue;
    taken[of_name.back()] = true;
    of_name.pop_back();
  }
  for (std::uint32_t i = 0; i < b.size(); ++i) {
    if (!taken[i]) pairs.push_back({kNoPartner, i});
  }
  return pairs;
}

// Counts the kernels of a variant at the positions of the template that they correspond to, or at new ones. A lane of
// the variant has the number of a kernel that both have, else a new one.
void merge(std::vector<TemplateKernel>& usual, std::span<const TemplateKernel> variant,
           const std::vector<AlignedPair>& pairs) {
  std::unordered_map<std::uint32_t, std::uint32_t> lanes;
  std::uint32_t next = 0;
  for (const TemplateKernel& kernel : usual) next = std::max(next, kernel.lane + 1);
  for (const AlignedPair& pair : pairs) {
    if (pair.a != kNoPartner && pair.b != kNoPartner) lanes.try_emplace(variant[pair.b].lane, usual[pair.a].lane);
  }
  std::vector<TemplateKernel> out;
  out.reserve(pairs.size());
  for (const AlignedPair& pair : pairs) {
    out.push_back(pair.a != kNoPartner ? usual[pair.a] : variant[pair.b]);
    if (pair.a == kNoPartner) {
      const auto [lane, is_new] = lanes.try_emplace(out.back().lane, next);
      if (is_new) ++next;
      out.back().lane = lane->second;
    } else if (pair.b != kNoPartner) {
      count(out.back(), variant[pair.b]);
    }
  }
  usual = std::move(out);
}

constexpr std::size_t kMostVariantCells = 20'000'000;  // of all alignments of a group's variants
constexpr std::size_t kUsualBand = 512;                // most alignments need no more than this beside the diagonal

LayerTemplate make_template(Variants& variants, const KernelNameTable& kernel_names, std::size_t& cells) {
  const auto usual = std::ranges::max_element(variants.all, {}, &Variant::instances);
  LayerTemplate out;
  out.following = usual->instances;
  out.kernels = std::move(usual->kernels);
  for (const Variant& variant : variants.all) {
    out.instances += variant.instances;
    if (&variant == &*usual) continue;
    cells += variant.kernels.size() * std::min(out.kernels.size(), kUsualBand);
    merge(out.kernels, variant.kernels,
          cells <= kMostVariantCells ? align_positions(out.kernels, variant.kernels, kernel_names)
                                     : pairs_by_name(out.kernels, variant.kernels));
  }
  for (const TemplateKernel& kernel : out.kernels) out.time = saturating_add(out.time, kernel.time);
  return out;
}

}  // namespace

LayerTemplates layer_templates(const ComparedTrace& trace, const GroupSide& group, const KernelNameTable& kernel_names,
                               bool whole) {
  std::map<std::int32_t, Variants> variants;
  Cutter cutter(trace, whole);
  for (const std::uint32_t step : group.device_steps) cutter.add(trace.work.steps[step], variants);
  LayerTemplates out;
  std::size_t cells = 0;
  for (auto& [layer, all] : variants) out.emplace(layer, make_template(all, kernel_names, cells));
  return out;
}

}  // namespace tracedb
