// Sums the kernels of a profile, wherever they come from; see profile_side.h for what is one kernel and what is left
// out.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ascend/profile_side.h"

namespace tracedb {

class ProfileSums {
 public:
  struct Task {
    std::string name, shapes;
  };
  struct Kernel {
    std::uint32_t type = 0;  // as named by name_type()
    std::uint32_t task = 0;  // as described by describe_task(); 0: nothing is known
    std::uint32_t stream = 0;
    std::optional<std::int64_t> start;  // ns; unknown: the kernel is never a duplicate
    std::optional<std::int64_t> ns;
  };

  // `base_ns`: what to add to times for those of the profile's own clock.
  ProfileSums(KeyBy key, const DuplicatePolicy& policy, std::int64_t base_ns)
      : key_(key), policy_(policy), base_ns_(base_ns) {}

  void name_type(std::uint32_t id, std::string name) { types_[id] = std::move(name); }
  void describe_task(std::uint32_t id, Task task) { tasks_[id] = std::move(task); }
  void add(const Kernel& kernel);
  // Call once, after all.
  ProfileSide finish();

 private:
  struct Collective {
    std::uint32_t type;
    std::int64_t start, ns;
    std::uint32_t stream;
    std::uint32_t task;
  };
  // Collectives that are one.
  struct Group {
    const Collective* first;
    std::int64_t ns;  // of the longest
    std::int64_t end;
    std::vector<std::uint32_t> streams;
  };

  [[nodiscard]] const Task& task_of(std::uint32_t id) const;
  void count(std::uint32_t type, std::uint32_t task, std::int64_t ns);
  void merge();
  void close(const Group& group);
  [[nodiscard]] bool is_duplicate(const Group& group, const Collective& next) const;
  [[nodiscard]] bool is_past(const Group& group, const Collective& next) const;
  [[nodiscard]] bool named_apart(const Collective& a, const Collective& b) const;
  [[nodiscard]] std::int64_t microsecond_of(const Collective& collective) const;
  std::int64_t busy();

  KeyBy key_;
  DuplicatePolicy policy_;
  std::int64_t base_ns_;
  ProfileSide side_;
  std::unordered_map<std::uint32_t, std::string> types_;
  std::unordered_map<std::uint32_t, Task> tasks_;
  std::unordered_map<std::uint64_t, ProfileTotal*> places_;  // by type and task
  std::vector<Collective> collectives_;
  std::vector<std::pair<std::int64_t, std::int64_t>> intervals_;
};

}  // namespace tracedb
