// How long the critical path of a trace's steps would be if kernels of theirs took other times: what a reason brings
// alone, where other work or the host may hide it (passes/critical/critical_path.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "compare/trace/compared_trace.h"

namespace tracedb {

// That kernels of computation, all by one factor, take less time in a device step.
struct PathQuestion {
  std::span<const std::uint32_t> device_steps;
  std::function<bool(NameId, std::int32_t layer)> is_of;  // layer: as in LayerSet
  double less = 0;                                        // ns a device step; below 0: more
};

struct PathWithout {
  double length = 0, without = 0;  // ns a step, of the path as it was and as it would be; means over at most 32 steps
  bool is_lower_bound = false;     // `without` is: a delay that it needs was never observed
  bool is_upper_bound = false;     // `without` is: what is waited for is not known in much of it, and stays as it was
  bool is_inferred = false;        // the path rests, in part, on what is not recorded
};

// All at once, since each call reads all that devices and hosts did. nullopt: such kernels do not take as much, the
// steps run on several devices, which may have changed differently, or overlap, as the host is a step or more ahead.
std::vector<std::optional<PathWithout>> step_paths(const Index& index, const ComparedTrace& trace,
                                                   std::span<const PathQuestion> questions);

}  // namespace tracedb
