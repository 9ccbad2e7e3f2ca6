// Two jobs rank by rank: `trace-query ranks --baseline`.
#pragma once

#include <string>
#include <vector>

#include "base/text/sentence.h"
#include "ranks/job_analysis.h"
#include "report/sql_report.h"

namespace tracedb {

// A row for each rank, in time per step; the parts of a row add up to its change.
Report ranks_compare(const JobAnalysis& baseline, const JobAnalysis& candidate);
std::vector<Column> ranks_compare_columns();

// What the job's step took and takes, by the rank in either that waits least, and in what these two differ.
Sentence compare_headline(const JobAnalysis& baseline, const JobAnalysis& candidate);
std::vector<std::string> compare_notes(const JobAnalysis& baseline, const JobAnalysis& candidate);

}  // namespace tracedb
