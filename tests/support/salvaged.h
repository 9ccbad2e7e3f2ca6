// What becomes of a small damaged trace in cutter and parser, as values that can be compared.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/kineto/chunk_parser.h"
#include "ingest/read/json_chunks.h"
#include "support/parsed_events.h"

namespace tracedb {

struct Salvaged {
  std::vector<std::int64_t> times;  // of the events stored, in us
  std::string issues, header;
  std::uint64_t read = 0, skipped = 0, metadata = 0;
  bool complete = false;
  friend bool operator==(const Salvaged&, const Salvaged&) = default;
};

inline void take(const EventBatch& batch, Salvaged& out, IssueLog& issues) {
  for_each_records(batch, [&](const auto& records) {
    for (const auto& record : records) out.times.push_back(record.ts / 1000);
  });
  for (const EventCount& kind : batch.kinds) {
    out.read += kind.read;
    for (const std::uint64_t count : kind.skipped) out.skipped += count;
    out.metadata += kind.skipped[static_cast<std::size_t>(SkipReason::kMetadata)];
  }
  issues.merge(batch.issues);
}

inline Salvaged salvage(std::string_view text, std::size_t chunk_size, const JsonLimits& limits = {}) {
  const auto source = memory_byte_source(text);
  JsonChunks chunks(*source, "trace.json", chunk_size, limits);
  ChunkParser parser(0, {});
  Chunk chunk;
  EventBatch batch;
  Salvaged out;
  IssueLog issues;
  while (chunks.next(chunk)) {
    parser.parse(chunk, batch);
    take(batch, out, issues);
  }
  issues.merge(chunks.issues());
  std::sort(out.times.begin(), out.times.end());
  std::vector<std::string> lines;
  for (const Issue& issue : issues.issues()) {
    lines.push_back(
        fmt::format("{} {} @{} '{}'\n", describe(issue.kind).name, issue.count, issue.offset, issue.sample));
  }
  std::sort(lines.begin(), lines.end());
  for (const std::string& line : lines) out.issues += line;
  for (const auto& [key, value, offset] : chunks.header()) out.header += key + ";";
  out.complete = chunks.complete();
  out.read += chunks.oversized_events();
  out.skipped += chunks.oversized_events();
  return out;
}

// Events as Kineto writes them; the time says which one it is.
inline std::string event(int i) {
  const std::string head =
      fmt::format(R"(
  {{
    "ph": "X", "cat": "{}", "name": "{}", "pid": 7, "tid": 8,
    "ts": {}.125, "dur": 2.5,)",
                  i % 3 == 0 ? "kernel" : "cpu_op", i % 4 == 0 ? "a<int, {x}[]>" : "b: \\\"c\\\\\\\"", i);
  if (i % 3 == 0) {
    return head + R"(
    "args": {
      "External id": 17, "stream": 7, "correlation": 5, "grid": [1, 2, 3], "block": [64, 1, 1]
    }
  })";
  }
  if (i % 5 == 0) {
    return fmt::format(
        "\n  {{\n    \"ph\": \"s\", \"id\": 5, \"pid\": 7, \"tid\": 8, \"ts\": {},\n    \"cat\": \"ac2g\", "
        "\"name\": \"ac2g\"\n  }}",
        i);
  }
  return head + R"(
    "args": { "Input Dims": [[1, 2], [], [3]], "s": "" }
  })";
}

}  // namespace tracedb
