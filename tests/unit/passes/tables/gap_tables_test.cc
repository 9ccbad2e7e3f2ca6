// Gaps with what the host did, from a trace through all of ingest.
#include <doctest/doctest.h>

#include "support/asked_passes.h"
#include "support/ingested.h"

namespace tracedb {
namespace {

std::string launched(std::string_view name, int correlation, int launch, int ts, int dur) {
  return event("cuda_runtime", "cudaLaunchKernel", kMainThread, std::to_string(launch), "2",
               fmt::format(R"("correlation":{})", correlation)) +
         event("kernel", name, kGpuStream, std::to_string(ts), std::to_string(dur),
               fmt::format(R"("device":0,"stream":7,"correlation":{})", correlation));
}

// Two steps of two kernels; before each kernel but the first, the device waits for the host.
std::string two_steps() {
  return trace_of(
      event("user_annotation", "ProfilerStep#0", kMainThread, "0", "100") +
      event("user_annotation", "ProfilerStep#1", kMainThread, "100", "100") +
      event("python_function", "train.py(3): step", kMainThread, "0", "200", R"("Python id":1)") +
      event("python_function", "data.py(8): load", kMainThread, "60", "55", R"("Python id":2,"Python parent id":1)") +
      launched("norm", 1, 5, 10, 10) + launched("gemm", 2, 40, 45, 10) + launched("norm", 3, 120, 125, 5) +
      launched("gemm", 4, 150, 155, 5));
}

struct GapFixture {
  Ingested ingested{two_steps()};
  Index index = Index::open(ingested.directory() / "index");
  [[nodiscard]] std::string rows(std::string_view sql, const PassOptions& options = {}) const {
    return ask_passes(index, sql, {}, options);
  }
};

}  // namespace

TEST_CASE("gaps say where the host was, and whether a step ends in them") {
  const GapFixture fixture;
  CHECK(fixture.rows("SELECT ts, dur, cause, between_steps, host, host_time, host_call, host_call_time, python_calls "
                     "FROM idle_gaps ORDER BY ts") ==
        "20000 25000 host_wait 0 train.py(3): step 25000 cudaLaunchKernel 2000 0; "
        "55000 70000 host_wait 1 data.py(8): load 55000 cudaLaunchKernel 2000 1; "
        "130000 25000 host_wait 0 train.py(3): step 25000 cudaLaunchKernel 2000 0");
}

TEST_CASE("gaps that are alike are one row") {
  const GapFixture fixture;
  constexpr std::string_view kGroups =
      "SELECT cause, between_steps, before, next, host, instances, dur, longest, ts, host_time, all_gaps, all_idle "
      "FROM gap_groups";
  CHECK(fixture.rows(kGroups) ==
        "host_wait 1 gemm norm data.py(8): load 1 70000 70000 55000 55000 3 120000; "
        "host_wait 0 norm gemm train.py(3): step 2 50000 25000 20000 50000 3 120000");
  PassOptions longer;
  longer.least_gap = 30'000;
  CHECK(fixture.rows(kGroups, longer) == "host_wait 1 gemm norm data.py(8): load 1 70000 70000 55000 55000 3 120000");
  CHECK(fixture.rows("SELECT count(*) FROM idle_gaps", longer) == "1");
}

TEST_CASE("causes and timelines with the host") {
  const GapFixture fixture;
  CHECK(fixture.rows("SELECT cause, between_steps, gaps, time, host FROM gaps_by_cause") ==
        "host_wait 0 2 50000 train.py(3): step; host_wait 1 1 70000 data.py(8): load");
  CHECK(fixture.rows("SELECT idle, between_steps, host, host_time, python_calls FROM timeline") ==
        "120000 70000 train.py(3): step 65000 1");
  CHECK(fixture.rows("SELECT code, round(share), count FROM coverage WHERE code IN ('idle', 'host_bound')") ==
        "idle 80.0 3; host_bound 80.0 3");
}

TEST_CASE("without steps it is unknown what lies between them") {
  const ChangedIndex unmarked("DELETE FROM step");
  CHECK(ask_passes(unmarked.index, "SELECT DISTINCT between_steps FROM idle_gaps") == "-");
  CHECK(ask_passes(unmarked.index, "SELECT between_steps FROM timeline") == "-");
}

}  // namespace tracedb
