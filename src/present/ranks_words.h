// What `trace-query ranks` says of a job in words.
#pragma once

#include <string>
#include <vector>

#include "base/text/sentence.h"
#include "ranks/job_analysis.h"

namespace tracedb {

// One line: who is late, how often, what the others lose by it, and why.
Sentence job_headline(const JobAnalysis& job);

// What makes the answer less certain: ranks that are missing or cut short, collectives without partners.
std::vector<std::string> job_notes(const JobAnalysis& job);

// "rank 3", of what a job's places say.
std::string rank_text(const JobAnalysis& job, std::uint32_t place);

// "of 8", "of the 4 recorded (of 8)", "of the 4 recorded"
Sentence of_ranks(const JobAnalysis& job);

}  // namespace tracedb
