#include "passes/layers/layers.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tracedb {
namespace {

bool alike(Traits a, Traits b) { return (a & b) != 0; }

class Cutter {
 public:
  Cutter(std::span<const Traits> sequence, std::vector<MixerRun> runs) : sequence_(sequence), runs_(std::move(runs)) {}

  LayerCuts cut() {
    const std::size_t lead = lead_of_mixers();
    LayerCuts cuts;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      cuts.begin.push_back(begin_of(i == 0 ? 0 : runs_[i - 1].last + 1, runs_[i].first, lead));
    }
    cuts.tail = end_of_last(cuts.begin);
    for (std::size_t i = 1; i < runs_.size(); ++i) cuts.begin[i] = with_addition(cuts.begin[i]);
    cuts.tail = with_addition(cuts.tail);
    return cuts;
  }

 private:
  [[nodiscard]] bool is_norm(std::size_t i) const { return (sequence_[i] & kNormTrait) != 0; }

  // How many kernels of a layer come before its mixers.
  [[nodiscard]] std::size_t lead_of_mixers() const {
    std::size_t lead = 0;
    // The first layer may differ from the others in its norm; the second and third then agree.
    for (std::size_t i = 0; i + 1 < runs_.size() && i < 3 && lead == 0; ++i) lead = common_lead(i, i + 1);
    return lead;
  }

  [[nodiscard]] std::size_t common_lead(std::size_t one, std::size_t other) const {
    const std::size_t room = std::min(runs_[one].first - (one == 0 ? 0 : runs_[one - 1].last + 1),
                                      runs_[other].first - runs_[other - 1].last - 1);
    std::size_t common = 0;
    while (common < room &&
           alike(sequence_[runs_[one].first - common - 1], sequence_[runs_[other].first - common - 1])) {
      ++common;
    }
    if (one > 0 && common == room) return nearest_lead(other);  // whole layers are alike: nothing to tell them apart
    for (std::size_t lead = common; lead > 0; --lead) {
      if (is_norm(runs_[other].first - lead)) return lead;
    }
    return 0;
  }

  // From the norm before the last products before the mixers.
  [[nodiscard]] std::size_t nearest_lead(std::size_t run) const {
    bool product = false;
    for (std::size_t i = runs_[run].first; i > runs_[run - 1].last + 1; --i) {
      if ((sequence_[i - 1] & kGemmTrait) != 0) product = true;
      if (product && is_norm(i - 1)) return runs_[run].first - (i - 1);
    }
    return 0;
  }

  [[nodiscard]] std::size_t with_addition(std::size_t norm) const {
    const bool fits = norm > 1 && norm < sequence_.size() && is_norm(norm) && sequence_[norm - 1] == kElementwiseTrait;
    return fits ? norm - 1 : norm;
  }

  // The norm in [from, mixer) whose distance from the mixer is nearest to the lead; without one, the lead itself.
  [[nodiscard]] std::size_t begin_of(std::size_t from, std::size_t mixer, std::size_t lead) const {
    const std::size_t wanted = mixer - std::min(lead, mixer - from);
    return nearest_norm(from, mixer, wanted).value_or(wanted);
  }

  [[nodiscard]] std::optional<std::size_t> nearest_norm(std::size_t from, std::size_t to, std::size_t wanted) const {
    constexpr std::size_t kReach = 8;
    for (std::size_t away = 0; away <= kReach; ++away) {
      if (wanted >= from + away && wanted - away < to && is_norm(wanted - away)) return wanted - away;
      if (wanted + away < to && is_norm(wanted + away)) return wanted + away;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::size_t end_of_last(const std::vector<std::size_t>& begin) const {
    std::vector<std::size_t> behind;  // kernels from the mixers to the next layer
    for (std::size_t i = 0; i + 1 < runs_.size(); ++i) behind.push_back(begin[i + 1] - runs_[i].last);
    // The last layers tell best: the first ones of some models have no experts.
    const std::size_t half = behind.size() / 2;
    std::sort(behind.begin() + static_cast<std::ptrdiff_t>(half), behind.end());
    const std::size_t usual = behind[half + (behind.size() - half) / 2];
    const std::size_t wanted = runs_.back().last + usual;
    if (wanted >= sequence_.size()) return sequence_.size();
    return nearest_norm(runs_.back().last + 1 + usual / 2, sequence_.size(), wanted).value_or(wanted);
  }

  std::span<const Traits> sequence_;
  std::vector<MixerRun> runs_;
};

}  // namespace

LayerCuts layer_cuts(std::span<const Traits> sequence) { return layer_cuts(sequence, mixer_runs(sequence)); }

LayerCuts layer_cuts(std::span<const Traits> sequence, std::vector<MixerRun> runs) {
  if (runs.size() < 2) return {};
  return Cutter(sequence, std::move(runs)).cut();
}

std::vector<std::size_t> pass_begins(std::span<const Traits> sequence, const std::vector<MixerRun>& runs) {
  std::vector<std::size_t> begins = {0};
  for (std::size_t r = 0; r + 1 < runs.size(); ++r) {
    std::optional<std::size_t> begin;
    for (std::size_t i = runs[r].last + 1; i < runs[r + 1].first; ++i) {
      if ((sequence[i] & kSamplingTrait) != 0) begin = i + 1;
      if ((sequence[i] & kEmbeddingTrait) == 0) continue;
      begin = i;
      break;
    }
    if (begin) begins.push_back(*begin);
  }
  // An embedding in every layer is part of the layer.
  if (begins.size() * 2 > runs.size()) begins.resize(1);
  return begins;
}

std::string_view to_string(Architecture architecture) {
  constexpr std::string_view kNames[] = {"unknown",
                                         "transformer",
                                         "transformer, MoE",
                                         "SSM",
                                         "SSM, MoE",
                                         "hybrid (attention and SSM)",
                                         "hybrid (attention and SSM), MoE",
                                         "convolutional"};
  return kNames[static_cast<std::size_t>(architecture)];
}

Architecture architecture_of(std::span<const ClassTime> times) {
  double total = 0, attention = 0, ssm = 0, moe = 0, convolution = 0;
  for (const ClassTime& entry : times) {
    if (entry.traits == kCommunicationTrait) continue;  // much of it waits for other ranks
    const auto time = static_cast<double>(entry.time);
    total += time;
    attention += (entry.traits & kAttentionTrait) != 0 ? time : 0;
    ssm += (entry.traits & kSsmTrait) != 0 ? time : 0;
    moe += (entry.traits & kMoeTrait) != 0 ? time : 0;
    convolution += (entry.traits & kConvolutionTrait) != 0 ? time : 0;
  }
  // A name that says so by chance holds little time, and less than the model's real mixers.
  const double least = 0.005 * total;
  const bool has_attention = attention > least && attention * 50 > ssm;
  const bool has_ssm = ssm > least && ssm * 50 > attention;
  const bool has_moe = moe > 0.02 * total;
  if (has_attention && has_ssm) return has_moe ? Architecture::kMoeHybrid : Architecture::kHybrid;
  if (has_attention) return has_moe ? Architecture::kMoeTransformer : Architecture::kTransformer;
  if (has_ssm) return has_moe ? Architecture::kMoeSsm : Architecture::kSsm;
  return convolution > 0.1 * total ? Architecture::kConvolutional : Architecture::kUnknown;
}

}  // namespace tracedb
