#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/text/characters.h"
#include "base/unknown.h"
#include "compare/wafer/comparison.h"

namespace tracedb::wafer {
namespace {

// A kernel's place in its layer, comparable: the operation above the position.
struct Placed {
  std::uint64_t place = 0;
  const Kernel* kernel = nullptr;
};
using Layers = std::vector<std::vector<Placed>>;

struct SideView {
  const Trace& trace;
  std::vector<std::uint32_t> op;  // by name; position in Alignment::ops
  std::vector<bool> cuts;         // by name: begins a layer
};

bool cuts_layer(const std::string& lower, Side side) {
  const bool attention = contains(lower, "attention");
  if (side == Side::kFirst) return attention && (contains(lower, "2d") || contains(lower, "3d"));
  return attention || contains(lower, "fmha");
}

std::vector<std::string> all_ops(const Trace& first, const Trace& second) {
  std::vector<std::string> ops;
  for (const Trace* trace : {&first, &second}) {
    for (const KernelName& name : trace->names) ops.push_back(name.side_op);
  }
  std::ranges::sort(ops);
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
  return ops;
}

SideView view_of(const Trace& trace, Side side, const std::vector<std::string>& ops) {
  SideView view{trace, {}, {}};
  for (const KernelName& name : trace.names) {
    const auto found = std::ranges::lower_bound(ops, name.side_op);
    view.op.push_back(static_cast<std::uint32_t>(found - ops.begin()));
    view.cuts.push_back(cuts_layer(name.lower, side));
  }
  return view;
}

std::span<const Kernel> kernels_within(const Trace& trace, const Pass& pass) {
  const auto begin = std::ranges::lower_bound(trace.kernels, pass.begin, {}, &Kernel::ts);
  const auto end = std::ranges::upper_bound(begin, trace.kernels.end(), pass.end, {}, &Kernel::ts);
  return {begin, end};
}

// Appends the kernels of a pass to their layers.
void place_pass(const SideView& view, std::span<const Kernel> kernels, Layers& layers) {
  const auto is_cut = [&](const Kernel& kernel) { return view.cuts[kernel.name]; };
  const auto first_cut = std::ranges::find_if(kernels, is_cut);
  const bool whole = first_cut == kernels.end();
  std::size_t layer = 0;
  std::uint64_t position = 0;
  for (auto kernel = whole ? kernels.begin() : first_cut; kernel != kernels.end(); ++kernel) {
    if (kernel != first_cut && is_cut(*kernel)) {
      ++layer;
      position = 0;
    }
    if (layer >= layers.size()) layers.resize(layer + 1);
    layers[layer].push_back({std::uint64_t{view.op[kernel->name]} << 32 | position, &*kernel});
    ++position;
  }
}

struct PlacedTrace {
  Layers layers;
  PassCounts passes;  // with kernels
};

PlacedTrace place_kernels(const SideView& view) {
  PlacedTrace placed;
  const auto add = [&](std::span<const Kernel> kernels, Phase phase) {
    if (kernels.empty()) return;
    place_pass(view, kernels, placed.layers);
    ++placed.passes.all;
    ++(phase == Phase::kPrefill ? placed.passes.prefill : placed.passes.decode);
  };
  if (view.trace.passes.empty()) add(view.trace.kernels, Phase::kDecode);
  for (const Pass& pass : view.trace.passes) add(kernels_within(view.trace, pass), pass.phase);
  return placed;
}

// The kernels at one place after the other; `counts` is zero for all names, before and after.
PairSide take_place(std::span<const Placed>& rest, std::uint64_t place, std::vector<std::uint32_t>& counts) {
  PairSide side;
  std::size_t n = 0;
  for (; n < rest.size() && rest[n].place == place; ++n) {
    ++side.count;
    side.total = saturating_add(side.total, rest[n].kernel->dur);
    ++counts[rest[n].kernel->name];
  }
  std::uint32_t most = 0;
  for (const Placed& placed : rest.first(n)) {
    std::uint32_t& count = counts[placed.kernel->name];
    if (count > most) side.name = placed.kernel->name;
    most = std::max(most, count);
    count = 0;
  }
  rest = rest.subspan(n);
  return side;
}

using Counts = std::vector<std::uint32_t>;  // of kernels, by name; all 0 between two layers

AlignedLayer pair_layer(std::vector<Placed>& first, std::vector<Placed>& second, Counts& first_counts,
                        Counts& second_counts) {
  std::ranges::stable_sort(first, {}, &Placed::place);
  std::ranges::stable_sort(second, {}, &Placed::place);
  std::span<const Placed> a = first;
  std::span<const Placed> b = second;
  AlignedLayer layer;
  while (!a.empty() || !b.empty()) {
    const std::uint64_t place = b.empty()   ? a.front().place
                                : a.empty() ? b.front().place
                                            : std::min(a.front().place, b.front().place);
    const KernelPair pair{static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(place >> 32),
                          take_place(a, place, first_counts), take_place(b, place, second_counts)};
    layer.first_total = saturating_add(layer.first_total, pair.first.total);
    layer.second_total = saturating_add(layer.second_total, pair.second.total);
    layer.pairs.push_back(pair);
  }
  return layer;
}

constexpr std::array<std::string_view, 4> kKindNames = {"", "has_fused_kernel", "one_sided", "count_ratio"};
constexpr double kUnevenCounts = 1.5;

// On one side only, they are no sign of fusion.
constexpr std::array<std::string_view, 6> kNeverFused = {
    "Attention (Prefill)", "Attention (Decode)", "Dense GEMM", "KV Cache", "MoE GEMM", "MoE Routing"};

struct Detail {
  const char* part;
  std::string_view detail;
};
constexpr std::array<Detail, 4> kDetails = {{{"qkv", "QKV"}, {"out", "O"}, {"up", "FFN_up"}, {"down", "FFN_down"}}};

FusionNote one_sided_note(Side has, const std::string& op) {
  if (contains(op, "+")) return {NoteKind::kHasFusedKernel, has, 0};
  if (std::ranges::find(kNeverFused, op) != kNeverFused.end()) return {};
  return {NoteKind::kOneSided, other(has), 0};
}

}  // namespace

Alignment align(const Trace& first, const Trace& second) {
  Alignment alignment;
  alignment.ops = all_ops(first, second);
  PlacedTrace a = place_kernels(view_of(first, Side::kFirst, alignment.ops));
  PlacedTrace b = place_kernels(view_of(second, Side::kSecond, alignment.ops));
  if (a.passes.all == 0 || b.passes.all == 0) return alignment;
  alignment.passes = a.passes;
  const std::size_t layers = std::max(a.layers.size(), b.layers.size());
  a.layers.resize(layers);
  b.layers.resize(layers);
  Counts first_counts(first.names.size()), second_counts(second.names.size());
  for (std::size_t i = 0; i < layers; ++i) {
    alignment.layers.push_back(pair_layer(a.layers[i], b.layers[i], first_counts, second_counts));
  }
  return alignment;
}

std::string_view to_string(NoteKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

FusionNote fusion_note(const KernelPair& pair, const std::string& op) {
  if (pair.first.count == 0 || pair.second.count == 0) {
    return one_sided_note(pair.second.count == 0 ? Side::kFirst : Side::kSecond, op);
  }
  const auto [fewer, more] = std::minmax(pair.first.count, pair.second.count);
  const double ratio = static_cast<double>(more) / static_cast<double>(fewer);
  if (ratio <= kUnevenCounts) return {};
  return {NoteKind::kCountRatio, pair.first.count < pair.second.count ? Side::kFirst : Side::kSecond, ratio};
}

std::string_view operation_detail(const std::string& op, const std::string& first_name,
                                  const std::string& second_name) {
  if (op != "Dense GEMM") return {};
  for (const Detail& detail : kDetails) {
    if (contains(first_name, detail.part) || contains(second_name, detail.part)) return detail.detail;
  }
  return {};
}

bool is_same_kernel(const KernelPair& pair, const Trace& first, const Trace& second) {
  if (pair.first.name == kNoName || pair.second.name == kNoName) return false;
  const std::string& name = first.names[pair.first.name].text;
  return !name.empty() && name == second.names[pair.second.name].text;
}

double ratio_of(const KernelPair& pair) {
  const double second = mean(pair.second.total, pair.second.count);
  return second == 0 ? std::numeric_limits<double>::infinity() : mean(pair.first.total, pair.first.count) / second;
}

SameKernels find_same_kernels(const Alignment& alignment, const Trace& first, const Trace& second) {
  SameKernels same;
  double sum = 0;
  std::int64_t finite = 0;
  for (std::size_t layer = 0; layer < alignment.layers.size(); ++layer) {
    for (const KernelPair& pair : alignment.layers[layer].pairs) {
      if (!is_same_kernel(pair, first, second)) continue;
      same.kernels.push_back({layer, pair});
      const double ratio = ratio_of(pair);
      if (ratio < 1) ++same.first_faster;
      if (ratio > 1) ++same.second_faster;
      if (!std::isfinite(ratio)) continue;
      sum += ratio;
      ++finite;
    }
  }
  if (finite > 0) same.average_ratio = sum / static_cast<double>(finite);
  return same;
}

}  // namespace tracedb::wafer
