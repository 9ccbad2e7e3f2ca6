#include "ingest/ascend/tasks.h"

#include <doctest/doctest.h>

namespace tracedb {

TEST_CASE("the type of an operation is in the names of its tasks, or they are taken as they are") {
  CHECK(operation_type("aclnnMatmul_MatMulCommon_MatMulV2") == "MatMulV2");
  CHECK(operation_type("aclnnInplaceRelu_Relu_Relu") == "Relu");
  CHECK(operation_type("trans_TransData_12") == "TransData");
  for (const char* name :
       {"Conv2D1", "RmsNormGrad", "aclnnMul", "aclnnMul_", "aclnnA_B_", "aclnnA_B_3", "trans_", "trans_x", ""}) {
    CAPTURE(name);
    CHECK(operation_type(name) == name);
  }
}

TEST_CASE("what only orders, waits or moves data does not compute") {
  CHECK(is_compute_task("AI_CORE", "MatMulV2"));
  CHECK(is_compute_task("Other", "aclnnDivs_RealDivAiCore_RealDiv"));
  CHECK(is_compute_task("AI_CPU", "aclnnCast_CastAiCpu_Cast"));
  CHECK_FALSE(is_compute_task("EVENT_WAIT_SQE", "EVENT_WAIT"));
  CHECK_FALSE(is_compute_task("Other", "EVENT_RECORD"));
  CHECK_FALSE(is_compute_task("PLACE_HOLDER_SQE", "PROFILING_ENABLE"));
  CHECK_FALSE(is_compute_task("SDMA", "SDMA"));
  CHECK_FALSE(is_compute_task("AI_CORE", "KERNEL_AICORE"));
  CHECK(is_memory_task("MEMCPY_ASYNC"));
  CHECK_FALSE(is_memset_task("MEMCPY_ASYNC"));
  CHECK(is_memset_task("MEMSET_ASYNC"));
}

TEST_CASE("host calls are named as in trace_view.json") {
  CHECK(cann_call_name("node", "launch") == "Node@launch");
  CHECK(cann_call_name("acl", "aclrtMemcpyAsync") == "AscendCL@aclrtMemcpyAsync");
  CHECK(cann_call_name("", "x") == "x");
}

}  // namespace tracedb
