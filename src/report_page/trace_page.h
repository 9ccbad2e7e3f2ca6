// The page of one trace, under the options of a command line: what it is, its pictures and the tables of its reports.
#pragma once

#include <string>

#include "compare/comparison.h"
#include "passes/select/workload.h"
#include "present/page_text.h"
#include "report/sql_report.h"
#include "report_page/report_page.h"

namespace tracedb {

struct TracePageInput {
  std::string path;       // as the command line has it
  std::string selection;  // "--phase decode"; "": everything
};

// Takes the parts of the workload, whose index has the tables of passes.
ReportPage trace_page(Workload& workload, const TracePageInput& input);

// What is to be said of one trace, in sentences: what it is, how long its steps take, where that time goes, and what to
// look at first. Made of measured facts alone. Pure.
struct TraceWordsInput {
  const Index& index;
  const ComparedTrace& trace;
  const KernelNameTable& kernel_names;
  const Comparison& account;  // account_for()
  const Report& warnings;     // schema/reports/warnings.sql
  std::string path;           // as the command line has it
  std::string selection;      // "--phase decode", "" where everything is selected
};

Page trace_words(const TraceWordsInput& input);

}  // namespace tracedb
