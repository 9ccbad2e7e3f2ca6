#include "ranks/rank_trace.h"

#include <doctest/doctest.h>

namespace tracedb {
namespace {

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

}  // namespace
}  // namespace tracedb
