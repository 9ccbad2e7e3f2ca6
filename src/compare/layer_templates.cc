#include "compare/layer_templates.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "passes/group_stats.h"

namespace tracedb {
namespace {

// The runs of a layer that have the very same kernels in the same order.
struct Variant {
  std::vector<TemplateKernel> kernels;
  std::int64_t instances = 0;
};

struct Sequence {
  std::vector<NameId> names;
  std::vector<std::int64_t> times;
  std::vector<std::uint32_t> rows;
  void clear() {
    names.clear();
    times.clear();
    rows.clear();
  }
};

struct NamesHash {
  std::size_t operator()(const std::vector<NameId>& names) const {
    std::uint64_t hash = names.size();
    for (const NameId name : names) hash = (hash ^ name) * 0x9e3779b97f4a7c15 + (hash >> 29);
    return hash;
  }
};

struct Variants {
  std::unordered_map<std::vector<NameId>, std::size_t, NamesHash> by_names;
  std::vector<Variant> all;  // in the order in which they first occur

  void add(const Sequence& sequence) {
    const auto [entry, is_new] = by_names.try_emplace(sequence.names, all.size());
    if (is_new) {
      all.emplace_back();
      for (std::size_t i = 0; i < sequence.names.size(); ++i) {
        all.back().kernels.push_back({sequence.names[i], 0, 0, sequence.rows[i]});
      }
    }
    Variant& variant = all[entry->second];
    ++variant.instances;
    for (std::size_t i = 0; i < sequence.names.size(); ++i) {
      ++variant.kernels[i].n;
      variant.kernels[i].time = bounded_add(variant.kernels[i].time, sequence.times[i]);
    }
  }
};

// Cuts runs into the sequences of their layers.
class Cutter {
 public:
  Cutter(const Side& side, bool whole)
      : side_(side),
        whole_(whole),
        names_(side.events.kernels.ids("name_id")),
        dur_(side.events.kernels.times("dur")) {}

  void add(const Run& run, std::map<std::int32_t, Variants>& variants) {
    for (std::size_t i = run.begin; i < run.end; ++i) {
      const std::uint32_t row = side_.kernel_rows[i];
      Sequence& sequence = open(whole_ ? kNoLayer : side_.layers.of_kernel[row]);
      sequence.names.push_back(side_.name(names_[row]));
      sequence.times.push_back(counted_time(dur_[row]));
      sequence.rows.push_back(row);
    }
    for (const std::int32_t layer : opened_) {
      variants[layer].add(sequences_[slot(layer)]);
      sequences_[slot(layer)].clear();
    }
    opened_.clear();
  }

 private:
  static std::size_t slot(std::int32_t layer) { return static_cast<std::size_t>(layer - kTail); }  // kTail: the least

  Sequence& open(std::int32_t layer) {
    const std::size_t place = slot(layer);
    if (place >= sequences_.size()) sequences_.resize(place + 1);
    if (sequences_[place].names.empty()) opened_.push_back(layer);
    return sequences_[place];
  }

  const Side& side_;
  bool whole_;
  std::span<const std::uint32_t> names_;
  std::span<const std::int64_t> dur_;
  std::vector<Sequence> sequences_;
  std::vector<std::int32_t> opened_;
};

// Counts the kernels of a variant at the places of the template that they correspond to.
void place(const Variant& variant, const std::vector<RoleUse>& usual, const Vocabulary& vocabulary,
           LayerTemplate& out) {
  const Roles roles = make_roles(usual, role_uses(variant.kernels), vocabulary);
  for (const AlignedPair& pair : align_sequences(roles.a, roles.b, roles.costs)) {
    if (pair.a == kNoPartner || pair.b == kNoPartner) continue;
    const TemplateKernel& kernel = variant.kernels[pair.b];
    out.kernels[pair.a].n += kernel.n;
    out.kernels[pair.a].time = bounded_add(out.kernels[pair.a].time, kernel.time);
  }
}

constexpr std::size_t kMostCells = 20'000'000;  // of all alignments of a group's variants

LayerTemplate make_template(Variants& variants, const Vocabulary& vocabulary, std::size_t& cells) {
  const auto usual = std::max_element(variants.all.begin(), variants.all.end(),
                                      [](const Variant& a, const Variant& b) { return a.instances < b.instances; });
  LayerTemplate out;
  std::vector<RoleUse> uses;
  if (variants.all.size() > 1) uses = role_uses(usual->kernels);
  out.kernels = std::move(usual->kernels);
  out.following = usual->instances;
  for (const TemplateKernel& kernel : out.kernels) out.time = bounded_add(out.time, kernel.time);
  for (const Variant& variant : variants.all) {
    out.instances += variant.instances;
    if (&variant == &*usual) continue;
    for (const TemplateKernel& kernel : variant.kernels) out.time = bounded_add(out.time, kernel.time);
    cells += variant.kernels.size() * uses.size();
    if (cells <= kMostCells) place(variant, uses, vocabulary, out);
  }
  return out;
}

}  // namespace

std::vector<RoleUse> role_uses(std::span<const TemplateKernel> kernels) {
  std::vector<RoleUse> uses;
  for (const TemplateKernel& kernel : kernels) {
    uses.push_back({kernel.name, kernel.n > 0 ? static_cast<double>(kernel.time) / static_cast<double>(kernel.n) : 0});
  }
  return uses;
}

LayerTemplates layer_templates(const Side& side, const GroupSide& group, const Vocabulary& vocabulary, bool whole) {
  std::map<std::int32_t, Variants> variants;
  Cutter cutter(side, whole);
  for (const std::uint32_t run : group.runs) cutter.add(side.runs[run], variants);
  LayerTemplates out;
  std::size_t cells = 0;
  for (auto& [layer, all] : variants) out.emplace(layer, make_template(all, vocabulary, cells));
  return out;
}

}  // namespace tracedb
