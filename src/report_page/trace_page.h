// The page of one trace, under the options of a command line: what it is, its pictures and the tables of its reports.
#pragma once

#include <string>

#include "passes/select/workload.h"
#include "report_page/report_page.h"

namespace tracedb {

struct TracePageInput {
  std::string path;       // as the command line has it
  std::string selection;  // "--phase decode"; "": everything
};

// Takes the parts of the workload, whose index has the tables of passes.
ReportPage trace_page(Workload& workload, const TracePageInput& input);

}  // namespace tracedb
