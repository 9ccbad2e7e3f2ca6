#include "trace/tile_events.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace tracedb {
namespace {

using Times = std::vector<std::int64_t>;

std::string text_of(const KernelPairs& pairs) {
  std::string out;
  for (const TileKernel& kernel : pairs.kernels) {
    out += std::to_string(kernel.start) + "-" + std::to_string(kernel.end) + " ";
  }
  return out + "lost " + std::to_string(pairs.orphan_starts) + "/" + std::to_string(pairs.orphan_ends) + " twice " +
         std::to_string(pairs.duplicates);
}

std::string pairs_of(const Times& starts, const Times& ends) { return text_of(pair_kernels(starts, ends)); }

}  // namespace

TEST_CASE("kernel pairs: a lost end costs its own kernel only") {
  CHECK(pairs_of({0, 140, 280}, {100, 380}) == "0-100 280-380 lost 1/0 twice 0");
  CHECK(pairs_of({0, 280}, {100, 240, 380}) == "0-100 280-380 lost 0/1 twice 0");
}

TEST_CASE("kernel pairs: kernels without a gap between them") {
  CHECK(pairs_of({0, 100, 200}, {100, 200, 300}) == "0-100 100-200 200-300 lost 0/0 twice 0");
}

TEST_CASE("kernel pairs: the trace begins within a kernel and ends within another") {
  CHECK(pairs_of({50, 150}, {10, 100}) == "50-100 lost 1/1 twice 0");
  CHECK(pairs_of({}, {10}) == "lost 0/1 twice 0");
  CHECK(pairs_of({10}, {10}) == "lost 1/1 twice 0");
  CHECK(pairs_of({}, {}) == "lost 0/0 twice 0");
}

TEST_CASE("kernel pairs: marks that come twice") {
  CHECK(pairs_of({0, 5, 140}, {100, 103, 240}) == "0-100 140-240 lost 0/0 twice 2");
  CHECK(pairs_of({-300, -160}, {-200, -60}) == "-300--200 -160--60 lost 0/0 twice 0");
}

TEST_CASE("kernel pairs: short kernels among long ones are no duplicates") {
  CHECK(pairs_of({0, 100, 110, 210}, {100, 110, 210, 220}) == "0-100 100-110 110-210 210-220 lost 0/0 twice 0");
}

TEST_CASE("tile events: old and new names, tiles called the same") {
  CHECK(tile_event("INSTR_EVENT_0") == TileEvent::kKernelStart);
  CHECK(tile_event("Event1") == TileEvent::kKernelEnd);
  CHECK(tile_event("LockStall") == TileEvent::kLockStall);
  CHECK(tile_event("PORT_RUNNING_0") == TileEvent::kOther);
  const std::vector<TileProcess> processes = {
      {"core_trace for tile2,1", "0"}, {"core_trace for x for tile2,1", "7"}, {"core_trace", "8"}};
  CHECK(tile_labels(processes) == std::vector<std::string>{"tile2,1", "tile2,1 (pid 7)", "core_trace"});
}

}  // namespace tracedb
