// Runs a per-trace report: opens each input in turn, prints its report and finishes the output.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "present/cells.h"
#include "trace_query/options.h"
#include "trace_query/output.h"
#include "trace_query/workload.h"

namespace tracedb {

inline void append(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

// Prints what `make` makes of each input; `name` is the report's name in JSON. nullopt: it has printed all there is.
int run_trace_reports(const CommandLine& line, const std::string& name,
                      const std::function<std::optional<TraceReport>(const OpenedTrace&, Output&)>& make);

// A report whose script selects from tables of the passes.
struct PassReport {
  // Says what the reader must know; may change the table.
  using Finish = std::function<void(Workload&, TraceReport&)>;

  std::string name;    // in JSON
  std::string script;  // "kernels_by_pass": its name in passes/tables/pass_tables.h
  PassOptions options;
  Parameters parameters;
  Finish finish;
};

// Prints it for each input under the options of the command line or, with --explain, what it is made of.
int run_pass_reports(const CommandLine& line, const PassReport& report);

bool has_kernels(const Index& index);
std::string why_no_kernels(const Workload& workload);  // why a report about kernels is empty

}  // namespace tracedb
