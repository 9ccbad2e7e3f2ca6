#include "ingest/formats.h"

#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <string>

#include "base/error.h"
#include "base/stream/byte_source.h"
#include "ingest/ascend/readers.h"
#include "ingest/ascend/tasks.h"
#include "ingest/nsys/database.h"
#include "ingest/output_guard.h"
#include "support/cases.h"
#include "support/ingested.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

using namespace std::string_literals;

std::string name_of(const std::string& head, const std::string& file = "file.bin") {
  return std::string(trace_format(head, file).name);
}

std::string tar_of(const std::string& name) {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  return block.replace(257, 5, "ustar");
}

TEST_CASE("formats are told by how they begin") {
  const std::string sqlite = "SQLite format 3\0"s + std::string(84, '\0');
  const struct {
    std::string head, word;
  } cases[] = {
      {sqlite + "CREATE TABLE \"rocpd_op\"", "RPD"},
      {sqlite + "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL", "Nsight Systems SQLite"},
      {sqlite + "CREATE TABLE CANN_API", "Ascend"},
      {sqlite, "SQLite database"},
      {"{\"rocprofiler-sdk-tool\":[{", "rocprofv3"},
      {" {\n \"rocprofiler-sdk-tool\" : [{", "rocprofv3"},
      {"[\n {\n \"file\": \"a.json\",\n \"batch_size\": 32}]", "captured graphs"},
      {"PK\x03\x04", "zip"},
      {"\xFD"s + "7zXZ\0"s, "xz"},
      {"BZh91AY&SY", "bzip2"},
      {"\x04\x22\x4D\x18", "lz4"},
      {tar_of("trace.json"), "tar"},
      {"\x1f\x8b\x08", "compressed twice"},
      {"\x0a\x20\x08\x01\x12", "Perfetto"},
      {"\x0a\xe3\xdc\x07\x12\x0e/host:metadata\"", "xplane"},
      {"\x0a\x20\x08\x01\x12\x0d/device:GPU:0\x1a", "xplane"},
      {"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12", "pprof"},
      {"\x0a\x04\x08\x01\x10\x02\x12\x04\x0a\x01\x01", "pprof"},
      {"\x80\x04\x95", "pickle"},
      {"version https://git-lfs.github.com/spec/v1\n", "git-lfs"},
      {"\n <!DOCTYPE html>", "HTML"},
      {"Step Id,Device_id,Name,Duration(us)\n", "CSV"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.word);
    CHECK(name_of(c.head).find(c.word) != std::string::npos);
  }
  CHECK(name_of("whatever", "run.nsys-rep").find("Nsight Systems report") != std::string::npos);
  CHECK(name_of("\x0a\x10", "host.xplane.pb") == "xplane");
}

TEST_CASE("what no other line knows is for the reader of JSON traces") {
  check_each("kineto", [](std::string_view head) { return name_of(std::string(head)); },
             {"{\"schemaVersion\": 1, \"traceEvents\": [", "[{\"ph\": \"X\", \"name\": \"Duration,a,b,c\"", "",
              "\n\n{\"traceEvents\":", "this is no trace", "[{\"file\": 1, \"ph\": \"X\"}]", "{}", "42"});
}

TEST_CASE("a damaged beginning may look like another format, which is not certain then") {
  for (const std::string& head :
       {"\n\x01{\"traceEvents\":"s, "<\"schemaVersion\": 1"s, "a,\"b\",Kernel,1,2"s, "\x80\x04"s + "x"}) {
    const TraceFormat& format = trace_format(head, "trace.json");
    CHECK(format.name != "kineto");
    CHECK_FALSE(format.certain);
  }
}

TEST_CASE("every format has a name, each once, and a reader or advice") {
  std::set<std::string_view> names;
  for (const TraceFormat& format : trace_formats()) {
    CHECK(names.insert(format.name).second);
    const bool is_read = format.read != nullptr;
    CHECK(is_read == format.advice.empty());
    CHECK(format.name.find('\n') == std::string_view::npos);
  }
}

