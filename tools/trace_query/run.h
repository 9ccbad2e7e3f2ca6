// The frame of a per-trace report: every input opened in turn, its report printed, the output finished.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "trace_query/open.h"
#include "trace_query/options.h"
#include "trace_query/output.h"

namespace tracedb {

struct TraceReport {
  Report report;
  std::vector<std::string> warnings;  // why it is empty, what it leaves out
};

// The same report with these notes before its own.
TraceReport with_notes(TraceReport report, const std::vector<std::string>& notes);

// What a report is made of, printed by --explain.
struct Provenance {
  std::string script;               // "reports/kernels"
  std::vector<std::string> tables;  // the temporary tables it reads, each with what it comes from
};

// Prints `make(index)` for each input; `name` is the report's name in JSON.
int run_trace_reports(const CommandLine& line, const std::string& name,
                      const std::function<TraceReport(const Index&)>& make, const Provenance& provenance = {});

// The same for inputs that are not all of the positional arguments.
int run_trace_reports(const CommandLine& line, std::span<const std::string> inputs, const std::string& name,
                      const std::function<TraceReport(const Index&)>& make, const Provenance& provenance = {});

// For answers that are lines of text: `print` writes them for each input and returns the warnings.
int run_trace_texts(const CommandLine& line,
                    const std::function<std::vector<std::string>(const Index&, std::ostream&)>& print);

}  // namespace tracedb
