#include "passes/roles/layer_roles.h"

#include <algorithm>

namespace tracedb {
namespace {

// Percent. All landmarks are there; one is missing; there are several readings, and this is the usual one.
constexpr std::uint8_t kSure = 90, kLikely = 80, kUsual = 60;
constexpr std::uint8_t kByModule = 10;  // more, where a module says what kind of work a kernel is

bool moves_experts(const MarkedKernel& kernel) {
  return kernel.mark == Mark::kRouting || kernel.mark == Mark::kExperts || kernel.mark == Mark::kCombine;
}

bool mixes(const MarkedKernel& kernel) { return kernel.mark == Mark::kMixer || kernel.mark == Mark::kSsm; }

}  // namespace

KernelRole role_of_mark(const MarkedKernel& kernel) {
  if (kernel.named != Role::kNone) return {kernel.named, RoleSource::kModules, 100};
  constexpr std::pair<Mark, Role> kRoles[] = {
      {Mark::kMixer, Role::kAttention},   {Mark::kSsm, Role::kSsm},
      {Mark::kRouting, Role::kRouting},   {Mark::kExperts, Role::kExperts},
      {Mark::kCombine, Role::kCombine},   {Mark::kRope, Role::kRope},
      {Mark::kKvCache, Role::kKvCache},   {Mark::kEmbedding, Role::kEmbedding},
      {Mark::kSampling, Role::kSampling},
  };
  const auto* const found = std::ranges::find(kRoles, kernel.mark, &std::pair<Mark, Role>::first);
  return found == std::end(kRoles) ? KernelRole{} : KernelRole{found->second, RoleSource::kClass, kSure};
}

namespace {

// One layer, head or tail.
class LayerRoles {
 public:
  explicit LayerRoles(std::span<const MarkedKernel> kernels)
      : kernels_(kernels.begin(), kernels.end()), separate_norm_(kernels.size()) {
    for (const MarkedKernel& kernel : kernels) out_.push_back(role_of_mark(kernel));
    join_norms();
  }

  std::vector<KernelRole> of_layer(bool is_first) {
    find_separate_norms();
    find_attention_in_parts();
    find_mixers();
    if (!mixers_.empty()) {
      into_attention({0, mixers_.front().from}, is_first ? Role::kEmbeddingComm : Role::kMlpComm);
      for (std::size_t m = 1; m < mixers_.size(); ++m) {
        const Range between{mixers_[m - 1].to, mixers_[m].from};
        const std::size_t out = out_of_attention(between);
        if (out > between.from) into_attention({out, between.to}, Role::kAttentionComm);
      }
      const Range rest{mixers_.back().to, kernels_.size()};
      const std::size_t out = out_of_attention(rest);
      mlp({out, rest.to}, out > rest.from);
    }
    end();
    return std::move(out_);
  }

  std::vector<KernelRole> of_head() {
    claim_all({find_role(0, Role::kEmbedding), kernels_.size()}, Mark::kComm, Role::kEmbeddingComm, kSure);
    end();
    return std::move(out_);
  }

  std::vector<KernelRole> of_tail(bool is_language) {
    const Range all{0, kernels_.size()};
    const std::size_t norm = find_mark(all, Mark::kNorm);
    const std::vector<std::size_t> outputs = products({0, all.to}, ModulePart::kLogits);
    const std::size_t first = outputs.empty() ? all.to : outputs.front();
    if (norm < first) {
      claim(norm, Role::kFinalNorm, kSure);
      name_residual({0, norm}, kLikely);
    }
    if (is_language && outputs.size() == 1 && norm < first) claim(first, Role::kLmHead, kSure);
    const Range behind{find_role(first, Role::kLmHead), all.to};
    claim_all(behind, Mark::kComm, Role::kLmHeadComm, kSure);
    claim_all(behind, Mark::kReduce, Role::kSampling, kLikely);
    claim_all(behind, Mark::kSoftmax, Role::kSampling, kLikely);
    end();
    return std::move(out_);
  }

 private:
  struct Range {
    std::size_t from = 0, to = 0;
  };

  [[nodiscard]] bool is(std::size_t at, Mark mark) const { return kernels_[at].mark == mark; }

  [[nodiscard]] bool is_norm(std::size_t at) const {
    return kernels_[at].mark == Mark::kNorm || kernels_[at].normalises || separate_norm_[at];
  }

  template <class Predicate>
  [[nodiscard]] std::size_t find(Range range, Predicate predicate) const {
    std::size_t at = range.from;
    while (at < range.to && !predicate(at)) ++at;
    return at;
  }