TEST_CASE("what was looked at is read again") {
  for (const std::size_t looked : {0U, 1U, 7U, 100U}) {
    const auto source = memory_byte_source("0123456789");
    CHECK(source->peek(looked) == std::string("0123456789").substr(0, looked));
    std::string all;
    char buffer[3];
    for (std::size_t got = 1; got > 0;) {
      got = source->read(buffer, sizeof buffer);
      all.append(buffer, got);
    }
    CHECK(all == "0123456789");
  }
}

TEST_CASE("recordings are found by content, reports are none") {
  const TempDirectory folder;
  const auto holds = [&](std::string_view content) { return recording_in(folder.write("file", content)); };
  check_each("a trace", holds,
             {"{\"traceEvents\": []}", "{\"deviceProperties\": [", "[{\"name\": \"a\", \"ph\": \"X\"}, {\"na",
              "\n\x01{\"ph\": \"X\"}, {\"ph\": \"X\"}"});
  check_each("a zip archive", holds, {"PK\x03\x04"});
  check_each(
      "", holds,
      {"kind,sample\nmalformed,{\"ph\": \"X\"}\n", "{\"schema\": \"tracedb.kernels/1\", \"rows\": [{\"ph\": \"X\"}]}",
       "{\"path\":\"a.json\"}\n{\"path\":\"b.json\"}\n", "[1, 2]", "Name,Kernels,Total Duration,a,b\n", ""});
  CHECK(recording_in(folder / "absent").empty());
  CHECK(recording_in("/dev/null").empty());
}

TEST_CASE("ranges of PyTorch's emit_nvtx are operators") {
  const auto op = parse_nvtx_operator("aten::mul, seq = 45328, op_id = 990726, sizes = [[2, 3], []]");
  REQUIRE(op.has_value());
  CHECK(op->name == "aten::mul");
  CHECK(op->sequence_number == 45328);
  CHECK(op->sizes == "[[2, 3], []]");
  CHECK(parse_nvtx_operator("aten::empty, op_id = 990346")->name == "aten::empty");
  CHECK_FALSE(parse_nvtx_operator("aten::empty, op_id = 990346")->sequence_number.has_value());
  CHECK(parse_nvtx_operator("a, op_id = 1, sizes = [[1]], input_op_ids = [(0,0)]")->sizes == "[[1]]");
  check_each(false, [](std::string_view text) { return parse_nvtx_operator(text).has_value(); },
             {"forward", ", op_id = 1", "step, op_id = x", "a, seq", "decode, seq = 4096", "aten::mm, seq = x", ""});
  check_each(true, [](std::string_view text) { return parse_nvtx_operator(text).has_value(); },
             {"MmBackward, seq = 7", "aten::mm, seq = 7, sizes = [[1]]"});
}

TEST_CASE("names of calls lose their version") {
  CHECK(without_api_version("cudaLaunchKernel_v7000") == "cudaLaunchKernel");
  CHECK(without_api_version("cudaThreadExchangeStreamCaptureMode_v10010") == "cudaThreadExchangeStreamCaptureMode");
  check_unchanged(without_api_version, {"cuMemcpyHtoD_v2", "cuLaunchKernel", "_v1234"});
}

using namespace std::string_literals;

constexpr std::string_view kHead =
    "Step Id,Device_id,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Block Dim,"
    "Input Shapes\r\n";

std::string kernels(Ingested& index) {
  return index.rows("SELECT n.name, k.ts, k.dur FROM kernel k JOIN kernel_name n ON n.id = k.name_id ORDER BY k.id");
}

std::string counts(Ingested& index) {
  return index.rows("SELECT category, read, stored, skipped, skip_reason FROM event_count WHERE category = 'kernel'");
}

