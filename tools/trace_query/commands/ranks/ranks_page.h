// The page of HTML about a job: who is late in words, waiting by rank and step as a picture, and the tables of `ranks`.
#pragma once

#include <string>
#include <vector>

#include "ranks/job_analysis.h"
#include "report_page/report_page.h"
#include "trace_query/options.h"

namespace tracedb {

ReportPage ranks_page(const JobAnalysis& job, std::vector<PageTable> tables, const std::vector<std::string>& notes);

// `ranks` of the inputs of a command line, as a page.
int run_ranks_page(const CommandLine& line);

}  // namespace tracedb
