#include "ingest/nsys/database.h"

#include <doctest/doctest.h>

namespace tracedb {

TEST_CASE("ranges of PyTorch's emit_nvtx are operators") {
  const auto op = parse_nvtx_operator("aten::mul, seq = 45328, op_id = 990726, sizes = [[2, 3], []]");
  REQUIRE(op.has_value());
  CHECK(op->name == "aten::mul");
  CHECK(op->sequence_number == 45328);
  CHECK(op->sizes == "[[2, 3], []]");
  CHECK(parse_nvtx_operator("aten::empty, op_id = 990346")->name == "aten::empty");
  CHECK_FALSE(parse_nvtx_operator("aten::empty, op_id = 990346")->sequence_number.has_value());
  CHECK(parse_nvtx_operator("a, op_id = 1, sizes = [[1]], input_op_ids = [(0,0)]")->sizes == "[[1]]");
  for (const char* text : {"forward", ", op_id = 1", "step, op_id = x", "a, seq", ""}) {
    CAPTURE(text);
    CHECK_FALSE(parse_nvtx_operator(text).has_value());
  }
}

TEST_CASE("names of calls lose their version") {
  CHECK(without_api_version("cudaLaunchKernel_v7000") == "cudaLaunchKernel");
  CHECK(without_api_version("cudaThreadExchangeStreamCaptureMode_v10010") == "cudaThreadExchangeStreamCaptureMode");
  CHECK(without_api_version("cuMemcpyHtoD_v2") == "cuMemcpyHtoD_v2");
  CHECK(without_api_version("cuLaunchKernel") == "cuLaunchKernel");
  CHECK(without_api_version("_v1234") == "_v1234");
}

}  // namespace tracedb