TEST_CASE("a table of Ascend kernels is told by its columns") {
  check_each(true, begins_as_ascend_kernel_csv,
             {kHead, "\xEF\xBB\xBFOP Type, Task Duration(us) ,\"Task Start Time(us)\",x\n",
              "Name,Start Time(us),Duration(us)"});
  check_each(
      false, begins_as_ascend_kernel_csv,
      {"OP Type,Core Type,Count,Total Time(us)\n", "Start Time(us),Duration(us),Wait\n", "{\"traceEvents\": []}", ""});
}

TEST_CASE("rows of a kernel table become kernels, exact to the nanosecond") {
  Ingested index(std::string(kHead) +
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
  CHECK(index.issue_counts() ==
        "bad_duration 1; bad_timestamp 2; missing_duration 2; missing_name 1; missing_timestamp 1; "
        "negative_duration 1; ragged_row 2");
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
  check_each(false, [](std::string_view name) { return parse_hcom_name(name).has_value(); },
             {"hcom_", "hcom__1_2", "hcom_allReduce_", "hcom_x__1", "hcom_x__1_y", "MatMulV2", ""});
}

TEST_CASE("the type of an operation is in the names of its tasks, or they are taken as they are") {
  CHECK(operation_type("aclnnMatmul_MatMulCommon_MatMulV2") == "MatMulV2");
  CHECK(operation_type("aclnnInplaceRelu_Relu_Relu") == "Relu");
  CHECK(operation_type("trans_TransData_12") == "TransData");
  CHECK(operation_type("Conv2D12") == "Conv2D");
  CHECK(operation_type("MatMulV212") == "MatMulV2");
  CHECK(operation_type("BatchNorm3D4") == "BatchNorm3D");
  CHECK(operation_type("trans_TransData_3_MemSet") == "MemSet");
  check_unchanged(operation_type,
                  {"MatMulV2",          "Conv2D",        "RmsNormGrad",     "aclnnMul",  "aclnnMul_",
                   "aclnnA_B_",         "aclnnA_B_3",    "trans_",          "trans_x",   "",
                   "quant_matmul_int8", "rms_norm_fp16", "add_custom_bf16", "kernel_v2", "triton_poi_fused_add_0",
                   "LinearFp16",        "Relu6",         "Atan2",           "Exp2",      "Expm1"});
}

TEST_CASE("what only orders, waits or moves data does not compute") {
  const auto work = [](std::pair<std::string_view, std::string_view> task) {
    return work_of_task(task.first, task.second);
  };
  for (const auto& task : {std::pair("AI_CORE", "MatMulV2"),
                           {"Other", "aclnnDivs_RealDivAiCore_RealDiv"},
                           {"AI_CPU", "aclnnCast_CastAiCpu_Cast"},
                           {"KERNEL_MIX_AIC", "trans_TransData_7"}}) {
    CHECK(work(task) == TaskWork::kCompute);
  }
  for (const auto& task : {std::pair("EVENT_WAIT_SQE", "EVENT_WAIT"),
                           {"Other", "EVENT_RECORD"},
                           {"SDMA", "SDMA"},
                           {"PLACE_HOLDER_SQE", "PROFILING_ENABLE"},
                           {"AI_CORE", "KERNEL_AICORE"},
                           {"SDMA_SQE", "x"}}) {
    CHECK(work(task) == TaskWork::kNone);
  }
  CHECK(work({"NEW_CORE", "MatMulV2"}) == TaskWork::kUnknown);
  CHECK(is_memory_task("MEMCPY_ASYNC"));
  CHECK_FALSE(is_memset_task("MEMCPY_ASYNC"));
  CHECK(is_memset_task("MEMSET_ASYNC"));
}

TEST_CASE("host calls are named as in trace_view.json") {
  CHECK(cann_call_name("node", "launch") == "Node@launch");
  CHECK(cann_call_name("acl", "aclrtMemcpyAsync") == "AscendCL@aclrtMemcpyAsync");
  CHECK(cann_call_name("", "x") == "x");
}

}  // namespace
}  // namespace tracedb
