// Second link pass: kernels and memory operations. Joins them with the calls that launched them by (process,
// correlation), gives each its operator, python path, annotation and step, and emits the rows of kernel and memory_op
// in time order together with the sums over kernels.
//
// Rules. A stream that is known to be of one process takes its calls. Else a correlation that several processes used
// (merged traces) goes to the process that owns the device, see device owners; where that cannot be told the kernel
// stays without launch. Several calls under one correlation of
// one process: the launch among them, and of those the last one that starts before the kernel. Without such a call,
// what is open where a flow starts that ends at the kernel (flow_links.h); else the operator with its External id, if
// it starts before the kernel. Step: of the launch, else of the device annotation around the kernel on its stream, else
// the one step open in the process while its graph was launched, else none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "base/dense_index.h"
#include "base/unknown.h"
#include "ingest/link/cpu_links.h"
#include "ingest/link/row_stream.h"
#include "ingest/store/trace_store.h"

namespace tracedb {

// Kernel time by name, collected while kernels are linked. Memory: 4 to 8 bytes a kernel, for exact medians and
// percentiles.

struct KernelSum {
  std::uint32_t name = 0;
  std::int64_t n = 0, total = 0;
  std::int64_t min = 0, max = 0, p50 = 0, p90 = 0, p99 = 0;  // of the kernels whose duration is known
  std::int64_t known = 0;                                    // how many those are
  double median = 0, sum_of_squares = 0;
};

class KernelSums {
 public:
  void add(std::uint32_t name, std::int64_t dur);  // dur may be unknown

  std::vector<KernelSum> finish();  // once, at the end; in order of first kernel

 private:
  // Most durations are below four seconds.
  struct Durations {
    std::vector<std::uint32_t> shorter;
    std::vector<std::int64_t> longer;
    void add(std::int64_t dur);
    void sort();
    [[nodiscard]] std::size_t size() const { return shorter.size() + longer.size(); }
    [[nodiscard]] std::int64_t operator[](std::size_t place) const {  // sorted
      return place < shorter.size() ? std::int64_t{shorter[place]} : longer[place - shorter.size()];
    }
  };
  struct Samples {
    std::uint32_t name;
    std::int64_t n = 0;
    Durations durations;
  };
  static KernelSum summarise(Samples& samples);

  std::vector<Samples> names_;
  DenseIndex index_;  // of names_
};

struct CollectiveRow {
  std::uint32_t kernel;
  std::uint32_t record;  // position + 1 in TraceStore::collectives
};

// Kernels of which something is known, and the time they hold.
struct Coverage {
  std::int64_t kernels = 0, ns = 0;
};

// Kernels and memory operations whose flow begins in the call that their correlation names, or elsewhere; and those
// that flows alone link.
struct FlowCheck {
  std::int64_t confirmed = 0, contradicted = 0, linked = 0;
};

struct DeviceLinks {
  FlowCheck flows;
  Coverage all, with_launch, with_operator, with_stack, with_step;
  KernelSums sums;
  std::vector<std::uint32_t> kernel_names;  // string ids in order of first kernel
  std::vector<CollectiveRow> collectives;
};

void link_device_events(TraceStore& store, RowStream& rows, CpuLinks& cpu, FlowLinks& flows, DeviceLinks& out);

// Which process drives which device, for traces merged from several processes, where correlation numbers repeat.
//
// Evidence, from every kernel and each process that has a call under its correlation: a launch comes before its kernel,
// carries its External id if both have one, and is not systematically older than need be. A process is ruled out when
// it lacks the calls of half the kernels another one has, when more than a twentieth of its calls come too late, or
// when its calls precede the kernels ten times as long as another's do. If one process has twice the equal External ids
// of all others, or is the only one left, it owns the device. Else nobody does: ranks in lockstep look alike, and a
// wrong launch is worse than none.
//
// Where more than kVotesPerKernel calls share one correlation, some of the kernels vote and the others do not, so that
// the work stays linear in the kernels; where devices and processes make more than kMostPairs pairs, the devices that
// come last have no owner, so that memory stays bounded.
class DeviceOwners {
 public:
  // A process has a call under the correlation of a kernel of `device`; delay_ns: from the call to the kernel.
  void vote(std::uint32_t device, std::uint32_t process, std::int64_t delay_ns, bool same_external_id) {
    Device& votes = devices_[device];
    const auto [entry, is_new] = votes.scores.try_emplace(process);
    votes.undecided |= is_new && ++pairs_ > kMostPairs;
    if (votes.undecided) return drop(votes);
    Score& score = entry->second;
    ++score.calls;
    score.same_ids += same_external_id ? 1 : 0;
    if (delay_ns < 0) {
      ++score.late;
    } else {
      score.delay = saturating_add(score.delay, delay_ns);
    }
  }

