// What a trace says of its devices, launch configurations and copies.
#include <doctest/doctest.h>

#include <string>

#include "support/ingested.h"

namespace tracedb {
namespace {

std::string trace_with_devices(std::string_view devices, std::string_view events) {
  std::string trace = trace_of(events);
  return trace.insert(1, fmt::format(R"("deviceProperties":[{}],)", devices));
}

const std::string kOnTwo = event("kernel", "k", R"("pid":2,"tid":7)", "1", "1", R"("device":2)");

}  // namespace

TEST_CASE("a device that the trace does not list by number is of the one model that it lists") {
  constexpr std::string_view kOne = R"({"id":0,"name":"AMD Instinct MI300X VF","warpSize":64,"numSms":304})";
  const std::string_view devices = "SELECT ordinal, name, vendor, sm_count, properties IS NULL, used FROM device";
  Ingested one(trace_with_devices(kOne, kOnTwo));
  CHECK(one.rows(devices) == "2 AMD Instinct MI300X VF amd 304 1 1; 0 AMD Instinct MI300X VF amd 304 0 0");
  CHECK(one.issues(IssueKind::kUnknownDevice) == 0);
  Ingested two(trace_with_devices(std::string(kOne) + R"(,{"id":1,"name":"AMD Instinct MI210"})", kOnTwo));
  CHECK(two.rows(devices) == "2 - amd - 1 1; 0 AMD Instinct MI300X VF amd 304 0 0; 1 AMD Instinct MI210 amd - 0 0");
  CHECK(two.issues(IssueKind::kUnknownDevice) == 1);
  Ingested unnamed(trace_with_devices(R"({"id":0,"name":"","warpSize":64},{"id":1,"name":"","warpSize":64})", kOnTwo));
  CHECK(unnamed.rows("SELECT name, vendor FROM device WHERE used = 1") == "- amd");
  Ingested listed(trace_with_devices(R"({"id":2,"name":"NVIDIA A100"},{"id":0,"name":"NVIDIA A30"})", kOnTwo));
  CHECK(listed.rows("SELECT name FROM device WHERE used = 1") == "NVIDIA A100");
}

TEST_CASE("achieved and theoretical occupancy are two figures") {
  Ingested index(trace_of(
      event("kernel", "a", kGpuStream, "1", "1", R"("theoretical occupancy %":75)") +
      event("kernel", "b", kGpuStream, "3", "1", R"("est. achieved occupancy %":31)") +
      event("kernel", "c", kGpuStream, "5", "1", R"("est. achieved occupancy %":31,"theoretical occupancy %":75)")));
  CHECK(index.rows("SELECT occupancy_pct, theoretical_occupancy_pct FROM kernels ORDER BY id") ==
        "- 75.0; 31.0 -; 31.0 75.0");
}

TEST_CASE("the bandwidth of a copy is the profiler's own where it gives one") {
  const auto copy = [](std::string_view ts, std::string_view args) {
    return event("gpu_memcpy", "Memcpy HtoD", kGpuStream, ts, "2", args);
  };
  // 3000 bytes in 2.5 us, of which the trace keeps 2.
  Ingested index(trace_of(copy("1", R"x("bytes":3000,"memory bandwidth (GB/s)":1.2)x") + copy("5", R"("bytes":3000)") +
                          copy("9", R"x("bytes":3000,"memory bandwidth (GB/s)":"N/A")x") +
                          copy("12", R"x("bytes":3000,"memory bandwidth (GB/s)":0)x") + copy("15", "") +
                          copy("20", R"x("bytes":3000,"memory bandwidth (GB/s)":2)x")));
  CHECK(index.rows("SELECT bandwidth_gb_s FROM memory_op ORDER BY id") == "1.2; -; -; -; -; 2.0");
  CHECK(index.rows("SELECT gb_per_s, bandwidth_source FROM memcpys ORDER BY id") ==
        "1.2 profiler; 1.5 computed; 1.5 computed; 1.5 computed; - -; 2.0 profiler");
}

}  // namespace tracedb
