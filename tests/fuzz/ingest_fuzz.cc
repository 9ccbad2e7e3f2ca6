// The whole reader: one thread with one large chunk, and several threads with small chunks and little memory, read the
// same into the store, or refuse alike; what is read is stored or skipped with a reason.
//
// The same of whole indexes: equal byte for byte, passing verify. An index costs ten times as much as reading a small
// trace, so while looking for findings only every 16th input becomes one; in replay all of them do.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/stream/byte_source.h"
#include "base/stream/content_hash.h"
#include "fuzz_input.h"
#include "index_outcome.h"
#include "ingest/formats.h"
#include "ingest/ingest.h"
#include "store_text.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

#ifdef TRACEDB_FUZZ
constexpr std::uint64_t kInputsPerIndex = 16;
#else
constexpr std::uint64_t kInputsPerIndex = 1;
#endif

Outcome read(std::string_view content, const IngestOptions& options) {
  Outcome out;
  try {
    const auto source = memory_byte_source(content);
    TraceStore store({std::filesystem::temp_directory_path(), options.memory_bytes});
    const IngestObserver nobody;
    const std::filesystem::path name = "trace";
    TraceFacts facts;
    read_kineto({name, *source, content.size(), nobody}, options, store, facts);
    source->drain();
    out.text = fmt::format("complete {}, {} bytes, damage {}\n", facts.complete, facts.bytes,
                           static_cast<int>(source->damage()));
    for (const auto& [key, value, offset] : facts.header) out.text += fmt::format("{}={}\n", key, value);
    out.text += dictionaries(store);
    std::uint64_t unaccounted = 0;
    for (const auto& [key, kind] : store.kinds) {
      unaccounted += kind.read;
      for (const std::uint64_t skipped : kind.skipped) unaccounted -= skipped;
    }
    require(append_events(out.events, store) == unaccounted, "every event read is stored or skipped with a reason");
  } catch (const Error& error) {
    out.refusal = error.what();
  }
  return out;
}

void require_alike(const Outcome& actual, const Outcome& expected) {
  require_same(actual.refusal, expected.refusal, "a refusal does not depend on threads and chunk size");
  require_same(actual.text, expected.text, "header, texts, counts and issues do not depend on threads and chunk size");
  require(actual.events == expected.events, "events do not depend on threads, chunk size and memory");
}

void check_ingest(FuzzInput input) {
  const std::uint8_t settings = input.byte();
  IngestOptions plain;
  plain.threads = 1;
  plain.chunk_size = std::size_t{64} << 10U;  // all of it
  plain.memory_bytes = std::size_t{4} << 20U;
  plain.events.arguments = (settings & 1U) != 0 ? EventArguments::kKeep : EventArguments::kOmit;
  plain.events.python_calls = (settings & 2U) != 0 ? PythonCalls::kOmit : PythonCalls::kKeep;
  IngestOptions parts = plain;
  parts.threads = 1 + settings / 4U % 3;
  parts.chunk_size = 64 + std::size_t{2} * input.byte();
  parts.memory_bytes = (settings & 64U) != 0 ? 64 : plain.memory_bytes;

  std::string content(input.rest());
  if (settings >= 128) {
    content = stretched(content);
    plain.chunk_size = std::size_t{512} << 10U;
  }
  require_alike(read(content, parts), read(content, plain));
  if (hash64(content) % kInputsPerIndex != 0) return;
  const TempDirectory folder;
  const std::filesystem::path trace = folder.write("trace_rank3.json", content);
  const Outcome expected = ingest(trace, folder / "plain", plain);
  require_alike(ingest(trace, folder / "parts", parts), expected);
  if (expected.refusal.empty()) verify_index(folder / "plain", trace);
}

}  // namespace
}  // namespace tracedb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  tracedb::check_ingest(tracedb::FuzzInput(data, size));
  return 0;
}
