// The tables of `trace-query ranks`. A row begins with its job.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/text/sentence.h"
#include "compare/comparison.h"
#include "ranks/job_analysis.h"
#include "report/sql_report.h"

namespace tracedb {

Report ranks_jobs(std::span<const JobAnalysis> jobs);         // one row for each job
Report ranks_ranks(std::span<const JobAnalysis> jobs);        // each rank
Report ranks_causes(std::span<const JobAnalysis> jobs);       // each rank and cause; adds up to the exposed waiting
Report ranks_steps(std::span<const JobAnalysis> jobs);        // each step
Report ranks_collectives(std::span<const JobAnalysis> jobs);  // each group and name

// Two jobs rank by rank: `trace-query ranks --baseline`.

// A row for each rank, in time per step of the kinds that both have; the parts of a row add up to its change.
Report ranks_compare(const JobAnalysis& baseline, const JobAnalysis& candidate);

// Places of the ranks for whom the others wait: the straggler; where only the other job has one, the same rank; else
// the one that waits least in a step, of both jobs together where their ranks are the same.
std::pair<std::uint32_t, std::uint32_t> deciding(const JobAnalysis& baseline, const JobAnalysis& candidate);

// What else than the times differs, by the traces of those ranks.
struct JobReservations {
  std::vector<std::string> differences;  // devices, work, load
  bool other_work = false;
  std::vector<std::string> warnings;
};
JobReservations job_reservations(const ComparedTraces& traces, const Comparison& comparison);

// What the job's step took and takes, by those ranks, and in what these two differ.
Sentence compare_headline(const JobAnalysis& baseline, const JobAnalysis& candidate, const JobReservations& but);
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
