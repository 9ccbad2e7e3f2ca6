// The whole reader: one thread with one large chunk, and several threads with small chunks and little memory, give
// the same index byte for byte, or the same refusal. The index opens, passes verify and accounts for every event.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/error.h"
#include "fuzz_input.h"
#include "index/index.h"
#include "index/verify.h"
#include "ingest/ingest.h"
#include "issue_lines.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

struct Outcome {
  std::string refusal;  // empty: there is an index
  std::string index;    // bytes
  IngestResult result;
};

std::string content_of(const std::filesystem::path& path) {
  std::string content(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(content.data(), static_cast<std::streamsize>(content.size()));
  return content;
}

Outcome ingest(const std::filesystem::path& trace, const std::filesystem::path& index, const IngestOptions& options) {
  Outcome out;
  try {
    out.result = ingest_trace(trace, index, options);
    out.index = content_of(index);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kInput, "a trace in memory is refused for its content only");
    out.refusal = error.what();
  }
  return out;
}

void check_index(const std::filesystem::path& path, const std::filesystem::path& trace, const IngestResult& result) {
  require(result.events_stored + result.events_skipped == result.events_read, "every event is accounted for");
  const Index index = Index::open(path);
  require(index.complete() == result.complete, "the index knows whether it is complete");
  try {
    for (const VerifyFinding& finding : verify(index, trace)) {
      if (finding.outcome == VerifyFinding::Outcome::kFailed) broken("verify " + finding.check + ": " + finding.detail);
    }
  } catch (const Error& error) {  // sums beyond 292 years are an error of SQL
    if (std::string_view(error.what()).find("integer overflow") == std::string_view::npos) broken(error.what());
  }
}

void check_ingest(FuzzInput input) {
  const std::uint8_t settings = input.byte();
  IngestOptions plain;
  plain.threads = 1;
  plain.chunk_size = std::size_t{64} << 10U;  // all of it
  plain.memory_bytes = std::size_t{4} << 20U;
  plain.events.args = (settings & 1U) != 0 ? Keep::kYes : Keep::kNo;
  plain.events.stacks = (settings & 2U) != 0 ? Keep::kNo : Keep::kYes;
  IngestOptions parts = plain;
  parts.threads = 1 + settings / 4U % 3;
  parts.chunk_size = 64 + std::size_t{2} * input.byte();
  parts.memory_bytes = (settings & 64U) != 0 ? std::size_t{64} << 10U : plain.memory_bytes;

  const TempDirectory folder;
  const std::filesystem::path trace = folder.write("trace_rank3.json", input.rest());
  const Outcome expected = ingest(trace, folder / "plain", plain);
  const Outcome actual = ingest(trace, folder / "parts", parts);
  require_same(actual.refusal, expected.refusal, "a refusal does not depend on threads and chunk size");
  require_same(issue_lines(actual.result.issues), issue_lines(expected.result.issues),
               "issues do not depend on threads and chunk size");
  require(actual.index == expected.index, "the index does not depend on threads, chunk size and memory");
  if (expected.refusal.empty()) check_index(folder / "plain", trace, expected.result);
}

}  // namespace
}  // namespace tracedb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  tracedb::check_ingest(tracedb::FuzzInput(data, size));
  return 0;
}
