// Which process drives which device, for traces merged from several processes, where correlation numbers repeat.
//
// Evidence is what a launch must satisfy: it comes before its kernel. For every kernel whose correlation occurs in a
// process, that process gains a point if its call starts before the kernel and loses one if it does not; a process
// whose call also carries the kernel's External id gains another. The process with the most points owns the device;
// between equals, the one whose calls come closest before the kernels.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

namespace tracedb {

class DeviceOwners {
 public:
  void vote(std::uint32_t device, std::uint32_t process, std::int64_t delay, bool same_external_id) {
    Score& score = scores_[{device, process}];
    score.points += (delay >= 0 ? 1 : -1) + (same_external_id ? 1 : 0);
    if (delay >= 0) score.delay += delay;
  }

  // 0: no evidence, or two processes with the same.
  [[nodiscard]] std::uint32_t owner(std::uint32_t device) const {
    std::uint32_t best = 0;
    Score best_score;
    bool tie = false;
    for (auto entry = scores_.lower_bound({device, 0}); entry != scores_.end() && entry->first.first == device;
         ++entry) {
      const Score& score = entry->second;
      const bool better = best == 0 || score.points > best_score.points ||
                          (score.points == best_score.points && score.delay < best_score.delay);
      tie = better ? false : tie || (score.points == best_score.points && score.delay == best_score.delay);
      if (!better) continue;
      best = entry->first.second;
      best_score = score;
    }
    return tie ? 0 : best;
  }

 private:
  struct Score {
    std::int64_t points = 0;
    std::int64_t delay = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Score> scores_;
};

}  // namespace tracedb
