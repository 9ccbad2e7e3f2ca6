// Which thread of a process let another one go on, on which nothing was open: schema/METRICS.md 17. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "passes/critical/release_graph.h"

namespace tracedb {

// What lets a thread on which nothing was open go on.
struct HandOver {
  // The thread of its process that ended last, of those open the one that worked last; itself: no other ended later.
  std::uint32_t from = 0;
  std::int64_t at = 0;  // when that ended; not behind the moment
  // Others ended, or were open, and did their last work then, too: of these it is the one that began it last.
  bool is_inferred = false;
};

// Of one trace. The graph must outlive the object. Making it takes n log n of what was open, a question a few searches.
class HandOvers {
 public:
  explicit HandOvers(const ReleaseGraph& graph);

  // Before a moment, to a thread on which nothing was open since another.
  [[nodiscard]] HandOver find(std::uint32_t thread, std::int64_t since, std::int64_t moment) const;

 private:
  // Who came last, until the next of these: two besides any thread that asks, the second to know whether it fits, too.
  struct Last {
    std::int64_t after = 0;  // of moments behind it
    std::array<std::uint32_t, 3> threads{};
    std::uint32_t size = 0;
  };
  [[nodiscard]] std::vector<Last> follow(const std::vector<std::uint32_t>& threads) const;

  const ReleaseGraph& graph_;
  std::map<std::uint32_t, std::vector<Last>> last_;  // by process, in order of time
};

}  // namespace tracedb
