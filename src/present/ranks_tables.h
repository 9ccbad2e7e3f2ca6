// The tables of `trace-query ranks`. A row begins with its job.
#pragma once

#include <span>

#include "ranks/job_analysis.h"
#include "report/sql_report.h"

namespace tracedb {

Report ranks_jobs(std::span<const JobAnalysis> jobs);         // one row for each job
Report ranks_ranks(std::span<const JobAnalysis> jobs);        // each rank
Report ranks_causes(std::span<const JobAnalysis> jobs);       // each rank and cause; adds up to the exposed waiting
Report ranks_steps(std::span<const JobAnalysis> jobs);        // each step
Report ranks_collectives(std::span<const JobAnalysis> jobs);  // each group and name

}  // namespace tracedb
