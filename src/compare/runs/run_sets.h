// Two sets of runs, phase by phase: which steps of which runs are compared, and into which parts their time is divided.
// Pure.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/runs/roll_up.h"
#include "compare/runs/set_comparison.h"

namespace tracedb {

// One execution of a job; the unit of all statistics. Its ranks are means within it.
struct Run {
  std::string name;  // no other run of its side has it
  std::vector<RollUp> ranks;
};
using RunsOfSides = std::array<std::vector<Run>, 2>;  // baseline, candidate

struct RunPhase {
  std::string label;       // "decode", "prefill 4096..8191 tokens", "decode to prefill"
  bool by_period = false;  // times are from step to step; else from a step's start to its end, or the next one's start
  std::string load;        // what its load counts: "requests", "tokens"; "": it is not known
  std::size_t runs = 0, of = 0;  // how many runs have such steps, of all
  PhaseRuns sums;
};

struct RunSetOptions {
  bool paired = false;
  bool different_work = false;  // other work is compared as if it were the same
  std::function<bool(std::string_view label, std::string_view kind)> wanted;
};

// By the time of both sides, longest first; behind them those of steps that another kind follows. Steps of one kind are
// one phase if all runs have the same mix of batch sizes, else one for each batch size that both sides have. `paired`:
// runs of equal place.
std::vector<RunPhase> phases_of(const RunsOfSides& sides, const RunSetOptions& options);

// How the runs of a side differ in what runs of one job share: "GPU: NVIDIA H100 (a and 1 more), NVIDIA A100 (c)"; "":
// they do not. `text` of a run: "" where it does not say.
struct RunTrait {
  std::string_view name;  // "GPU"
  std::string (*text)(const Run& run);
  bool of_work = false;  // else of what does it
};
extern const std::array<RunTrait, 6> kRunTraits;  // GPU, framework, world size, model or architecture, layers
std::string differences_within(const std::vector<Run>& side, const RunTrait& trait);

}  // namespace tracedb
