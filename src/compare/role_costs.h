// The cost of pairing two kernels in an alignment: zero for the same kernel, low for the same class, higher for classes
// that share a part. Other pairs are never made.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compare/sequence_alignment.h"
#include "compare/vocabulary.h"

namespace tracedb {

// A kernel of either sequence and its mean time, in ns.
struct RoleUse {
  NameId name = 0;
  double time = 0;
};

// With more different kernels than this in two sequences only the same ones are paired: the costs of all pairs would
// take too much memory.
inline constexpr std::size_t kMostLikeRoles = 2000;

// Sequences of names as sequences of roles, and the costs between those. Roles are numbered by name, so that nothing
// depends on which side is which.
struct Roles {
  std::vector<std::uint32_t> a, b;
  AlignmentCosts costs;
};
Roles make_roles(std::span<const RoleUse> a, std::span<const RoleUse> b, const Vocabulary& vocabulary);

// How alike two classes are.
enum class Likeness { kNone, kPart, kSame };
Likeness likeness(std::string_view op_a, std::string_view op_b);

}  // namespace tracedb
