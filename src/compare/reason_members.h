// An operation whose members moved against each other: the row of its ledger as two parts, what got slower and what got
// faster, each named by the role, operator or kernels that it is of. Pure.
#pragma once

#include <utility>
#include <vector>

#include "compare/reason_parts.h"

namespace tracedb {

struct MemberPart {
  Reason reason;                  // `member` says which
  std::vector<LayerPart> layers;  // where it is; they need not add up to the nanosecond
};

// They add up to `whole`. Empty where nothing moved against the rest by `least` ns or more, where the members of one
// trace are not those of the other, or where kernels of the operation are in a fusion.
std::vector<MemberPart> split_by_member(const GroupComparison& group, const KernelNameTable& kernel_names,
                                        const Reason& whole, double least);

// All kernels as one reason, where their names do not tell them apart.
Reason all_kernels(const GroupComparison& group, const LedgerAccount& account);

}  // namespace tracedb
