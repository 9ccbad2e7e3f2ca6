#include "passes/layers/layer_forms.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace tracedb {
namespace {

constexpr double kAlikeDifference = 0.15;

std::uint64_t mixed(Traits traits) {
  std::uint64_t value = (traits + 1) * 0x9e3779b97f4a7c15;
  value ^= value >> 29;
  return value * 0xbf58476d1ce4e5b9;
}

// Of the kernels, whatever their order.
std::uint64_t hash_of(std::span<const Traits> kernels) {
  std::uint64_t sum = kernels.size();
  for (const Traits traits : kernels) sum += mixed(traits);
  return sum;
}

LayerForm form_of(std::span<const Traits> kernels) {
  std::map<Traits, std::uint32_t> counts;
  LayerForm form;
  for (const Traits traits : kernels) {
    ++counts[traits];
    form.products += (traits & kGemmTrait) != 0 ? 1 : 0;
  }
  form.counts.assign(counts.begin(), counts.end());
  form.kernels = kernels.size();
  return form;
}

}  // namespace

double difference(const LayerForm& a, const LayerForm& b) {
  if (a.kernels + b.kernels == 0) return 0;
  std::size_t apart = 0;
  auto x = a.counts.begin();
  auto y = b.counts.begin();
  while (x != a.counts.end() || y != b.counts.end()) {
    if (y == b.counts.end() || (x != a.counts.end() && x->first < y->first)) {
      apart += (x++)->second;
    } else if (x == a.counts.end() || y->first < x->first) {
      apart += (y++)->second;
    } else {
      apart += std::max(x->second, y->second) - std::min(x->second, y->second);
      ++x, ++y;
    }
  }
  return static_cast<double>(apart) / static_cast<double>(a.kernels + b.kernels);
}

LayerForms::LayerForms(std::span<const Traits> sequence, std::span<const LayerMixers> layers) {
  std::unordered_map<std::uint64_t, std::size_t> known;  // by hash
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    const std::size_t begin = layers[i].run.last + 1;
    const auto kernels = sequence.subspan(begin, layers[i + 1].run.first - begin);
    const auto [entry, is_new] = known.try_emplace(hash_of(kernels), 0);
    if (is_new) {
      LayerForm form = form_of(kernels);
      const auto like = std::find_if(forms_.begin(), forms_.end(),
                                     [&](const LayerForm& each) { return difference(each, form) <= kAlikeDifference; });
      entry->second = static_cast<std::size_t>(like - forms_.begin());
      constexpr std::size_t kMostForms = 64;  // a sequence with more has no rhythm
      if (like == forms_.end() && forms_.size() == kMostForms) entry->second = kMostForms - 1;
      if (like == forms_.end() && forms_.size() < kMostForms) forms_.push_back(std::move(form));
    }
    class_.push_back(entry->second);
  }
}

std::size_t LayerForms::usual(std::size_t from, std::size_t to) const {
  std::vector<std::size_t> counts(forms_.size());
  for (std::size_t i = from; i < to; ++i) ++counts[class_[i]];
  return static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

}  // namespace tracedb
