// What a profile measured: its kernels, summed by type, and by shapes of the inputs where that is asked for.
//
// Some profiles have a collective twice, on a stream of the hardware and on one of the host's ("N/A"): duplicates count
// once, with the longer duration. Kernels of the AI CPU ("*AicpuKernel") work beside others and are left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ascend/model_side.h"
#include "index/index.h"

namespace tracedb {

enum class DuplicateRule {
  kWindow,    // start within a window, on another stream, and are not named as different ones
  kTruncate,  // start within the same microsecond, as msmodeling has it
  kName,      // have the same name and overlap in time
  kNone,      // are none
};

struct DuplicatePolicy {
  DuplicateRule rule = DuplicateRule::kWindow;
  std::int64_t window_ns = 500;
};
std::optional<DuplicatePolicy> duplicate_policy_from(
    std::string_view text);  // "window=500ns", "trunc-us", "name", "none"

struct ProfileTotal {
  std::int64_t ns = 0;
  std::int64_t count = 0;
};

struct ProfileSide {
  std::map<OperatorKey, ProfileTotal> totals;
  std::int64_t kernels = 0;  // rows of the profile, those below included
  std::int64_t duplicates = 0, duplicate_ns = 0;
  std::int64_t aicpu = 0, aicpu_ns = 0;
  std::int64_t unknown_durations = 0;  // counted with 0 ns
  std::int64_t busy_ns = 0;            // length of the union of what is counted
};

ProfileSide read_profile_side(const Index& index, KeyBy key, const DuplicatePolicy& policy);

// Sums the kernels of a profile, wherever they come from; see ProfileSide for what is one kernel and what is left
// out.
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

// A profile that is a CSV table of kernels: kernel_details.csv and op_summary_*.csv of Ascend's profilers, told by
// their columns, not by their names. Read front to back, without an index.

// Whether the file begins with the heads of such a table. Throws Error{kInput} where it cannot be read.
bool is_profile_table(const std::filesystem::path& path);

struct ProfileTable {
  ProfileSide side;
  std::map<std::string, std::int64_t> problems;  // what was wrong with rows, and with how many
};
// Durations that are no number are unknown, as are starts; rows without type and name are skipped.
ProfileTable read_profile_table(const std::filesystem::path& path, KeyBy key, const DuplicatePolicy& policy);

}  // namespace tracedb
