// The traces that a command line names for two sets of runs, as runs: those that are ranks of one job are one.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "compare/runs/run_sets.h"
#include "present/set_sections.h"
#include "trace_query/options.h"
#include "trace_query/output.h"

namespace tracedb {

using FoundSides = std::array<std::vector<NamedRun>, 2>;  // baseline, candidate
using SetInputs = std::array<std::vector<std::string>, 2>;

// Reads those that can be read; the others are told. The exit code: not 0 where nothing of a side can be read.
// --baseline-file stands for the baseline. Error{kUsage} for a trace that is there twice.
int read_runs(const CommandLine& line, const SetInputs& inputs, const Output& output, FoundSides& sides,
              std::vector<std::string>& warnings);

// Of --history, without those that are a candidate or of another GPU, framework or model than the baseline.
std::vector<NamedRun> read_history(const CommandLine& line, const Output& output, const FoundSides& sides,
                                   std::vector<std::string>& warnings);

// --leave-out. Error{kUsage} for a name that no run has.
void leave_out_runs(const CommandLine& line, FoundSides& sides, std::vector<std::string>& warnings);

// Error{kUsage} where the runs of a side differ in what runs of one job share.
void refuse_mixed(const FoundSides& sides);

// Puts partners at equal places, by "date", "night" or "name"; runs without one are left out, which `warnings` say.
void pair_runs(const std::string& by, FoundSides& sides, std::vector<std::string>& warnings);

// Whether the traces of either side are two and more ranks of one job.
bool is_job_each(const CommandLine& line, const SetInputs& inputs);

}  // namespace tracedb
