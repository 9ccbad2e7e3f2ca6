// Formats that are no list of events: kernel tables (CSV), databases of profilers, JSON of rocprofv3, XSpace. Whatever
// is in such a file, ingest makes an index that passes verify, in which every row is stored or skipped with a reason,
// and the same one in little memory; or it refuses the file.
//
// Of the input's first byte: how the file is called.
#include <array>
#include <filesystem>
#include <string_view>

#include "fuzz_input.h"
#include "index_outcome.h"
#include "ingest/formats.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

void check_tables(FuzzInput input) {
  constexpr std::array<std::string_view, 4> kNames = {"kernel_details_rank3.csv", "run_profiler.db", "1_results.json",
                                                      "host.xplane.pb"};
  const std::string_view name = kNames[input.byte() % kNames.size()];
  const TempDirectory folder;
  const std::filesystem::path file = folder.write(std::string(name), std::string(input.rest()));
  if (!is_readable_trace(file) || trace_format(read_head(file), file).name == "kineto") return;  // another target's
  IngestOptions plain;
  plain.threads = 1;
  plain.memory_bytes = std::size_t{4} << 20U;
  IngestOptions spilling = plain;
  spilling.memory_bytes = 64;
  const Outcome expected = ingest(file, folder / "plain", plain);
  const Outcome actual = ingest(file, folder / "spilling", spilling);
  require_same(actual.refusal, expected.refusal, "a refusal does not depend on memory");
  require_same(actual.text, expected.text, "issues do not depend on memory");
  require(actual.events == expected.events, "the index does not depend on memory");
  if (expected.refusal.empty()) verify_index(folder / "plain", file);
}

}  // namespace
}  // namespace tracedb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  tracedb::check_tables(tracedb::FuzzInput(data, size));
  return 0;
}