  // Once for each kernel that has calls at all, this many; `contested`: in more than one process. Whether they may
  // vote.
  bool count_kernel(std::uint32_t device, bool contested, std::size_t calls) {
    Device& votes = devices_[device];
    ++votes.kernels;
    votes.contested += contested ? 1 : 0;
    votes.credit += kVotesPerKernel;
    if (votes.undecided || votes.credit < calls) return false;
    votes.credit -= calls;
    return true;
  }

  // True where most correlations of the device occur in one process only: these speak for themselves.
  [[nodiscard]] bool mostly_unique(std::uint32_t device) const {
    const auto found = devices_.find(device);
    return found == devices_.end() || found->second.contested * 2 < found->second.kernels;
  }

  [[nodiscard]] std::uint32_t owner(std::uint32_t device) const {  // 0: cannot be told
    const auto found = devices_.find(device);
    if (found == devices_.end() || found->second.undecided) return 0;
    const std::vector<Candidate> possible = possible_owners(found->second);
    if (possible.size() == 1) return possible.front().process;
    std::int64_t all_ids = 0;
    for (const Candidate& candidate : possible) all_ids += candidate.score.same_ids;
    for (const Candidate& candidate : possible) {
      const std::int64_t ids = candidate.score.same_ids;
      if (ids * 2 >= candidate.score.calls && ids > 2 * (all_ids - ids)) return candidate.process;
    }
    return 0;
  }

 private:
  struct Score {
    std::int64_t calls = 0, late = 0, same_ids = 0, delay = 0;
    [[nodiscard]] double mean_delay() const {
      return static_cast<double>(delay) / static_cast<double>(std::max<std::int64_t>(calls - late, 1));
    }
  };
  struct Candidate {
    std::uint32_t process;
    Score score;
  };
  struct Device {
    std::int64_t kernels = 0, contested = 0;
    std::map<std::uint32_t, Score> scores;  // by process
    std::size_t credit = 0;                 // votes saved up
    bool undecided = false;                 // there was no room for all its scores
  };

  void drop(Device& votes) {
    pairs_ -= votes.scores.size();
    votes.scores.clear();
  }

  static std::vector<Candidate> possible_owners(const Device& device) {
    std::int64_t most_calls = 0;
    for (const auto& [process, score] : device.scores) most_calls = std::max(most_calls, score.calls);
    std::vector<Candidate> possible;
    for (const auto& [process, score] : device.scores) {
      if (score.calls * 2 >= most_calls && score.late * 20 <= score.calls) possible.push_back({process, score});
    }
    double least_delay = std::numeric_limits<double>::max();
    for (const Candidate& candidate : possible) least_delay = std::min(least_delay, candidate.score.mean_delay());
    std::erase_if(possible, [&](const Candidate& candidate) {
      return candidate.score.mean_delay() > 10 * std::max(least_delay, kClockResolutionNs);
    });
    return possible;
  }

  static constexpr double kClockResolutionNs = 1000;
  static constexpr std::size_t kVotesPerKernel = 64;
  static constexpr std::size_t kMostPairs = std::size_t{1} << 18U;
  std::map<std::uint32_t, Device> devices_;
  std::size_t pairs_ = 0;  // of device and process, with a score
};

}  // namespace tracedb
