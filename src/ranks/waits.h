// Who waits for whom in a job. A collective is split, on each of its ranks, at the arrival of the last rank: before it
// the rank waits, behind it the data move. The last rank waits nothing. Times of ranks are compared on aligned clocks
// (collectives.h). Pure.
//
// A send is split as a collective of two ranks, unless it ended before its receive began: the data were put by, and
// nobody waited.
//
// Exactly, on each rank: time in a collective = waiting + transfer (where one of its group is not recorded, waiting for
// those that are + what cannot be divided), and over a job the exposed waiting is what ranks
// that were late caused, what happened where all came together, and what began before the recording.
//
// A rank is late by its arrival less the mean arrival of the others. That is, exactly, the sum of what it did longer
// than they on average since the end of a collective before: compute, copies, other communication, nothing (its host
// did not launch anything), and of how much later that collective ended on it. That is the last one for whose end all
// waited: behind another, a rank may compute what the others did while they waited for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time_cover.h"
#include "passes/select/workload.h"
#include "ranks/collectives.h"
#include "ranks/rank_trace.h"

namespace tracedb {

enum class LateCause : std::uint8_t { kCompute, kCopy, kComm, kHost, kEarlier };
inline constexpr std::size_t kLateCauses = 5;
std::string_view to_string(LateCause cause);  // compute, copies, communication, host, previous collective

using LateParts = std::array<std::int64_t, kLateCauses>;  // ns, by cause; negative: less than the others

// What happened at one collective.
enum class Arrival : std::uint8_t {
  kTogether,  // no rank later than the clocks can tell
  kLate,
  kFirst,  // the first of its ranks in the recording: why they come when they do is not in it
};

struct CollectiveWait {
  std::uint32_t collective = 0;  // place in Matching::matched
  Arrival arrival = Arrival::kTogether;
  std::uint32_t last_rank = 0;            // place among the traces
  std::int64_t late = 0;                  // ns: the sum of `parts`
  LateParts parts{};                      // where kLate
  bool is_whole = true;                   // all of its group are there
  std::int64_t transfer = 0;              // on the last rank, ns; where not whole, with waiting for the others
  std::int64_t waiting = 0;               // sum over the ranks
  std::int64_t exposed = 0;               // of it, while the rank computes nothing
  std::uint32_t step = 0;                 // place + 1 on the first of its ranks that knows; 0: in none
  [[nodiscard]] LateCause cause() const;  // the greatest part
};

// When a rank is called the straggler.
inline constexpr double kLeastDeviations = 3;  // standard deviations above what chance gives
inline constexpr double kLeastLoss = 0.01;     // of the span of the others

// Sums over a set of collectives.
struct WaitSums {
  std::size_t collectives = 0, late = 0;
  // Sums over ranks. Where a member of the group is not recorded, what it takes without `waiting` is `undivided`:
  // transfer, or waiting for that one.
  std::int64_t time = 0, waiting = 0, transfer = 0, undivided = 0;
  std::int64_t exposed = 0;  // of `waiting`, while the rank computes nothing
};

// A class of kernels of a late rank against the others, in the windows before the collectives where it was late.
struct ClassExcess {
  std::int64_t time = 0;  // ns longer than the mean of the others
  double kernels = 0;     // more of them
};

// Where the host was in such windows while the device had nothing to do.
struct HostCause {
  std::string place;  // python frame, operator or call
  double share = 0;   // of that time
};

// Of one rank in a step.
struct StepWaits {
  std::int64_t exposed = 0, first = 0;  // exposed waiting; of that, where Arrival::kFirst
  bool is_divided = true;               // its collectives are matched with all members
};

struct RankWaits {
  std::map<std::uint32_t, StepWaits> steps;           // by place + 1; 0: in none
  WaitSums sums;                                      // of the collectives it takes part in
  std::int64_t first = 0;                             // of `sums.exposed`: where Arrival::kFirst
  std::size_t last = 0;                               // collectives where it was late
  std::int64_t caused = 0;                            // exposed waiting of the others there
  std::map<std::uint32_t, std::int64_t> shared;       // of it, what they wait for the last but one, too: by that rank
  std::set<std::uint32_t> others;                     // ranks that waited for it at any time
  LateParts parts{};                                  // of its lateness, which one collective hands on to the next
  std::optional<LateParts> excess = LateParts{};      // of it, each time of the rank once; none: not known of most
  std::array<std::size_t, kLateCauses> count{};       // collectives by greatest part
  std::array<std::int64_t, kLateCauses> caused_by{};  // `caused`, by greatest part
  std::map<std::uint32_t, ClassExcess> classes;       // of `excess`, by JobTexts::classes
  std::vector<Extent> host_windows;       // before collectives where the host made it late, on its own clock
  std::optional<HostCause> host;          // where that was, by find_host_cause()
  [[nodiscard]] LateCause cause() const;  // of most of `caused`
  double persistence = 0;                 // standard deviations of `caused` above what chance would give
};

// Of the rank that works longest in a job whose ranks send to each other.
struct Pace {
  LateParts excess{};                            // what it does longer than the mean of the others; all: the loss
  std::map<std::uint32_t, ClassExcess> classes;  // of its computing, by JobTexts::classes
  [[nodiscard]] LateCause cause() const;         // the greatest of `excess`
};

struct JobWaits {
  std::vector<CollectiveWait> collectives;  // in order of time; what is not selected is left out
  std::vector<RankWaits> ranks;
  std::size_t apart = 0;  // matched, but their times do not overlap: no collectives of these ranks
  std::int64_t exposed = 0, caused = 0, together = 0, first = 0;  // exposed = caused + together + first
  std::optional<std::uint32_t> straggler;  // the rank that causes most, where that is no chance and 1 % of the time
  std::optional<std::uint32_t> suspect;    // where there is none: the rank that causes as much, but maybe by chance
  std::optional<Pace> pace;                // of the straggler, where ranks send to each other: find_pace()
  bool is_too_short = false;               // for find_pace(): fewer steps than it takes, or not the same on all ranks
  [[nodiscard]] LateCause cause_of(
      std::uint32_t rank) const;  // of the straggler why it is; of others that of most waiting
};

// Places + 1 of the steps of the selected collectives.
std::set<std::uint32_t> steps_of(const JobWaits& waits);
bool has_step(const RankTrace& rank, std::uint32_t step);

JobWaits split_waits(std::span<const RankTrace> ranks, const Matching& matching, std::span<const RankClock> clocks);

// How many ranks there are; one that lacks steps is the part that it has of them.
double whole_ranks(std::span<const RankTrace> ranks, const JobWaits& waits);

// What those that wait for a rank lose to it, in the steps that it has: mean exposed waiting of a whole one of them,
// and as a share of their span.
struct Loss {
  double ns = 0, share = 0;
};
Loss loss_by(std::span<const RankTrace> ranks, const JobWaits& waits, std::uint32_t rank);

// Which rank sets the pace of a job whose ranks send to each other, as the stages of a pipeline do. There a rank that
// is late makes others late who wait for it, and all wait while the pipeline fills and drains, so who is late at a
// transfer says little. The stage that works longest holds the others up: computes, copies or has nothing to do because
// its host launches nothing. What is left of its span is exposed communication, and there the others wait for it.
// Nor is it work to have nothing to do before a receive whose data were not sent yet.
//
// Sets `straggler` and `pace` where a rank works longer than the others on average, by three standard deviations over
// the steps that all ranks have (or parts of the recording) and 1 % of their span. `unsent`: of each rank, when it had
// nothing to do before a receive whose data were not sent yet.
void find_pace(std::span<const RankTrace> ranks, const std::vector<TimeCover>& unsent, JobWaits& waits);

// Where the host of a rank was while its device had nothing to do and the other ranks came to wait for it.
// Of what `waits` says of the rank that `workload` is the trace of. nullopt: its host made it late nowhere, or the
// trace does not record what the host did.
std::optional<HostCause> find_host_cause(Workload& workload, const RankTrace& rank, const RankWaits& waits);

}  // namespace tracedb
