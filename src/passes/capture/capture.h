// Finds the origins (operators, Python stacks, layers) of kernels of graph replays, which have none of their own, in a
// second trace: a run of the same model without graphs, or the trace in which the graphs were captured.
//
// A run without graphs: the kernels of a replayed step are matched with those of one of its steps by name and order
// (sequence match below), by full names or else by short names. A step with a whole layer more or less is another
// model.
//
// A capture: the calls that launch kernels between begin and end of a stream capture. They have no kernels there and so
// no names; the nth launch is the nth kernel of the replay. Accepted only if a run of captures has exactly as many
// launches as the graph launches of a step have kernels, and if kernels of one name were launched by operators of one
// name.
//
// Kernels below the match thresholds below get no origin.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "index/index.h"
#include "passes/layers/layer_sources.h"
#include "passes/layers/stack_table.h"
#include "passes/steps/step_set.h"

namespace tracedb {

inline constexpr double kLeastMatched = 0.8;    // of the kernels of a step, on both sides
inline constexpr double kLeastAgreement = 0.9;  // of the launches of a capture, with their kernels' usual operators

// Tokens of a kernel name as in the trace, and cut to its short name.
using NameTokens = std::array<std::uint32_t, 2>;
inline constexpr std::uint32_t kUnknownToken = UINT32_MAX;  // of a name that is in no table, or not in the capture
inline constexpr NameTokens kUnknownTokens = {kUnknownToken, kUnknownToken};

// What launched a kernel, by ids of the capture's index; 0: not known.
struct Launcher {
  std::uint32_t cpu_op = 0, stack = 0;
  std::int32_t layer = kNoLayer;
};

// A step's kernels, or the launches of one stream capture.
struct CaptureSequence {
  std::vector<std::uint32_t> name, short_name;  // tokens; empty for a stream capture
  std::vector<std::uint32_t> launcher;          // places in Capture::launchers
};

struct Capture {
  std::vector<Launcher> launchers;
  std::vector<CaptureSequence> steps, captures;
  LayerStacks stacks;                        // of the layers of launchers
  std::vector<std::uint32_t> operator_name;  // by id of cpu_op: id of its name
  std::unordered_map<std::string, std::uint32_t> tokens;
};

// Reads the capture. `traits` as of KernelClasses::traits().
Capture read_capture(const Index& index, const StepOptions& options, const std::vector<Traits>& traits);

// Launches outside of captures, and how many of them lack what they launched: the profiler lost it, or did not record
// the device when it ran. Calls of which none of the same name launches anything, as of host functions, do not count.
struct LostKernels {
  std::int64_t launches = 0, lost = 0;
  [[nodiscard]] double share() const {  // of the launches
    return launches > 0 ? static_cast<double>(lost) / static_cast<double>(launches) : 0;
  }
};
LostKernels lost_kernels(const Index& index, const EventTables& events);

// The capture of a run.
struct CaptureSource {
  const Index& index;
  Capture capture;
  std::string name;                // for messages: the file
  std::vector<std::string> notes;  // of opening it
};

// Where the kernels of graph replays come from.
struct ReplayOrigins {
  std::vector<std::uint32_t> launcher;   // by row of kernel: place in Capture::launchers + 1; 0: none
  std::size_t kernels = 0, matched = 0;  // of graph replays
  double share = 0;                      // of their time
  std::vector<std::string> notes;
};

ReplayOrigins match_capture(const Capture& capture, const Index& index, const EventTables& events,
                            const StepSet& steps);

CaptureLayers layers_of_origins(const Capture& capture, const ReplayOrigins& origins);  // by row of kernel

// Matches the elements of two sequences by equal tokens. Pure.
inline constexpr std::uint32_t kUnmatched = UINT32_MAX;

// By place in `a`: the place in `b` of its counterpart, or kUnmatched. No place of `b` is given twice.
//
// Where both have every token equally often, the nth one of a token in `a` is the nth in `b`: streams that run side by
// side may interleave otherwise in each. Else the longest common subsequence; what it leaves over of tokens that both
// have equally often is matched by rank too, as long as both are free. Sequences whose middles differ over more than
// `most_cells` (of a table: length times length) are matched in order at their common ends alone.
std::vector<std::uint32_t> match_sequences(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                                           std::size_t most_cells = std::size_t{1} << 25);

// How many elements they share at most, whatever their order.
std::size_t shared_elements(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);

}  // namespace tracedb
