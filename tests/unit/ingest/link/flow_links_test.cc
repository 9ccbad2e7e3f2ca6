// Links that flows make, and links that they confirm.
#include <doctest/doctest.h>

#include <string>

#include "index/index.h"
#include "index/verify.h"
#include "support/ingested.h"

namespace tracedb {
namespace {

std::string flow(std::string_view ph, int id, std::string_view track, std::string_view ts) {
  return fmt::format(R"({{"ph":"{}","cat":"ac2g","name":"ac2g","id":{},{},"ts":{},"bp":"e"}},)", ph, id, track, ts);
}
std::string arrow(int id, std::string_view thread, std::string_view from, std::string_view to) {
  return flow("s", id, thread, from) + flow("f", id, kGpuStream, to);
}

constexpr std::string_view kLinks =
    "SELECT n.name, t.value, o.value FROM kernel k JOIN kernel_name n ON n.id = k.name_id LEFT JOIN runtime_call r ON "
    "r.id = k.launch_id LEFT JOIN string t ON t.id = r.name_id LEFT JOIN cpu_op c ON c.id = k.cpu_op_id LEFT JOIN "
    "string o ON o.id = c.name_id ORDER BY k.id";

constexpr std::string_view kStream = R"("device":0,"stream":7)";

std::string verified(Ingested& trace) {
  for (const VerifyFinding& finding : verify(Index::open(trace.directory() / "index"), {})) {
    if (finding.check == "flows") return finding.detail;
  }
  return "";
}

}  // namespace

TEST_CASE("kernels without a correlation take the call, or the operator, where their flow begins") {
  Ingested index(trace_of(
      event("cpu_op", "aten::mm", kMainThread, "0", "10", R"("External id":1)") +
      event("cuda_runtime", "cudaLaunchKernel", kMainThread, "5", "2") +
      event("cpu_op", "aten::relu", kMainThread, "40", "10", R"("External id":2)") +
      event("cpu_op", "aten::add", kOtherThread, "60", "10", R"("External id":3)") + arrow(1, kMainThread, "5", "20") +
      arrow(2, kOtherThread, "62", "80") + arrow(3, kMainThread, "95", "90") +
      // The External id of the first names an operator that starts 20 us behind it.
      event("kernel", "gemm", kGpuStream, "20", "5", fmt::format(R"("External id":2,{})", kStream)) +
      event("kernel", "add", kGpuStream, "80", "5", kStream) +
      event("kernel", "backwards", kGpuStream, "90", "5", kStream)));
  CHECK(index.rows(kLinks) == "gemm cudaLaunchKernel aten::mm; add - aten::add; backwards - -");
  CHECK(index.meta("links_made_by_flow") == "2");
  CHECK(index.issues(IssueKind::kKernelWithoutLaunch) == 2);
}

TEST_CASE("flows by the track that events are drawn on, and with ids that are texts") {
  Ingested index(trace_of(event("cpu_op", "op", kMainThread, "0", "10") +
                          R"({"ph":"s","cat":"async","name":"launch","id":"x1","pid":100,"tid":1,"ts":3},)"
                          R"({"ph":"f","cat":"async","name":"launch","id":"x1","pid":2,"tid":"stream 7","ts":20},)" +
                          event("kernel", "k", R"("pid":2,"tid":"stream 7")", "20", "5", kStream)));
  CHECK(index.rows(kLinks) == "k - op");
}

TEST_CASE("an External id never links to an operator behind the kernel, nor where it is another numbering") {
  const auto op = [](int id) {
    return event("cpu_op", fmt::format("op{}", id), kMainThread, std::to_string(100 * id), "10",
                 fmt::format(R"("External id":{})", id));
  };
  const auto kernel = [](int at, int id) {
    return event("kernel", fmt::format("k{}", id), kGpuStream, std::to_string(at), "5",
                 fmt::format(R"("External id":{},"correlation":{})", id, 900 + at));
  };
  std::string events = event("cuda_runtime", "cudaLaunchKernel", kMainThread, "1", "2", R"("correlation":1)");
  for (int id = 1; id <= 4; ++id) events += op(id);
  Ingested late(trace_of(events + kernel(50, 1) + kernel(250, 2) + kernel(260, 3) + kernel(450, 4)));
  CHECK(late.rows(kLinks) == "k1 - -; k2 - op2; k3 - -; k4 - op4");
  // Without correlations, and with half of the ids too early, none of them can be believed.
  std::string without;
  for (int id = 1; id <= 4; ++id) {
    without += event("kernel", fmt::format("k{}", id), kGpuStream, std::to_string(id < 3 ? 50 + id : 500 + id), "1",
                     fmt::format(R"("External id":{})", id));
  }
  Ingested other(trace_of(events + without));
  CHECK(other.rows(kLinks) == "k1 - -; k2 - -; k3 - -; k4 - -");
}

TEST_CASE("verify says how many links the flows confirm, and which they contradict") {
  const auto launched = [](int id) {
    return event("cuda_runtime", "cudaLaunchKernel", kMainThread, std::to_string(10 * id), "2",
                 fmt::format(R"("correlation":{})", id)) +
           event("kernel", fmt::format("k{}", id), kGpuStream, std::to_string(10 * id + 5), "1",
                 fmt::format(R"("correlation":{},{})", id, kStream));
  };
  const std::string launches = launched(1) + launched(2) + launched(3);
  Ingested good(trace_of(launches + arrow(1, kMainThread, "10", "15") + arrow(2, kMainThread, "21", "25")));
  CHECK(good.meta("links_confirmed_by_flow") == "2");
  CHECK(good.meta("links_contradicted_by_flow") == "0");
  CHECK(verified(good) == "of 3 launch links the flows of the trace confirm 2 and contradict 0; flows alone made 0");
  Ingested bad(trace_of(launches + arrow(1, kMainThread, "20", "15") + arrow(2, kOtherThread, "20", "25") +
                        arrow(3, kMainThread, "30", "35")));
  CHECK(bad.meta("links_confirmed_by_flow") == "1");
  CHECK(bad.meta("links_contradicted_by_flow") == "1");
  CHECK(bad.issues(IssueKind::kFlowContradictsLaunch) == 1);
}

}  // namespace tracedb
