#include <doctest/doctest.h>

#include "ranks/job_analysis.h"
#include "ranks/rank_trace.h"
#include "ranks/waits.h"
#include "support/rows.h"

namespace tracedb {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

RankFacts facts(const char* trace, std::int64_t rank, std::int64_t size, std::int64_t begin = 0) {
  return {trace, rank, size, begin * kSecond, (begin + 1) * kSecond};
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
  CHECK(as_row(found.jobs.size(), found.jobs[0].missing(all).empty()) == "1 true");
}

TEST_CASE("the devices of one process are a job, those of a rank of a larger job are not") {
  std::vector<RankFacts> all = {facts("a.json", 0, 1), facts("run/r0.json", 0, 2), facts("run/r1.json", 1, 2)};
  all.push_back({"b.json", std::nullopt, std::nullopt, 0, 1});
  for (RankFacts& one : all) one.devices = {{1, 0}, {2, 1}};
  const Jobs found = find_jobs(all);
  CHECK(found.without_rank.empty());
  REQUIRE(found.jobs.size() == 3);
  CHECK(as_row(found.jobs[0].by_device, found.jobs[0].world_size, found.jobs[1].by_device, found.jobs[2].by_device) ==
        "true - false true");
}

TEST_CASE("hosts that drive several devices each are jobs of one time, of which none sees all") {
  std::vector<RankFacts> all;
  for (const char* trace : {"run/w-0.pb", "run/w-1.pb", "other/w-2.pb"}) {
    all.push_back({trace, std::nullopt, std::nullopt, 0, 1, {{1, 0}, {2, 1}}});
  }
  const Jobs found = find_jobs(all);
  REQUIRE(found.jobs.size() == 3);
  for (const Job& job : found.jobs) CHECK(job.by_device);
  CHECK(as_row(found.jobs[0].beside, found.jobs[1].beside, found.jobs[2].beside) == "1 1 0");
}

ExchangeEnd end_of(const char* name, const char* kernel, const char* ranks, const char* annotation,
                   std::int64_t source = kUnknownValue, std::int64_t destination = kUnknownValue) {
  return exchange_of({name, kernel, ranks, annotation, source, destination});
}

TEST_CASE("a send and a receive name the rank at the other end") {
  const ExchangeEnd send = end_of("send", "ncclDevKernel_SendRecv", "[0, 4]", "", kUnknownValue, 4);
  CHECK(send.exchange == Exchange::kSend);
  CHECK(send.peer == 4);
  const ExchangeEnd receive = end_of("recv", "ncclDevKernel_SendRecv", "[0, 4]", "", 0);
  CHECK(receive.exchange == Exchange::kReceive);
  CHECK(receive.peer == 0);
}

TEST_CASE("older traces name it in the annotation, as a place in the group") {
  CHECK(end_of("send", "k", "[3, 7, 11]", "nccl:send 0->2").peer == 11);
  CHECK(end_of("recv", "k", "[3, 7, 11]", "nccl:recv 2<-1").peer == 7);
  for (const char* ranks : {"[3, 7, ..., 11]", "", "[]", "[3", "[3, x]"}) {
    CHECK(end_of("send", "k", ranks, "nccl:send 0->2").exchange == Exchange::kUnknownPeer);
  }
  for (const char* annotation :
       {"", "nccl:recv 0<-2", "nccl:send 0->3", "nccl:send 0->-1", "nccl:send 0->", "a->1:send "}) {
    CHECK(end_of("send", "k", "[3, 7, 11]", annotation).exchange == Exchange::kUnknownPeer);
  }
}

TEST_CASE("NCCL's SendRecv is an all-to-all where the annotation says so, and else nobody knows whose") {
  CHECK(end_of("", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", "", "nccl:all_to_all").exchange ==
        Exchange::kCollective);
  CHECK(end_of("", "ncclDevKernel_SendRecv", "", "nccl:coalesced").exchange == Exchange::kUnknownPeer);
  CHECK(end_of("", "ncclDevKernel_SendRecv", "", "").exchange == Exchange::kUnknownPeer);
  CHECK(end_of("all_to_allv", "ncclDevKernel_SendRecv", "", "").exchange == Exchange::kCollective);
  CHECK(end_of("", "ncclDevKernel_AllReduce", "", "").exchange == Exchange::kCollective);
}

constexpr std::int64_t kUs = 1000;

// Ranks that compute for `busy` and then are idle until their collectives begin; all end at `end`.
struct Planned {
  std::int64_t start, busy;
};

class MadeJob {
 public:
  explicit MadeJob(std::size_t ranks) {
    job.ranks.resize(ranks);
    name_ = job.texts.collectives.number("allreduce");
    group_ = job.texts.groups.number("0");
    job.texts.classes.number("dense_gemm");
    for (std::size_t rank = 0; rank < ranks; ++rank) job.ranks[rank].rank = static_cast<std::int64_t>(rank);
  }

  void collective(const std::vector<Planned>& ranks, std::int64_t end, std::vector<std::int64_t> clock = {}) {
    ++sequence_;
    clock.resize(ranks.size());
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      RankTrace& trace = job.ranks[rank];
      const std::int64_t shift = clock[rank];
      const std::int64_t before = trace.collectives.empty() ? shift : trace.collectives.back().end;
      const std::int64_t start = ranks[rank].start + shift;
      const auto add = [&](TimeCover& cover) { cover.add(before, before + ranks[rank].busy); };
      add(trace.computing), add(trace.computing_or_comm), add(trace.working);
      trace.compute.push_back({before, ranks[rank].busy, 0});
      trace.computing_or_comm.add(start, end + shift);
      trace.working.add(start, end + shift);
      trace.figures.span = end;
      CollectiveEvent event;
      event.start = start;
      event.end = end + shift;
      event.name = name_;
      event.group = group_;
      event.sequence = sequence_;
      event.step = 1;
      trace.collectives.push_back(event);
    }
  }

  JobAnalysis job;

 private:
  std::uint32_t name_, group_;
  std::int64_t sequence_ = 0;
};

TEST_CASE("collectives that are not at one time are no match") {
  MadeJob made(2);
  for (int i = 1; i < 10; ++i) made.collective({{i * 100 * kUs, kUs}, {i * 100 * kUs, kUs}}, (i * 100 + 10) * kUs);
  made.job.ranks[1].collectives[4].start += 30 * kUs;
  made.job.ranks[1].collectives[4].end += 30 * kUs;
  analyse(made.job);
  CHECK(as_row(made.job.waits.apart, made.job.waits.collectives.size()) == "1 8");
}

TEST_CASE("exchanges without a peer are paired by order and time where two ranks alone have some") {
  for (const std::size_t ranks : {2U, 3U}) {
    MadeJob made(ranks);
    for (int i = 1; i < 10; ++i) {
      const std::int64_t at = i * 100 * kUs;
      made.collective(std::vector<Planned>(ranks, {at, kUs}), at + 10 * kUs);
    }
    for (RankTrace& rank : made.job.ranks) {
      for (CollectiveEvent& one : rank.collectives) one.exchange = Exchange::kUnknownPeer, one.sequence = kUnknownValue;
    }
    made.job.ranks[1].collectives[4].start += 30 * kUs;  // of another one: alone at its time
    made.job.ranks[1].collectives[4].end += 30 * kUs;
    analyse(made.job);
    CHECK(made.job.waits.collectives.size() == (ranks == 2 ? 8 : 0));
    CHECK(made.job.matching.unknown_peer == (ranks == 2 ? 2 : 27));
    CHECK(made.job.matching.single == 0);
  }
}

// One event of a rank, in order of start.
struct Sent {
  std::uint32_t rank;
  Exchange exchange;
  std::int64_t start, end;
};

JobAnalysis made_sends(std::size_t ranks, const std::vector<Sent>& sent) {
  JobAnalysis job;
  job.ranks.resize(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) job.ranks[rank].rank = static_cast<std::int64_t>(rank);
  for (const Sent& one : sent) {
    CollectiveEvent event;
    event.start = one.start * kUs;
    event.end = one.end * kUs;
    event.exchange = one.exchange;
    event.name = job.texts.collectives.number("send 0 to 1");
    event.group = job.texts.groups.number("pp");
    job.ranks[one.rank].collectives.push_back(event);
  }
  analyse(job);
  return job;
}

TEST_CASE("nobody waits for a send that ended before its receive began") {
  const JobAnalysis job = made_sends(2, {{0, Exchange::kSend, 0, 5},
                                         {1, Exchange::kReceive, 0, 5},
                                         {0, Exchange::kSend, 10, 20},
                                         {1, Exchange::kReceive, 50, 60},
                                         {0, Exchange::kSend, 100, 105},
                                         {1, Exchange::kReceive, 100, 105}});
  REQUIRE(job.waits.collectives.size() == 3);
  CHECK(as_row(job.waits.apart, job.waits.collectives[1].waiting) == "0 0");
  CHECK(job.waits.collectives[1].arrival == Arrival::kTogether);
}

TEST_CASE("data that are received before they are sent are not those") {
  const JobAnalysis job = made_sends(2, {{0, Exchange::kSend, 0, 5},
                                         {1, Exchange::kReceive, 0, 5},
                                         {0, Exchange::kSend, 90, 95},
                                         {1, Exchange::kReceive, 20, 30},
                                         {0, Exchange::kSend, 100, 105},
                                         {1, Exchange::kReceive, 100, 105}});
  CHECK(job.waits.apart == 1);
}

TEST_CASE("sends and receives without their other end are counted") {
  const JobAnalysis job = made_sends(3, {{0, Exchange::kSend, 0, 5},
                                         {1, Exchange::kReceive, 0, 5},
                                         {0, Exchange::kUnknownPeer, 6, 7},
                                         {1, Exchange::kReceive, 8, 9}});
  CHECK(as_row(job.matching.matched.size(), job.matching.unknown_peer, without_other_end(job.matching),
               job.matching.single) == "1 1 1 0");
}

}  // namespace
}  // namespace tracedb
