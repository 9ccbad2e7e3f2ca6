// One chunk of events through simdjson, event by event, into a batch.
//
// A chunk that simdjson rejects is read again element by element. Invalid UTF-8, raw control characters and quotes
// inside a value are repaired; an element that cannot be repaired is searched for whole events, and the rest of it is
// skipped and counted. The outcome does not depend on where the chunks were cut.
#pragma once

#include <memory>

#include "ingest/kineto/kineto_events.h"
#include "ingest/read/json_chunks.h"
#include "ingest/store/event_batch.h"

namespace tracedb {

class ChunkParser {
 public:
  // To be called before there are threads: simdjson looks for the implementation that suits the CPU when it is first
  // used, and ends the process where it finds no memory for that, which the stacks of threads may have taken.
  static void prepare();

  ChunkParser(unsigned worker, const EventOptions& options);
  ~ChunkParser();
  ChunkParser(const ChunkParser&) = delete;
  ChunkParser& operator=(const ChunkParser&) = delete;

  // Clears `batch` and fills it.
  void parse(const Chunk& chunk, EventBatch& batch);

 private:
  struct Json;

  bool try_parse(std::string_view text, std::size_t capacity, std::uint64_t offset, EventBatch& batch);
  void parse_elements(const Chunk& chunk, EventBatch& batch);
  void parse_element(std::string_view element, std::uint64_t offset, EventBatch& batch);
  bool take_element(std::string_view element, std::uint64_t offset, EventBatch& batch);
  void salvage(std::string_view text, std::uint64_t offset, EventBatch& batch);
  void salvage_piece(std::string_view text, std::uint64_t offset, EventBatch& batch);
  bool try_element(std::string_view element, std::uint64_t offset, EventBatch& batch);

  std::unique_ptr<Json> json_;
  KinetoEvents events_;
};

}  // namespace tracedb
