#include "trace/rank_name.h"

#include <doctest/doctest.h>

namespace tracedb {
namespace {

std::string rank(std::string_view name) {
  const std::optional<NamedRank> found = rank_in_name(name);
  return found ? std::to_string(found->rank) + " " + found->from : "none";
}

struct Case {
  const char* name;
  const char* rank;
};

}  // namespace

TEST_CASE("ranks in names") {
  for (const Case& tried : {
           Case{"rank0.json", "0 rank0"},
           {"rank0.pt.trace.json.gz", "0 rank0"},
           {"rank_3.json", "3 rank_3"},
           {"rank-12.json.gz", "12 rank-12"},
           {"rank=7.json", "7 rank=7"},
           {"rank_00031.json", "31 rank_00031"},
           {"RANK2.json", "2 RANK2"},
           {"Rank 4.json", "4 Rank 4"},
           {"inference_rank1_kernels_only.json.gz", "1 rank1"},
           {"cpu_only_rank34.json.gz", "34 rank34"},
           {"3f2a-rank-3.1754398294123456789.pt.trace.json.gz", "3 rank-3"},
           {"host_1234.rank5.1754398294.pt.trace.json", "5 rank5"},
           {"node7_rank61.json", "61 rank61"},
           {"rank0_20240513.json", "0 rank0"},
           {"rank3of8.json", "3 rank3"},
           {"rank3_of_8.json", "3 rank3"},
           {"global_rank9.json", "9 rank9"},
           {"globalrank9.json", "9 globalrank9"},
           {"node1_local_rank3_rank11.json", "11 rank11"},
           {"local_rank3_global_rank_11.json", "11 rank_11"},
           {"rank5_rank-5.json", "5 rank5"},
           {"mi300x_rank2.json", "2 rank2"},
           {"dp0_pp0_tp3_dcp0_ep3_rank3.1754.pt.trace.json.gz", "3 rank3"},
           {"dp1_pp0_tp3_rank11.pt.trace.json.gz", "11 rank11"},
           {"dp0_pp0_tp3.pt.trace.json.gz", "3 dp0_pp0_tp3"},
           {"dp0_pp0_tp3_ep3.json", "3 dp0_pp0_tp3_ep3"},
           {"tp5-pp0.json", "5 tp5-pp0"},
           {"tp0_pp0.json", "0 tp0_pp0"},
           {"run_tp0.json", "0 tp0"},
           {"TP-3.trace.json.gz", "3 TP-3"},
           {"ascend_pytorch_profiler_3.db", "3 pytorch_profiler_3"},
           {"profiler_info_12.json", "12 profiler_info_12"},
           {"1754398294.1234567-TP-3.trace.json.gz", "3 TP-3"},
           {"1754398294.1234567-TP-3-DECODE.trace.json.gz", "3 TP-3"},
           {"1754398294.1-TP-3-DP-0-PP-0-EP-0.trace.json.gz", "3 TP-3-DP-0-PP-0-EP-0"},
       }) {
    CAPTURE(tried.name);
    CHECK(rank(tried.name) == tried.rank);
  }
}

TEST_CASE("names that tell no rank, or more than one") {
  for (const char* name : {"",
                           "rank",
                           "rank.json",
                           "no_rank.json.gz",
                           "rank_a.json",
                           "rankings5.json",
                           "ranks8.json",
                           "frank3.json",
                           "lowrank8.json",
                           "low_rank8.json",
                           "lora_rank16.json",
                           "lora-rank-16.json",
                           "rerank2.json",
                           "re-rank-2.json",
                           "dlrm_8rank.json",
                           "8rank3.json",
                           "rank16bit.json",
                           "rank3b.json",
                           "rank--3.json",
                           "local_rank3.json",
                           "local-rank-3.json",
                           "node1_local_rank3.json",
                           "tp_rank3.json",
                           "pp-rank-1.json",
                           "rank_20240513.json",
                           "rank_240513.json",
                           "rank1754398294.json",
                           "rank99999999999999999999.json",
                           "rank0_vs_rank1.json",
                           "2024-05-13_12-30-59.json",
                           "20240513.json",
                           "host_31337.1715600000000000000.pt.trace.json",
                           "worker3.pt.trace.json",
                           "localhost_42.json",
                           "mi300x.json",
                           "h100_0.json",
                           "gpu3.json",
                           "llama_tp4_vllm_mi300x.pt.trace.json.gz",
                           "llama-70b-TP-4.trace.json.gz",
                           "TP-4-H100.trace.json.gz",
                           "tp-3.trace.json.gz",
                           "tp8.json",
                           "tp4_pp2.json",
                           "tp8_dp1.json",
                           "dp1_pp0_tp3.json",
                           "tp3_pp1.json",
                           "dp3.json",
                           "pp0.json",
                           "tp0_tp1_pp0.json",
                           "http0.json",
                           "1754398294.1-TP-3-DP-1.trace.json.gz",
                           "r16.json"}) {
    CAPTURE(name);
    CHECK(rank(name) == "none");
  }
}

}  // namespace tracedb
