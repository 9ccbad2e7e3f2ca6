#include "present/baseline_file.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

StepSamples made_samples() {
  KindSamples kind{"decode", 2, 8, 16, {1, 30, 4, 200}, {}};
  for (const char* metric : {"span", "busy", "kernel_time"}) kind.samples[metric] = {90, 100};
  kind.samples["period"] = {110};
  kind.samples["op norm"] = {7};
  return {"a.json \"quoted\"", "1 x device", Recording{true, false}, {kind}};
}

std::string read_failure(const TempDirectory& directory, const std::string& text) {
  Database database(":memory:", Database::Mode::kMemory);
  try {
    read_baseline_file(database, directory.write("bad.json", text));
  } catch (const Error& error) {
    return error.what();
  }
  return "read";
}

}  // namespace

TEST_CASE("a baseline file has everything back") {
  const TempDirectory directory;
  Database database(":memory:", Database::Mode::kMemory);
  const StepSamples made = made_samples();
  const StepSamples read = read_baseline_file(database, directory.write("baseline.json", to_json(made)));
  CHECK(read.trace == made.trace);
  CHECK(read.devices == made.devices);
  CHECK(read.recording == made.recording);
  REQUIRE(read.kinds.size() == 1);
  CHECK(read.kinds[0].steps == 2);
  CHECK(read.kinds[0].tokens == 16);
  CHECK(read.kinds[0].waits.waiting == 30);
  CHECK(read.kinds[0].samples == made.kinds[0].samples);
}

TEST_CASE("a file that is none, or does not fit together, is refused with what to do") {
  const TempDirectory directory;
  CHECK(read_failure(directory, "{}").ends_with("make one with trace-query compare TRACE --save-baseline FILE"));
  CHECK(read_failure(directory, "no").find("not JSON") != std::string::npos);
  StepSamples samples = made_samples();
  samples.kinds[0].steps = 3;
  CHECK(read_failure(directory, to_json(samples)).find("not one value for each step") != std::string::npos);
  samples = made_samples();
  samples.kinds[0].samples["op norm"] = {-7};
  CHECK(read_failure(directory, to_json(samples)).find("a time below 0") != std::string::npos);
}

}  // namespace tracedb
