#include "compare/role_costs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "passes/classify/kernel_traits.h"

namespace tracedb {
namespace {

constexpr std::uint16_t kSameShortName = 5;
constexpr std::uint16_t kSameClass = 20;
constexpr std::uint16_t kMostByTime = 20;  // for taking much longer or shorter
constexpr std::uint16_t kSharedPart = 70;
constexpr double kLeastGap = 60, kGapByTime = 40, kMostGap = 200;

struct Role {
  NameId name = 0;
  double time = 0;      // the longer of both sides' means
  double relative = 0;  // to its side's mean
  std::size_t op = 0;   // place in Likenesses
  [[nodiscard]] std::uint16_t gap() const {
    return static_cast<std::uint16_t>(std::min(kMostGap, kLeastGap + kGapByTime * relative));
  }
};

// Of every two classes of the roles, so that it is not worked out for every two roles.
class Likenesses {
 public:
  Likenesses(std::vector<Role>& roles, const Vocabulary& vocabulary) {
    std::map<OpId, std::size_t> places;
    std::vector<OpId> ops;
    for (Role& role : roles) {
      const auto [entry, is_new] = places.try_emplace(vocabulary.op_of(role.name), ops.size());
      if (is_new) ops.push_back(entry->first);
      role.op = entry->second;
    }
    classes_ = ops.size();
    for (const OpId a : ops) {
      for (const OpId b : ops) all_.push_back(likeness(vocabulary.op_name(a), vocabulary.op_name(b)));
    }
  }
  [[nodiscard]] Likeness of(const Role& a, const Role& b) const { return all_[a.op * classes_ + b.op]; }

 private:
  std::size_t classes_ = 0;
  std::vector<Likeness> all_;
};

double mean_time(std::span<const RoleUse> sequence) {
  double sum = 0;
  for (const RoleUse& use : sequence) sum += use.time;
  return sequence.empty() ? 0 : sum / static_cast<double>(sequence.size());
}

std::uint16_t pair_cost(const Role& a, const Role& b, const Likenesses& likenesses, const Vocabulary& vocabulary) {
  if (a.name == b.name) return 0;
  // Not less than this, or a kernel would rather stand alone beside one like it than keep its equal: an inserted kernel
  // must shift nothing.
  const int least = std::abs(int{a.gap()} - int{b.gap()}) + 1;
  const KernelTerm& first = vocabulary.names()[a.name];
  const KernelTerm& second = vocabulary.names()[b.name];
  int cost = kSameShortName;
  if (first.op != second.op || first.short_name.empty() || first.short_name != second.short_name) {
    const Likeness like = likenesses.of(a, b);
    if (like == Likeness::kNone) return kNeverPaired;
    const double apart = a.relative > 0 && b.relative > 0 ? std::abs(std::log2(a.relative / b.relative)) : 0;
    cost = (like == Likeness::kSame ? kSameClass : kSharedPart) +
           static_cast<int>(std::min<double>(kMostByTime, 5 * apart));
  }
  return static_cast<std::uint16_t>(std::max(cost, least));
}

}  // namespace

Likeness likeness(std::string_view op_a, std::string_view op_b) {
  if (op_a == op_b) return Likeness::kSame;
  const Traits a = traits_of_class(op_a);
  const Traits b = traits_of_class(op_b);
  constexpr Traits kHow = kPrefillTrait | kDecodeTrait;
  // Attention of prompts, of new tokens and of neither in particular are one operation.
  if ((a & ~kHow) == (b & ~kHow) && (a & kAttentionTrait) != 0) return Likeness::kSame;
  if ((a & kGemmTrait) != 0 && (b & kGemmTrait) != 0) return Likeness::kPart;
  for (const std::string_view part : op_parts(op_a)) {
    const auto others = op_parts(op_b);
    if (std::find(others.begin(), others.end(), part) != others.end()) return Likeness::kPart;
  }
  return Likeness::kNone;
}

Roles make_roles(std::span<const RoleUse> a, std::span<const RoleUse> b, const Vocabulary& vocabulary) {
  const auto by_text = [&](NameId x, NameId y) { return vocabulary.names()[x].name < vocabulary.names()[y].name; };
  std::map<NameId, Role, decltype(by_text)> known(by_text);
  for (const auto sequence : {a, b}) {
    const double mean = mean_time(sequence);
    for (const RoleUse& use : sequence) {
      Role& role = known[use.name];
      role.name = use.name;
      role.time = std::max(role.time, use.time);
      role.relative = std::max(role.relative, mean > 0 ? use.time / mean : 0);
    }
  }
  std::map<NameId, std::uint32_t> number;
  std::vector<Role> roles;
  for (const auto& [name, role] : known) {
    number[name] = static_cast<std::uint32_t>(roles.size());
    roles.push_back(role);
  }
  Roles out;
  out.costs.roles = roles.size();
  for (const Role& role : roles) out.costs.gap.push_back(role.gap());
  if (roles.size() <= kMostLikeRoles) {
    const Likenesses likenesses(roles, vocabulary);
    for (const Role& role : roles) {
      for (const Role& other : roles) out.costs.pair.push_back(pair_cost(role, other, likenesses, vocabulary));
    }
  }
  for (const RoleUse& use : a) out.a.push_back(number[use.name]);
  for (const RoleUse& use : b) out.b.push_back(number[use.name]);
  return out;
}

}  // namespace tracedb
