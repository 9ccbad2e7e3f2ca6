// The parts of `compare`, each a file: what is asked, two sets of runs, the runs of a set, and the method wafer.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "present/gate.h"
#include "present/sections.h"
#include "present/set_sections.h"
#include "trace_query/help.h"
#include "trace_query/options.h"
#include "trace_query/output.h"

namespace tracedb {

// ---- compare_request.cc: what the command line asks of a comparison

struct CompareRequest {
  CompareOptions options;
  LedgerBy ledger_by = LedgerBy::kOp;
  bool page = false;                     // one page for people; else `sections`
  std::vector<const Section*> sections;  // without the gate's where there is no gate
  std::optional<Gate> gate;
};

// Of that many percent, with what --gate-inconclusive says.
Gate requested_gate(const CommandLine& line, double percent);

// Of two traces; nullopt: without --gate.
std::optional<Gate> requested_gate(const CommandLine& line);
void add_gate_options(CommandLine& line);

CompareRequest parse_compare_request(const CommandLine& line);

// Error{kUsage} for a name in --phase that is no kind of steps.
void refuse_unknown_phases(const CommandLine& line);

// The traces in a folder; 0: it is none.
std::size_t traces_of_folder(const std::string& path);

// Of --step; nullopt: two traces are compared.
std::optional<std::uint32_t> requested_step(const CommandLine& line);

// ---- compare_sets.cc: sets of runs, --baseline X... --candidate Y..., or two folders

void add_set_options(CommandLine& line);
std::vector<ReportShape> shapes_of_sets();

// Error{kUsage} for words on both sides of "--", which are no sets.
void refuse_separator(const CommandLine& line, std::span<const std::string> args);

// --baseline or --candidate, or two folders, one of them of several traces.
bool names_sets(const CommandLine& line);

// One trace a side is compared as ever, one job a side rank by rank. The exit code: 1 beyond --gate.
int run_sets(const Command& command, const CommandLine& line, std::span<const std::string> args);

// ---- found_runs.cc: the traces that a command line names for two sets of runs, as runs: those that are ranks of one
// job are one

using FoundSides = std::array<std::vector<NamedRun>, 2>;  // baseline, candidate
using SetInputs = std::array<std::vector<std::string>, 2>;

// Reads those that can be read; the others are told, and `exit_code` becomes that of InputLoop. A side of which nothing
// can be read stays empty. --baseline-file stands for the baseline. Error{kUsage} for a trace that is there twice.
void read_runs(const CommandLine& line, const SetInputs& inputs, const Output& output, FoundSides& sides,
               std::vector<std::string>& warnings, int& exit_code);

// Of --history, without those that are a candidate or of another GPU, framework or model than the baseline.
std::vector<NamedRun> read_history(const CommandLine& line, const Output& output, const FoundSides& sides,
                                   std::vector<std::string>& warnings, int& exit_code);

// --leave-out. Error{kUsage} for a name that no run has.
void leave_out_runs(const CommandLine& line, FoundSides& sides, std::vector<std::string>& warnings);

// Error{kUsage} where the runs of a side differ in what runs of one job share.
void refuse_mixed(const FoundSides& sides);

// Puts partners at equal places, by "date", "night" or "name"; runs without one are left out, which `warnings` say.
void pair_runs(const std::string& by, FoundSides& sides, std::vector<std::string>& warnings);

// Whether the traces of either side are two and more ranks of one job.
bool is_job_each(const CommandLine& line, const SetInputs& inputs);

// ---- compare_wafer.cc: --method wafer reproduces the comparison of wafer 0.1.28 (src/compare/wafer)

// Prints the sections asked for and returns the exit code. Of the command line it reads two inputs; --phase (all,
// prefill, decode); --section, a list (none: all); --limit, where it is known; and what OptionGroup::kOutput has.
// Error{kUsage} for other values, and unless there are two inputs.
int run_wafer_comparison(const CommandLine& line);

}  // namespace tracedb
