// One chunk of events through simdjson, event by event, into a batch.
//
// A chunk that simdjson rejects is read again element by element. Invalid UTF-8, raw control characters and quotes
// inside a value are repaired; an element that cannot be repaired is searched for whole events, and the rest of it is
// skipped and counted. The outcome does not depend on where the chunks were cut.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

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

// Recognises the keys of objects by guessing: events of one kind follow each other in a trace and list their keys in
// the same order, so a key is most likely followed by the one that followed it last time. A right guess costs four word
// comparisons instead of a search for the closing quote and a look-up.
class KeyPredictor {
 public:
  using LookUp = EventField (*)(std::string_view key);
  explicit KeyPredictor(LookUp look_up) : look_up_(look_up), keys_(1) {}

  void start_object() { last_ = 0; }

  // The field of the next key of the object, which starts at `key`, behind its opening quote. At least 32 bytes must be
  // readable there.
  EventField next(const char* key) {
    const std::uint32_t guess = keys_[last_].next;
    if (guess != 0 && keys_[guess].matches(key)) {
      last_ = guess;
      return keys_[guess].field;
    }
    return search(key);
  }

 private:
  static constexpr std::size_t kWords = 4;
  static constexpr std::size_t kWindow = kWords * sizeof(std::uint64_t);
  static constexpr std::size_t kMostKeys = 128;

  struct Key {
    std::array<std::uint64_t, kWords> words{}, masks{};  // of the key and its closing quote
    EventField field = EventField::kCount;
    std::uint32_t next = 0;  // the key that came behind it the last time; 0: none yet. Key 0 is the object's start.

    [[nodiscard]] bool matches(const char* text) const {
      std::uint64_t difference = 0;
      for (std::size_t i = 0; i < kWords; ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, text + i * sizeof(word), sizeof(word));
        difference |= (word ^ words[i]) & masks[i];
      }
      return difference == 0;
    }
  };

  EventField search(const char* begin) {
    for (std::uint32_t i = 1; i < keys_.size(); ++i) {
      if (!keys_[i].matches(begin)) continue;
      keys_[last_].next = i;
      last_ = i;
      return keys_[i].field;
    }
    const char* end = begin;
    while (*end != '"') end += *end == '\\' ? 2 : 1;
    return learn({begin, static_cast<std::size_t>(end - begin)});
  }

  EventField learn(std::string_view text) {
    const bool escaped = text.find('\\') != std::string_view::npos;
    const EventField field = escaped ? look_up_(unescape(text).text) : look_up_(text);
    if (text.size() >= kWindow || keys_.size() == kMostKeys) {
      last_ = 0;
      return field;
    }
    Key key;
    std::array<char, kWindow> bytes{};
    std::memcpy(bytes.data(), text.data(), text.size() + 1);
    std::memcpy(key.words.data(), bytes.data(), kWindow);
    bytes.fill(0);
    std::memset(bytes.data(), 0xFF, text.size() + 1);
    std::memcpy(key.masks.data(), bytes.data(), kWindow);
    key.field = field;
    keys_[last_].next = static_cast<std::uint32_t>(keys_.size());
    last_ = keys_[last_].next;
    keys_.push_back(key);
    return field;
  }

  LookUp look_up_;
  std::vector<Key> keys_;
  std::uint32_t last_ = 0;
};

}  // namespace tracedb
