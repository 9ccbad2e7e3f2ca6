#include "passes/time/communication.h"

#include <doctest/doctest.h>

#include "passes/time/timeline.h"
#include "support/device_tables.h"

namespace tracedb {

TEST_CASE("exposed time by hand: an instant belongs to the one that started first") {
  DeviceTables tables;
  tables.kernels.add(0, 100, 2);           // group 0: 0..100
  tables.kernels.add(50, 100, 2, 2);       // group 1: 100..150
  tables.kernels.add(80, 40);              // computation 80..120
  tables.memory_ops.add(140, 5, 2);        // a fill
  tables.memory_ops.add(145, 5);           // a copy hides nothing
  tables.kernels.add(145, 3, 3);           // nor does a copy by a kernel
  tables.kernels.left_out = {0, 0, 1, 0};  // what is not selected computes all the same
  const std::vector<ExposedTime> times = exposed_time(tables.work(), std::vector<GroupId>{0, 1, kNoGroup, kNoGroup}, 2);
  CHECK(times[0].busy == 100);
  CHECK(times[0].exposed == 80);
  CHECK(times[1].busy == 50);
  CHECK(times[1].exposed == 25);
}

TEST_CASE("random events: groups add up to what the timeline says") {
  std::mt19937 chance(9);
  for (int round = 0; round < 1000; ++round) {
    const DeviceTables tables = DeviceTables::random(chance);
    std::vector<GroupId> groups;
    for (const std::uint32_t kind : tables.kernels.kind) {
      groups.push_back(kind == 2 || kind == 4 ? static_cast<GroupId>(chance() % 3) : kNoGroup);
    }
    ExposedTime sum;
    for (const ExposedTime& time : exposed_time(tables.work(), groups, 3)) {
      CHECK(time.exposed <= time.busy);
      sum.busy += time.busy;
      sum.exposed += time.exposed;
    }
    ExposedTime expected;
    for (const LaneTimeline& lane : timelines(tables.work(), tables.calls(), {})) {
      expected.busy += lane.comm;
      expected.exposed += lane.exposed_comm;
    }
    CHECK(sum.busy == expected.busy);
    CHECK(sum.exposed == expected.exposed);
  }
}

TEST_CASE("sizes of elements and bus factors") {
  CHECK(element_size("BFloat16") == 2);
  CHECK(element_size("c10::BFloat16") == 2);
  CHECK(element_size("Float8_e4m3fn") == 1);
  CHECK(element_size("Long") == 8);
  CHECK_FALSE(element_size("Quaternion"));
  CHECK(bus_factor("allreduce", 4) == 1.5);
  CHECK(bus_factor("_allgather_base", 4) == 0.75);
  CHECK(bus_factor("_reduce_scatter_base", 8) == 0.875);
  CHECK(bus_factor("all_to_allv", 2) == 0.5);
  CHECK(bus_factor("broadcast", 2) == 1);
  CHECK(bus_factor("allreduce_coalesced", 1) == 0);
  CHECK_FALSE(bus_factor("barrier", 2));
  CHECK_FALSE(bus_factor("allreduce", 0));
}

}  // namespace tracedb
