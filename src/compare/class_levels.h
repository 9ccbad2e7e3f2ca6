// Chooses how finely operation classes and roles are shown in a comparison: at the finest level that both traces have.
// Pure.
//
// A class that only one trace has, or whose kernels are aligned with kernels of another class of its family, is shown
// as that family (kernel_name_table.h) for both traces, so that rows pair up. A companion counts as the class of its
// host.
#pragma once

#include <set>
#include <vector>

#include "compare/align/alignment.h"
#include "compare/steps/step_groups.h"
#include "compare/trace/compared_trace.h"
#include "compare/trace/kernel_name_table.h"

namespace tracedb {

class ClassLevels {
 public:
  ClassLevels() = default;  // all classes as they are
  // From the classes that each side has (classes_of()).
  ClassLevels(const std::set<OpId>& baseline, const std::set<OpId>& candidate, const GroupAlignment& alignment,
              const KernelNameTable& kernel_names);

  // All classes as their families: for figures that are compared with those of another trace later on.
  static ClassLevels coarsest(const KernelNameTable& kernel_names);

  // The class as which kernels of a name are shown.
  [[nodiscard]] OpId op_of(NameId name, const KernelNameTable& kernel_names) const {
    return of_name_.empty() ? kernel_names.op_of(name) : of_name_[name];
  }

 private:
  std::vector<OpId> of_name_;
};

// Roles: where one trace has queries, keys and values apart and the other together, all are `qkv_proj`.
class RoleLevels {
 public:
  RoleLevels() = default;  // all roles as they are
  // From the roles that each side has.
  RoleLevels(const std::set<Role>& baseline, const std::set<Role>& candidate);

  [[nodiscard]] Role of(Role role) const {
    return coarse_.contains(info_of(role).family) ? info_of(role).family : role;
  }

 private:
  std::set<Role> coarse_;  // families
};

// The classes of the kernels of a group's side; classes that only companions have are left out.
std::set<OpId> classes_of(const ComparedTrace& trace, const GroupSide& group, const KernelNameTable& kernel_names);

}  // namespace tracedb
