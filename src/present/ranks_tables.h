// The tables of `trace-query ranks`. A row begins with its job.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/text/sentence.h"
#include "ranks/job_analysis.h"
#include "report/sql_report.h"

namespace tracedb {

Report ranks_jobs(std::span<const JobAnalysis> jobs);         // one row for each job
Report ranks_ranks(std::span<const JobAnalysis> jobs);        // each rank
Report ranks_causes(std::span<const JobAnalysis> jobs);       // each rank and cause; adds up to the exposed waiting
Report ranks_steps(std::span<const JobAnalysis> jobs);        // each step
Report ranks_collectives(std::span<const JobAnalysis> jobs);  // each group and name

// Two jobs rank by rank: `trace-query ranks --baseline`.

// A row for each rank, in time per step; the parts of a row add up to its change.
Report ranks_compare(const JobAnalysis& baseline, const JobAnalysis& candidate);

// What the job's step took and takes, by the rank in either that waits least, and in what these two differ.
Sentence compare_headline(const JobAnalysis& baseline, const JobAnalysis& candidate);
std::vector<std::string> compare_notes(const JobAnalysis& baseline, const JobAnalysis& candidate);

// What `trace-query ranks` says of a job in words.

// One line: who is late, how often, what the others lose by it, and why.
Sentence job_headline(const JobAnalysis& job);

// What makes the answer less certain: ranks that are missing or cut short, collectives without partners.
std::vector<std::string> job_notes(const JobAnalysis& job);

// "rank 3", of what a job's places say.
std::string rank_text(const JobAnalysis& job, std::uint32_t place);

// "of 8", "of the 4 recorded (of 8)", "of the 4 recorded"
Sentence of_ranks(const JobAnalysis& job);

}  // namespace tracedb
