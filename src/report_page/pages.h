// The pages that tracedb makes: of two traces that are compared, of two sets of runs, of one trace.
#pragma once

#include <span>
#include <string>

#include "passes/select/workload.h"
#include "present/sections.h"
#include "present/set_sections.h"
#include "report_page/report_page.h"

namespace tracedb {

// The page of two traces that are compared: what `compare` says, its pictures and its sections. Pure.

struct ComparisonPageInput {
  const SectionInput& in;
  std::string baseline, candidate;         // as the command line has them
  std::span<const Section* const> tables;  // those that are shown
};

ReportPage comparison_page(const ComparisonPageInput& input);

// The page of two sets of runs: what `compare` says, the runs as dots, the ledger as a waterfall with intervals,
// tables. Pure.

ReportPage sets_report_page(const SetsAnswer& answer, std::span<const SetSection* const> tables);

// The page of one trace, under the options of a command line: what it is, its pictures and the tables of its reports.

struct TracePageInput {
  std::string path;       // as the command line has it
  std::string selection;  // "--phase decode"; "": everything
};

// Takes the parts of the workload, whose index has the tables of passes.
ReportPage trace_page(Workload& workload, const TracePageInput& input);

}  // namespace tracedb
