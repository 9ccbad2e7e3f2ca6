// Kernel time by call path, for tools that draw flame graphs: as folded stacks, one line a path, and as a file of
// speedscope. The times of all lines add up to the kernel time of the selection, to the nanosecond: kernels without a
// stack, and those none of whose frames is looked at, have a line of their own.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "passes/stacks/stack_times.h"

namespace tracedb {

struct FoldedStack {
  std::vector<std::uint32_t> frames;  // from the outermost; places in the names
  std::int64_t time = 0;              // ns, of what was launched at the very end of the path
};

struct FoldedStacks {
  std::vector<std::string> names;  // as in the trace
  std::vector<FoldedStack> stacks;
};

FoldedStacks folded_stacks(const StackTimes& times, Frames which);

// "frame;frame;frame time". A semicolon within a frame becomes a comma, and no text is interpreted by a terminal.
void write_folded(std::ostream& out, const FoldedStacks& stacks);
// "frame;frame;frame baseline candidate" for each path of either, in order of the paths: as difffolded.pl writes them
// and flamegraph.pl reads them.
void write_folded_difference(std::ostream& out, const FoldedStacks& baseline, const FoldedStacks& candidate);

struct SpeedscopeProfile {
  std::string name;  // of the trace
  const FoldedStacks& stacks;
  bool cycles = false;  // its times are cycles, which that format has no unit for; else ns
};
// The JSON of https://www.speedscope.app/file-format-schema.json, with a profile for each trace.
void write_speedscope(std::ostream& out, std::string_view name, std::span<const SpeedscopeProfile> profiles);

}  // namespace tracedb
