// Events through a ChunkParser of their own, as a parse worker would take them.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "ingest/kineto/chunk_parser.h"

namespace tracedb {

inline Chunk chunk_of(std::string_view elements, std::uint64_t offset = 1) {
  Chunk chunk;
  chunk.size = elements.size() + 2;
  chunk.offset = offset;
  chunk.buffer.assign(chunk.size + Chunk::kPadding, ' ');
  chunk.buffer[0] = '[';
  std::memcpy(chunk.buffer.data() + 1, elements.data(), elements.size());
  chunk.buffer[chunk.size - 1] = ']';
  return chunk;
}

inline EventBatch parse_events(std::string_view elements, const EventOptions& options = {}) {
  ChunkParser parser(0, options);
  EventBatch batch;
  parser.parse(chunk_of(elements), batch);
  return batch;
}

inline std::string text_of(const EventBatch& batch, std::uint32_t id) { return id == 0 ? "" : batch.strings[id - 1]; }

// Calls `visit` with the list of each kind of record that is an event of its own.
template <class Visit>
void for_each_records(const EventBatch& batch, Visit visit) {
  const auto each = [&](const auto&... records) { (visit(records), ...); };
  each(batch.python, batch.operators, batch.calls, batch.device_events, batch.annotations, batch.slices, batch.instants,
       batch.counters, batch.flows);
}

inline std::uint64_t skipped(const EventBatch& batch, SkipReason reason) {
  std::uint64_t count = 0;
  for (const EventCount& kind : batch.kinds) count += kind.skipped[static_cast<std::size_t>(reason)];
  return count;
}

inline std::uint64_t events_read(const EventBatch& batch) {
  std::uint64_t count = 0;
  for (const EventCount& kind : batch.kinds) count += kind.read;
  return count;
}

}  // namespace tracedb