  [[nodiscard]] std::size_t find_mark(Range range, Mark mark) const {
    return find(range, [&](std::size_t at) { return is(at, mark); });
  }

  [[nodiscard]] std::size_t find_role(std::size_t from, Role role) const {
    return find({from, kernels_.size()}, [&](std::size_t at) { return out_[at].role == role; });
  }

  [[nodiscard]] std::size_t find_norm(Range range) const {
    return find(range, [&](std::size_t at) { return is_norm(at); });
  }

  [[nodiscard]] std::vector<std::size_t> products(Range range, ModulePart part) const {
    std::vector<std::size_t> out;
    for (std::size_t at = range.from; at < range.to; ++at) {
      const ModulePart own = kernels_[at].part;
      if (is(at, Mark::kProduct) && (own == ModulePart::kUnknown || own == part)) out.push_back(at);
    }
    return out;
  }

  void claim(std::size_t at, Role role, std::uint8_t confidence) {
    if (out_[at].role != Role::kNone) return;
    const bool by_module = kernels_[at].part != ModulePart::kUnknown;
    out_[at] = {role, by_module ? RoleSource::kModules : RoleSource::kOrder,
                static_cast<std::uint8_t>(std::min(99, confidence + (by_module ? kByModule : 0)))};
  }

  void claim_all(Range range, Mark mark, Role role, std::uint8_t confidence) {
    for (std::size_t at = range.from; at < range.to; ++at) {
      if (is(at, mark)) claim(at, role, confidence);
    }
  }

  // What a norm's module launches is the norm, unless one of its kernels is: then the others add or quantise.
  void join_norms() {
    for (std::size_t from = 0; from < kernels_.size(); ++from) {
      std::size_t to = from;
      bool has_norm = false;
      for (; to < kernels_.size() && kernels_[to].in_norm; ++to) has_norm = has_norm || is_norm(to);
      for (std::size_t at = from; at < to && !has_norm; ++at) {
        if (!is(at, Mark::kProduct) && !is(at, Mark::kComm)) kernels_[at].mark = Mark::kNorm;
      }
      from = std::max(from, to);
    }
  }

  // A mean between single steps, as frameworks write a norm without a kernel for it. It separates what is around it;
  // which kernels belong to it cannot be seen.
  void find_separate_norms() {
    const auto is_step = [&](std::size_t at) { return is(at, Mark::kElementwise); };
    for (std::size_t at = 1; at + 2 < kernels_.size(); ++at) {
      separate_norm_[at] = is(at, Mark::kReduce) && is_step(at - 1) && is_step(at + 1) && is_step(at + 2);
    }
  }

  // The two products around a softmax, where no kernel does all of attention. They follow a projection of the same
  // norm, which the product before the softmax of a router does not.
  void find_attention_in_parts() {
    if (std::ranges::any_of(kernels_, mixes)) return;
    for (std::size_t softmax = 0; softmax < kernels_.size(); ++softmax) {
      if (!is(softmax, Mark::kSoftmax)) continue;
      std::vector<std::size_t> before;
      for (std::size_t at = softmax; at-- > 0 && !is_norm(at) && before.size() < 2;) {
        if (is(at, Mark::kProduct)) before.push_back(at);
      }
      const std::size_t after =
          find({softmax, kernels_.size()}, [&](std::size_t at) { return is(at, Mark::kProduct) || is_norm(at); });
      if (before.size() < 2 || after == kernels_.size() || is_norm(after)) continue;
      if (kernels_[before[0]].linear || kernels_[after].linear) continue;
      for (std::size_t at = before[0]; at <= after; ++at) {
        if (is(at, Mark::kOther) || is(at, Mark::kCompanion)) continue;
        claim(at, Role::kAttention, kLikely);
        kernels_[at].mark = Mark::kMixer;
      }
    }
  }

  // Mixers that are not separated by other work of a layer are one run: a prefill and a decode part, a split and its
  // sum.
  void find_mixers() {
    constexpr int kManyProducts = 3;
    bool separated = true;
    int products = 0;
    for (std::size_t at = 0; at < kernels_.size(); ++at) {
      if (mixes(kernels_[at])) {
        if (separated) mixers_.push_back({at, at});
        mixers_.back().to = at + 1;
        separated = false;
        products = 0;
        continue;
      }
      products += is(at, Mark::kProduct) ? 1 : 0;
      separated = separated || is_norm(at) || is(at, Mark::kActivation) || moves_experts(kernels_[at]) ||
                  products >= kManyProducts;
    }
  }

