// One chunk of events, event by event, into a batch: by the shape of an event seen before, else through simdjson.
//
// Of an element that simdjson rejects, invalid UTF-8, raw control characters and quotes inside a value are repaired;
// one that cannot be repaired is searched for whole events, and the rest of it is skipped and counted. The outcome does
// not depend on where the chunks were cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/text/json_text.h"
#include "ingest/kineto/event_fields.h"
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
  ChunkParser& operator=(ChunkParser&&) = delete;

  // Clears `batch` and fills it.
  void parse(const Chunk& chunk, EventBatch& batch);

 private:
  struct Json;

  std::size_t parse_element(std::string_view list, std::uint64_t offset, EventBatch& batch);
  bool take_element(std::string_view element, std::uint64_t offset, EventBatch& batch);
  void salvage(std::string_view text, std::uint64_t offset, EventBatch& batch);
  void salvage_piece(std::string_view text, std::uint64_t offset, EventBatch& batch);
  bool try_element(std::string_view element, std::uint64_t offset, EventBatch& batch);

  std::unique_ptr<Json> json_;
  KinetoEvents events_;
};

}  // namespace tracedb
