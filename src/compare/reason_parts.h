// The rows of a group's ledger as parts that one cause may explain: where in the layers an operation changed, and which
// of its roles did. Pure.
#pragma once

#include <vector>

#include "compare/reasons.h"

namespace tracedb {

// The part of a ledger row in one layer, in the head, in the tail or in no layer.
struct LayerPart : CountedChange {
  std::int32_t layer = 0;
};

// One reason for each part of a row: for layers that changed otherwise than most, for those of an operation that moved
// against each other, for head or tail where they changed otherwise than the layers, and for the rest. They add up to
// `whole`. `least`: ns; smaller parts are none of their own.
std::vector<Reason> split_by_place(const GroupComparison& group, const Reason& whole,
                                   const std::vector<LayerPart>& parts, double least);

// The roles that changed most of what an operation did, in order of size; those that changed the other way, or little,
// are left out. Empty where the kernels at its place do not add up to it (some are in a fusion), or have no role.
std::vector<RoleChange> changes_by_role(const GroupComparison& group, const KernelNameTable& kernel_names,
                                        const Reason& reason);

// An operation whose members moved against each other: the row of its ledger as two parts, what got slower and what got
// faster, each named by the role, operator or kernels that it is of. Pure.
struct MemberPart {
  Reason reason;                  // `member` says which
  std::vector<LayerPart> layers;  // where it is; they need not add up to the nanosecond
};

// They add up to `whole`. Empty where nothing moved against the rest by `least` ns or more, where the members of one
// trace are not those of the other, or where kernels of the operation are in a fusion.
std::vector<MemberPart> split_by_member(const GroupComparison& group, const KernelNameTable& kernel_names,
                                        const Reason& whole, double least);

// All kernels as one reason, where their names do not tell them apart.
Reason all_kernels(const LedgerAccount& account);

}  // namespace tracedb
