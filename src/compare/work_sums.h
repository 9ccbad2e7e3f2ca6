// The device work of one side of a group, summed once; every section of a comparison rolls it up. Pure, linear.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "compare/align/alignment.h"
#include "compare/steps/step_groups.h"
#include "compare/trace/compared_trace.h"
#include "compare/trace/kernel_name_table.h"

namespace tracedb {

// Chooses how finely operation classes and roles are shown in a comparison: at the finest level that both traces have.
// Pure.
//
// A class that only one trace has, or whose kernels are aligned with kernels of another class of its family, is shown
// as that family (kernel_name_table.h) for both traces, so that rows pair up. A companion counts as the class of its
// host.

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

// Times in ns, sums over the device steps of a group.
struct WorkSum {
  std::int64_t n = 0;     // events
  std::int64_t time = 0;  // of durations, at most 2^63 - 1
  std::int64_t own = 0;   // of exclusive times: adds up to elapsed time
  void add(const WorkSum& other);
  [[nodiscard]] std::int64_t accounted(Work work) const { return accounted_time(work, time, own); }
};

// Of the events of one kernel name in one layer (kHead, kTail, kNoLayer as of stack_table.h) with one role, launched by
// one operator, that count as one kind of work.
struct WorkCell {
  std::int32_t layer = 0;
  NameId name = 0;
  Work work = Work::kCompute;
  WorkSum sum;
  Role role = Role::kNone;
  std::string_view launcher = {};  // the operator that launched them, of RecordedWork::operators; "": not known
};

struct GroupWork {
  std::vector<WorkCell> cells;  // in the order in which they first occur
  // Sums of durations of an operation, of a layer, in each step that has some, in order; the mean over its devices.
  std::map<OpId, std::vector<std::int64_t>> op_times;
  std::map<std::int32_t, std::vector<std::int64_t>> layer_times;
  std::int64_t device_steps = 0, steps = 0;
  // As DeviceStep has them.
  std::int64_t taken = 0, idle = 0, other = 0, between = 0, between_other = 0, at_once = 0, shared = 0;
  std::int64_t rare = 0;  // by which rare steps make the mean step longer, times device_steps
  PeriodSums periods;
  HostWaits waits;
};

// Operations at the levels given.
GroupWork sum_work(const ComparedTrace& trace, const GroupSide& group, const KernelNameTable& kernel_names,
                   const ClassLevels& levels = {});

}  // namespace tracedb
