#include "ingest/ascend/kernel_csv.h"

#include <doctest/doctest.h>

#include <string>

#include "ingest/ascend/tasks.h"
#include "support/ingested.h"

namespace tracedb {
namespace {

using namespace std::string_literals;

const std::string kHead =
    "Step Id,Device_id,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Block Dim,"
    "Input Shapes\r\n";

std::string kernels(Ingested& index) {
  return index.rows("SELECT n.name, k.ts, k.dur FROM kernel k JOIN kernel_name n ON n.id = k.name_id ORDER BY k.id");
}

std::string counts(Ingested& index) {
  return index.rows("SELECT category, read, stored, skipped, skip_reason FROM event_count WHERE category = 'kernel'");
}

}  // namespace

TEST_CASE("a table of Ascend kernels is told by its columns") {
  CHECK(begins_as_ascend_kernel_csv(kHead));
  CHECK(begins_as_ascend_kernel_csv("\xEF\xBB\xBFOP Type, Task Duration(us) ,\"Task Start Time(us)\",x\n"));
  CHECK(begins_as_ascend_kernel_csv("Name,Start Time(us),Duration(us)"));
  CHECK_FALSE(begins_as_ascend_kernel_csv("OP Type,Core Type,Count,Total Time(us)\n"));
  CHECK_FALSE(begins_as_ascend_kernel_csv("Start Time(us),Duration(us),Wait\n"));
  CHECK_FALSE(begins_as_ascend_kernel_csv("{\"traceEvents\": []}"));
  CHECK_FALSE(begins_as_ascend_kernel_csv(""));
}

TEST_CASE("rows of a kernel table become kernels, exact to the nanosecond") {
  Ingested index(kHead +
                 "7,0,2,aclnnMatmul_MatMulCommon_MatMulV2,MatMulV2,AI_CORE,\"1736408883704643.212\t\",53.741,24,"
                 "\"\"\"64,128;128,32\"\"\"\r\n"
                 "7,0,N/A,hcom_allReduce__586_3_1,hcom_allReduce_,HCCL,1736408883704700.5,2,0,N/A\r\n"
                 "\r\n"
                 "8,0,2,Add12,N/A,AI_VECTOR_CORE,1736408883704800,1.2604,1,\"\"\"4\"\"\"\r\n");
  CHECK(kernels(index) == "MatMulV2 0 53741; hcom_allReduce_ 57288 2000; Add12 156788 1260");
  CHECK(index.meta("format") == "ascend-kernel-csv");
  CHECK(index.meta("vendor") == "ascend");
  CHECK(index.meta("base_time_ns") == "1736408883704643212");
  CHECK(counts(index) == "kernel 3 3 0 -");
  CHECK(index.rows("SELECT k.kind, s.number, d.ordinal FROM kernel k JOIN stream s ON s.id = k.stream_id "
                   "JOIN device d ON d.id = s.device_id ORDER BY k.id") == "compute 2 0; comm - 0; compute 2 0");
  CHECK(index.rows("SELECT l.grid_x, t.name, t.core, t.input_shapes FROM kernel k JOIN launch_config l ON l.id = "
                   "k.launch_config_id JOIN task_info t ON t.launch_config_id = l.id ORDER BY k.id") ==
        "24 aclnnMatmul_MatMulCommon_MatMulV2 AI_CORE 64,128;128,32; 0 hcom_allReduce__586_3_1 HCCL -; "
        "1 Add12 AI_VECTOR_CORE 4");
  CHECK(index.rows("SELECT name, group_name, sequence FROM collective") == "allReduce 586 3");
  CHECK(index.rows("SELECT step, name, kernels FROM steps") == "0 ProfilerStep#7 2; 1 ProfilerStep#8 1");
}

TEST_CASE("cells that say nothing usable are counted, row by row") {
  Ingested index(
      "Type,Start Time(us),Duration(us)\n"
      "A,N/A,1\n"
      "B,soon,1\n"
      "C,10,N/A\n"
      "D,11,-1\n"
      "E,12,1e400\n"
      ",13,1\n"
      "F,14\n"
      "G,15,1,extra\n"
      "H,99999999999999999999,1\n");
  CHECK(kernels(index) == "C 0 -; D 1000 -; E 2000 -;  3000 1000; F 4000 -; G 5000 1000");
  CHECK(counts(index) == "kernel 9 6 3 no usable timestamp");
  CHECK(index.issues(IssueKind::kMissingTimestamp) == 1);
  CHECK(index.issues(IssueKind::kBadTimestamp) == 2);
  CHECK(index.issues(IssueKind::kMissingDuration) == 2);
  CHECK(index.issues(IssueKind::kNegativeDuration) == 1);
  CHECK(index.issues(IssueKind::kBadDuration) == 1);
  CHECK(index.issues(IssueKind::kMissingName) == 1);
  CHECK(index.issues(IssueKind::kRaggedRow) == 2);
  CHECK(index.meta("complete") == "1");
}

TEST_CASE("a column that is there twice and a step that has no number are issues") {
  Ingested index(
      "Step Id,Type,Start Time(us),Duration(us),Duration(us),,\n"
      "1,Add,10,5,7,,\n"
      "soon,Add,20,5,8,,\n"
      "99999999999999999999,Add,30,5,9,,\n"
      "N/A,Add,40,5,1,,\n");
  CHECK(kernels(index) == "Add 0 7000; Add 10000 8000; Add 20000 9000; Add 30000 1000");
  CHECK(index.rows("SELECT kind, count, sample FROM issue WHERE severity = 'warning' ORDER BY kind") ==
        "bad_number 2 soon; duplicate_key 1 Duration(us)");
}

TEST_CASE("a table that is cut off keeps what came before") {
  const std::string before = "Type,Start Time(us),Duration(us),Shape\nA,10,1,x\n";
  for (const char* rest : {"B,1", "B,11,", "B,11,1", "B,11,1,\"", "B,11,1,\"y"}) {
    CAPTURE(rest);
    Ingested index(before + rest);
    CHECK(index.meta("complete") == "0");
    CHECK(index.issues(IssueKind::kTruncated) == 1);
    CHECK(kernels(index) == "A 0 1000");
    CHECK(counts(index) == "kernel 2 1 1 malformed");
  }
  CHECK(Ingested(before).meta("complete") == "1");
  CHECK(Ingested(before + "B,11,1,\"y\"").meta("complete") == "1");
}

TEST_CASE("text that cannot be stored is replaced and counted in every row") {
  Ingested index("Type,Start Time(us),Duration(us)\nA\xFF,1,1\nA\xFF,2,1\nB\0,3,1\n"s);
  CHECK(index.issues(IssueKind::kReplacedCharacter) == 3);
  CHECK(index.rows("SELECT name FROM kernel_name ORDER BY id") == "A\xEF\xBF\xBD; B\xEF\xBF\xBD");
}

TEST_CASE("names of collectives say which one of which group they are") {
  const auto parts = parse_hcom_name("hcom_batchSendRecv__128_3_1");
  REQUIRE(parts.has_value());
  CHECK(parts->type == "hcom_batchSendRecv_");
  CHECK(parts->operation == "batchSendRecv");
  CHECK(parts->group == "128");
  CHECK(parts->sequence == 3);
  CHECK(parse_hcom_name("hcom_broadcast__445_0")->sequence == 0);
  for (const char* name : {"hcom_", "hcom__1_2", "hcom_allReduce_", "hcom_x__1", "hcom_x__1_y", "MatMulV2", ""}) {
    CAPTURE(name);
    CHECK_FALSE(parse_hcom_name(name).has_value());
  }
}

}  // namespace tracedb
