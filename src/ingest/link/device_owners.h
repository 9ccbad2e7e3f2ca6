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
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "base/saturating.h"

namespace tracedb {

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
