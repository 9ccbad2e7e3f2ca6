// All that is known of one job: its ranks, their collectives and clocks, and who waits for whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "index/index.h"
#include "ranks/waits.h"

namespace tracedb {

// Which traces are ranks of one job. Ranks lie in one folder under names that differ in numbers only, or in folders of
// their own; the same rank twice is another recording of the job, or another job. Times tell them apart, and where jobs
// are of one time the numbers in names that part them so that each rank is there once. Else those of one time are one
// recording, and ranks of one folder that are there once each and have collectives in common, however wrong their
// clocks are (up to a day). A process that drives several devices (DataParallel, one NCCL process) is a job by itself,
// whose ranks are the devices.

struct CommDevice {
  std::uint32_t id = 0;  // in the index
  std::optional<std::int64_t> ordinal;
};

// What one trace says of its place in a job.
struct RankFacts {
  std::string trace;  // path of the trace, or of an index whose trace is not known
  std::optional<std::int64_t> rank, world_size;
  std::int64_t begin = 0, end = 0;       // of its kernels, ns since the epoch by its own clock; equal: it has none
  std::vector<CommDevice> devices = {};  // that communicate, where there are several
  // Least and greatest number of its collectives; both how many there are where they have none.
  std::int64_t first_collective = 0, last_collective = 0;
};

// From meta.rank and meta.trace.distributedInfo; without these, the job of a rank is as large as its largest group.
RankFacts read_rank_facts(const Index& index);

struct Job {
  std::string name;  // the folder and the common part of the names; a number behind it where several share that
  std::optional<std::int64_t> world_size;
  std::vector<std::size_t> members;  // places in the facts, by rank; two or more unless nothing else belongs to it
  bool by_device = false;            // the ranks are the devices of its only member
  std::size_t beside = 0;            // such traces that were recorded meanwhile under names like that: other hosts'

  // Ranks of 0 .. world_size - 1 that are not there; none where the size is not known.
  [[nodiscard]] std::vector<std::int64_t> missing(std::span<const RankFacts> facts) const;
};

struct Jobs {
  std::vector<Job> jobs;                  // in the order of their first traces
  std::vector<std::size_t> without_rank;  // traces that name no rank and are no job by themselves
};

Jobs find_jobs(std::span<const RankFacts> facts);

struct JobAnalysis : Job {
  std::vector<std::int64_t> missing;  // ranks
  JobTexts texts;
  std::vector<RankTrace> ranks;  // by rank
  Matching matching;
  std::vector<RankClock> clocks;
  JobWaits waits;

  // No rank is missing; where nothing says how many there are, some may be.
  [[nodiscard]] bool all_are_here() const { return missing.empty() && (world_size || by_device) && beside == 0; }
  // Steps with a collective that is selected, of this rank; 0: none is in a step, or what repeats is none.
  [[nodiscard]] std::size_t steps(std::optional<std::uint32_t> place = std::nullopt) const;
};

// Of ranks that have been read.
void analyse(JobAnalysis& job);

}  // namespace tracedb
