// One trace, summed up for comparisons of sets of runs: what each part of its steps takes, in some kilobytes in place
// of the kernels. Pure but for RollUpCache.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compare/runs/set_comparison.h"
#include "compare/steps/step_groups.h"
#include "compare/trace/compared_trace.h"
#include "index/index.h"

namespace tracedb {

// Names a part of the time of a step, from fine to coarse: kernels of a class with a role, "[idle]".
struct RollUpPart {
  std::string op, family;  // class and its family (kernel_name_table.h); what is not of kernels has no family
  std::string detail;      // role; of kernels of no known class their name
};

// Steps of a kind, or those of them of one batch size, or of either those that another kind follows. Sums over its
// usual steps (step_groups.h), of means over the devices of a step.
struct RollUpGroup {
  std::string kind, batch;         // "decode", "decode to prefill", "32..63 requests"; batch "": all steps of the kind
  std::int64_t matched_steps = 0;  // all of them
  bool by_period = false;          // `sums` are of periods; else until the next step begins
  bool load_known = false;
  WorkFacts work;
  std::vector<std::pair<std::int64_t, double>> devices;  // by number: its mean span
  std::vector<RollUpPart> parts;
  RunSums sums;  // its parts as `parts`
};

double attention_share(const RollUpGroup& group);  // of its kernel time

struct RollUp {
  std::string gpu, framework, world_size;  // "": not known
  std::string recording;                   // what slows the host (recording.h)
  std::int64_t date_ns = 0;                // of its first event, since the epoch; 0: not known
  std::vector<RollUpGroup> groups;
};

// Of a trace of `index`, by itself: its kernels are named by their own table.
RollUp roll_up(const Index& index, const ComparedTrace& trace, const KernelNameTable& kernel_names);

std::string to_text(const RollUp& roll_up);
// nullopt: it is damaged, or of another version.
std::optional<RollUp> roll_up_of(std::string_view text);

// Roll-ups that have been made before, a file each in the cache directory. What a file does not wholly hold, and what
// cannot be read or written, counts as not there.
class RollUpCache {
 public:
  explicit RollUpCache(const std::filesystem::path& directory);  // may be empty: then nothing is kept

  // Now, for a process that may make none later.
  void make_folder() const;

  // Of the trace of an index by these rules; kept where they are the built-in ones and steps have no pattern.
  [[nodiscard]] RollUp of(const Index& index, const StepOptions& options, const RuleSet& rules, bool built_in) const;

 private:
  std::filesystem::path directory_;
};

}  // namespace tracedb