  // Norm and products before attention; communication there is that of the work before.
  void into_attention(Range range, Role comm) {
    std::vector<std::size_t> inputs = products(range, ModulePart::kAttention);
    const std::size_t norm = find_norm(range);
    if (!inputs.empty() && norm < inputs.back()) std::erase_if(inputs, [&](std::size_t at) { return at < norm; });
    const std::size_t first = inputs.empty() ? range.to : inputs.front();
    claim_all({range.from, first}, Mark::kComm, comm, kLikely);
    claim_all({range.from, first}, Mark::kNorm, Role::kInputNorm, kSure);
    if (norm < first && is(norm, Mark::kNorm)) name_residual({range.from, norm}, kLikely);
    const bool is_attention = range.to < kernels_.size() && is(range.to, Mark::kMixer);
    if (inputs.empty() || !is_attention) return;
    name_inputs(inputs);
    claim_all({inputs.back(), range.to}, Mark::kNorm, Role::kQkNorm, kSure);
  }

  void name_inputs(const std::vector<std::size_t>& inputs) {
    constexpr std::size_t kMostInputs = 4;  // of latent attention: two down and two up
    const bool together = find_norm({inputs.front(), inputs.back()}) == inputs.back();
    if (inputs.size() == 1) return claim(inputs[0], Role::kQkvProj, kSure);
    if (inputs.size() == 3 && together && kernels_[inputs[1]].name == kernels_[inputs[2]].name) {
      claim(inputs[0], Role::kQProj, kLikely);
      claim(inputs[1], Role::kKProj, kLikely);
      return claim(inputs[2], Role::kVProj, kLikely);
    }
    if (inputs.size() > kMostInputs) return;
    for (const std::size_t at : inputs) claim(at, Role::kQkvProj, kUsual);
  }

  // Where the output of attention ends: the begin of the range if nothing shows it.
  std::size_t out_of_attention(Range range) {
    const std::size_t first = find_mark(range, Mark::kProduct);
    std::size_t end = find({first, range.to}, [&](std::size_t at) { return is_norm(at) || is(at, Mark::kComm); });
    if (end == range.to) {
      end = range.from;
      for (std::size_t at = range.from; at < range.to; ++at) {
        if (kernels_[at].part == ModulePart::kAttention) end = at + 1;
      }
    }
    if (end == range.from || !is(range.from - 1, Mark::kMixer)) return end;
    const std::vector<std::size_t> outputs = products({range.from, end}, ModulePart::kAttention);
    if (outputs.size() != 1) return end;
    claim(outputs[0], Role::kOProj, kSure);
    name_residual({outputs[0], end}, kLikely);
    return end;
  }

  // One elementwise kernel before the norm.
  void name_residual(Range range, std::uint8_t confidence) {
    std::size_t only = range.to, count = 0;
    for (std::size_t at = range.from; at < range.to; ++at) {
      if (is(at, Mark::kElementwise)) only = at, ++count;
    }
    if (count == 1) claim(only, Role::kResidual, confidence);
  }

  // Between the output of attention and the MLP.
  void into_mlp(Range range) {
    if (range.from < range.to && is(range.from, Mark::kComm)) name_residual({range.from, find_norm(range)}, kLikely);
    claim_all(range, Mark::kComm, Role::kAttentionComm, kSure);
    claim_all(range, Mark::kNorm, Role::kPostAttentionNorm, kSure);
  }

  void mlp(Range range, bool is_delimited) {
    const std::size_t routing = find(range, [&](std::size_t at) { return moves_experts(kernels_[at]); });
    const std::size_t work = find_mark({range.from, routing}, Mark::kProduct);
    if (is_delimited) into_mlp({range.from, work});
    if (routing < range.to) {
      experts(range, routing);
    } else {
      dense_mlp({work, range.to}, is_delimited);
    }
  }

  void dense_mlp(Range range, bool is_delimited) {
    std::vector<std::size_t> all = products(range, ModulePart::kMlp);
    if (all.empty()) return;
    const std::size_t stop = find_norm({all.front() + 1, range.to});
    std::erase_if(all, [&](std::size_t at) { return at > stop; });
    const std::size_t activation = find({all.front() + 1, stop}, [&](std::size_t at) {
      return is(at, Mark::kActivation) && kernels_[at].part != ModulePart::kAttention;
    });
    const std::size_t down = name_dense(all, activation < stop ? activation : kernels_.size(), is_delimited);
    if (down == kernels_.size()) return;
    claim_all({all.front(), down}, Mark::kActivation, Role::kActivation, kSure);
    claim_all({activation + 1, down}, Mark::kElementwise, Role::kActivation, kUsual);
    behind_mlp({down + 1, range.to});
  }

