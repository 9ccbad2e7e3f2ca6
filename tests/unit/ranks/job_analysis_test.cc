#include "ranks/job_analysis.h"

#include <doctest/doctest.h>

namespace tracedb {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

RankFacts facts(const char* trace, std::int64_t rank, std::int64_t size, std::int64_t begin = 0) {
  return {trace, rank, size, begin * kSecond, (begin + 1) * kSecond};
}

TEST_CASE("ranks of one folder are a job, in order of rank") {
  const std::vector<RankFacts> all = {facts("run/worker1.json", 1, 4), facts("run/worker0.json", 0, 4),
                                      facts("run/worker3.json", 3, 4)};
  const Jobs found = find_jobs(all);
  REQUIRE(found.jobs.size() == 1);
  CHECK(found.jobs[0].name == "run/worker*.json");
  CHECK(found.jobs[0].members == std::vector<std::size_t>{1, 0, 2});
  CHECK(found.jobs[0].missing(all) == std::vector<std::int64_t>{2});
}

TEST_CASE("the same ranks again are another recording") {
  const std::vector<RankFacts> all = {facts("run/w0.10.json", 0, 2, 0), facts("run/w0.99.json", 0, 2, 90),
                                      facts("run/w1.11.json", 1, 2, 0), facts("run/w1.98.json", 1, 2, 90)};
  const Jobs found = find_jobs(all);
  REQUIRE(found.jobs.size() == 2);
  CHECK(found.jobs[0].members == std::vector<std::size_t>{0, 2});
  CHECK(found.jobs[1].members == std::vector<std::size_t>{1, 3});
  CHECK(found.jobs[1].name == "run/w*.*.json (2)");
}

TEST_CASE("other names, sizes and folders are other jobs") {
  const std::vector<RankFacts> all = {facts("a/r0.json", 0, 2),    facts("a/r1.json", 1, 2), facts("b/r0.json", 0, 2),
                                      facts("b/r1.json", 1, 2),    facts("a/x0.json", 0, 8), facts("a/x1.json", 1, 8),
                                      facts("a/y.json", 2, 8, 500)};
  const Jobs found = find_jobs(all);
  CHECK(found.jobs.size() == 4);
}

TEST_CASE("a folder for each rank is one job, if the times fit") {
  const std::vector<RankFacts> all = {facts("run/r0/trace.json", 0, 3), facts("run/r1/trace.json", 1, 3),
                                      facts("run/r2/trace.json", 2, 3, 100)};
  const Jobs found = find_jobs(all);
  REQUIRE(found.jobs.size() == 2);
  CHECK(found.jobs[0].name == "run/*/trace.json");
  CHECK(found.jobs[0].members.size() == 2);
}

TEST_CASE("a folder for each rank, named alike, is one job where no size is known") {
  const auto of = [](const char* trace, std::int64_t rank, std::int64_t begin) {
    RankFacts out = facts(trace, rank, 0, begin);
    out.world_size = std::nullopt;
    return out;
  };
  const std::vector<RankFacts> all = {of("run/host_11_ascend_pt/OUT/p_0.db", 0, 0),
                                      of("run/host_12_ascend_pt/OUT/p_1.db", 1, 0),
                                      of("run/host_13_ascend_pt/OUT/p_2.db", 2, 100), of("run/other/p_3.db", 3, 0)};
  const Jobs found = find_jobs(all);
  REQUIRE(found.jobs.size() == 3);
  CHECK(found.jobs[0].members == std::vector<std::size_t>{0, 1});
}

TEST_CASE("traces without a rank are none of a job") {
  std::vector<RankFacts> all = {facts("a.json", 0, 1)};
  all.push_back({"b.json", std::nullopt, std::nullopt, 0, 1});
  const Jobs found = find_jobs(all);
  CHECK(found.without_rank == std::vector<std::size_t>{1});
  CHECK(found.jobs.size() == 1);
  CHECK(found.jobs[0].missing(all).empty());
}

TEST_CASE("the devices of one process are a job, those of a rank of a larger job are not") {
  std::vector<RankFacts> all = {facts("a.json", 0, 1), facts("run/r0.json", 0, 2), facts("run/r1.json", 1, 2)};
  all.push_back({"b.json", std::nullopt, std::nullopt, 0, 1});
  for (RankFacts& one : all) one.devices = {{1, 0}, {2, 1}};
  const Jobs found = find_jobs(all);
  CHECK(found.without_rank.empty());
  REQUIRE(found.jobs.size() == 3);
  CHECK(found.jobs[0].by_device);
  CHECK_FALSE(found.jobs[0].world_size);
  CHECK_FALSE(found.jobs[1].by_device);
  CHECK(found.jobs[2].by_device);
}

}  // namespace
}  // namespace tracedb
