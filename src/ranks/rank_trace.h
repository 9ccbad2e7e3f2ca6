// What the trace of one rank holds for questions about its job: its collectives, when it computed and copied, and its
// figures by themselves. Times are ns from `base`, on the rank's own clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text/numbered_texts.h"
#include "base/time_cover.h"
#include "base/unknown.h"
#include "passes/select/workload.h"
#include "passes/steps/step_stats.h"
#include "passes/time/communication.h"
#include "passes/time/timeline.h"

namespace tracedb {

// Of all ranks of a job.
struct JobTexts {
  NumberedTexts
      collectives;        // "allreduce", "send 0 to 1", or the short name of a kernel that the trace does not describe
  NumberedTexts groups;   // "" where the trace does not say
  NumberedTexts classes;  // of kernels
};

// Who takes part in what a communication kernel does.
enum class Exchange : std::uint8_t {
  kCollective,   // all of the group
  kSend,         // this rank and one that receives
  kReceive,      // this rank and one that sends
  kUnknownPeer,  // two ranks, and the trace does not say which is the other one
};

struct CollectiveEvent {
  std::int64_t start = 0, end = 0;
  std::uint32_t name = 0, group = 0;      // of JobTexts; a send and its receive have one name, "send 0 to 1"
  std::uint32_t stream = 0;               // id in its own index
  std::uint32_t kernel = 0;               // the same
  std::int64_t sequence = kUnknownValue;  // of collectives: ranks count their sends and receives each for themselves
  std::int64_t group_size = 0;            // ranks that take part; 0: not known
  std::uint32_t step = 0;                 // place + 1; 0: in none
  bool selected = true;                   // by --step, --phase, ...
  Exchange exchange = Exchange::kCollective;
};

struct ComputeKernel {
  std::int64_t start = 0, dur = 0;
  std::uint32_t class_id = 0;
  bool selected = true;
};

// How [from, to) of a rank's device was spent; the four add up to its length.
struct TimeParts {
  std::int64_t compute = 0, comm = 0, copy = 0, idle = 0;  // comm and copy: exposed only
};

// On the rank's device, of a step that is selected, or has a part that is.
struct StepWindow {
  std::uint32_t step = 0;  // place + 1; 0: of no step, where no step is selected
  StepKind kind = StepKind::kUnknown;
  std::int64_t begin = 0, end = 0;    // from its first work to the end of its last
  std::int64_t next = kUnknownValue;  // where the next one begins, if that follows it and is of its kind
};

struct RankTrace {
  std::int64_t rank = 0;
  std::string trace;
  std::int64_t shift = 0;  // times here less those of the trace
  std::int64_t begin = 0;  // of what is recorded of device and host
  bool complete = true;
  std::vector<std::string> notes;
  LaneTimeline figures;  // of the selection, devices added up: number of kernels, sums of time and no others
  TaskWaits tasks;       // of the selected window
  std::vector<StepFacts> steps;
  std::vector<StepStats> step_stats;         // element 0: in no step
  std::vector<StepWindow> windows;           // in order of step
  std::vector<CollectiveEvent> collectives;  // of the device that has most of them, in order of start
  std::vector<ComputeKernel> compute;        // in order of start
  TimeCover computing, computing_or_comm, working;

  [[nodiscard]] TimeParts parts(std::int64_t from, std::int64_t to) const;
};

// By class of kernels (JobTexts::classes): time, ns, and how many.
using ClassSums = std::map<std::uint32_t, std::pair<double, double>>;

// Adds, so many times, the part of each kernel that is in the block.
void add_kernels(const RankTrace& rank, const Extent& block, double weight, ClassSums& sums);

// `base`: ns since the epoch. `device`: id of the one that is the rank; else the rank is all of them, and its
// collectives are those of the device that has most.
RankTrace read_rank_trace(Workload& workload, std::int64_t rank, std::int64_t base, JobTexts& texts,
                          std::optional<std::uint32_t> device = std::nullopt);

// With whom a rank communicates by a kernel, as far as the trace says. PyTorch gives sends and receives the names
// "send" and "recv" and the rank of the job at the other end ("Src Rank", "Dst Rank"); older versions have it only in
// the name of the annotation around the launch ("nccl:send 0->1"), by places in the group. What it launches together
// (batch_isend_irecv) is one kernel of NCCL's name SendRecv without any of this, as is an all-to-all. Pure.

// What the trace says about a communication kernel; empty and kUnknownValue: nothing.
struct ExchangeFacts {
  std::string_view name;        // "allreduce", "send"
  std::string_view kernel;      // "ncclDevKernel_SendRecv"
  std::string_view ranks;       // of the group: "[0, 1, 2, 3]"
  std::string_view annotation;  // around the launch
  std::int64_t source_rank = kUnknownValue, destination_rank = kUnknownValue;
};

struct ExchangeEnd {
  Exchange exchange = Exchange::kCollective;
  std::int64_t peer = kUnknownValue;  // rank of the job, where this is kSend or kReceive
};

ExchangeEnd exchange_of(const ExchangeFacts& facts);

}  // namespace tracedb