  // The product that is `down`; behind all kernels: none.
  std::size_t name_dense(const std::vector<std::size_t>& all, std::size_t activation, bool is_delimited) {
    const std::size_t none = kernels_.size();
    const std::uint8_t sure = is_delimited ? kSure : kUsual;
    if (activation == none) {
      if (!is_delimited || all.size() != 2) return none;
      claim(all[0], Role::kGateUp, kUsual);
      claim(all[1], Role::kDown, kUsual);
      return all[1];
    }
    const auto before = static_cast<std::size_t>(std::ranges::lower_bound(all, activation) - all.begin());
    const std::size_t after = all.size() - before;
    claim(all[before - 1], Role::kGateUp, before == 1 ? sure : kUsual);
    const bool is_pair = before == 2 && kernels_[all[0]].name == kernels_[all[1]].name;  // gate and up apart
    if (is_pair) claim(all[0], Role::kGateUp, kUsual);
    if (after == 1) {
      claim(all[before], Role::kDown, sure);
      return all[before];
    }
    // The gate, its activation, up, the product of both, down.
    const bool is_gated = after == 2 && before == 1 && find_mark({all[1], all[2]}, Mark::kElementwise) < all[2];
    if (!is_gated) return none;
    claim(all[1], Role::kGateUp, is_delimited ? kLikely : kUsual);
    claim(all[2], Role::kDown, is_delimited ? kLikely : kUsual);
    return all[2];
  }

  void experts(Range range, std::size_t first_routing) {
    const std::vector<std::size_t> before = products({range.from, first_routing}, ModulePart::kMlp);
    if (before.size() == 1) claim(before[0], Role::kRouter, kSure);
    shared_experts(range);
    std::size_t last = first_routing;
    for (std::size_t at = range.from; at < range.to; ++at) {
      if (moves_experts(kernels_[at])) last = at;
    }
    claim_all(range, Mark::kActivation, Role::kActivation, kLikely);
    claim_all({last + 1, range.to}, Mark::kComm, Role::kMlpComm, kSure);
    behind_mlp({last + 1, range.to});
  }

  // Two products that have no role yet, with an activation between them.
  void shared_experts(Range range) {
    std::vector<std::size_t> free = products(range, ModulePart::kMlp);
    std::erase_if(free, [&](std::size_t at) { return out_[at].role != Role::kNone; });
    if (free.size() != 2 || find_mark({free[0], free[1]}, Mark::kActivation) == free[1]) return;
    for (const std::size_t at : free) claim(at, Role::kSharedExperts, kUsual);
  }

  void behind_mlp(Range range) {
    const std::size_t end = find_mark(range, Mark::kProduct);  // of what follows, which has norms of its own
    claim_all({range.from, end}, Mark::kComm, Role::kMlpComm, kSure);
    if (end != range.to) return;
    claim_all(range, Mark::kNorm, Role::kPostMlpNorm, kLikely);
    name_residual({range.from, find_norm(range)}, kUsual);
  }

  void end() {
    for (std::size_t at = 1; at < kernels_.size(); ++at) {
      if (!is(at, Mark::kCompanion) || out_[at].role != Role::kNone) continue;
      std::size_t host = at - 1;
      while (host > 0 && is(host, Mark::kComm)) --host;
      const Mark mark = kernels_[host].mark;
      const bool ends =
          mark == Mark::kProduct || mark == Mark::kExperts || mark == Mark::kCompanion || mixes(kernels_[host]);
      if (ends) out_[at] = out_[host];
    }
  }

  std::vector<MarkedKernel> kernels_;
  std::vector<bool> separate_norm_;  // a norm in several kernels stands here
  std::vector<Range> mixers_;        // first and one behind the last
  std::vector<KernelRole> out_;
};

}  // namespace

std::vector<KernelRole> roles_of_layer(std::span<const MarkedKernel> kernels, bool is_first) {
  return LayerRoles(kernels).of_layer(is_first);
}

std::vector<KernelRole> roles_of_head(std::span<const MarkedKernel> kernels) { return LayerRoles(kernels).of_head(); }

std::vector<KernelRole> roles_of_tail(std::span<const MarkedKernel> kernels, bool is_language) {
  return LayerRoles(kernels).of_tail(is_language);
}

}  // namespace tracedb
