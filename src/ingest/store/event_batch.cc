#include "ingest/store/event_batch.h"

#include "base/stream/content_hash.h"
#include "base/unknown.h"

namespace tracedb {

void EventBatch::clear() {
  strings.clear();
  numbers.clear();
  scopes.clear();
  threads.clear();
  streams.clear();
  configs.clear();
  shapes.clear();
  python.clear();
  operators.clear();
  calls.clear();
  device_events.clear();
  collectives.clear();
  annotations.clear();
  slices.clear();
  tasks.clear();
  instants.clear();
  counters.clear();
  flows.clear();
  endpoints.clear();
  metadata.clear();
  args.clear();
  kinds.clear();
  first_ts = kUnknownValue;
  issues.clear();
}

Interner::Entry Interner::intern(std::string_view bytes) {
  const auto [index, is_new] =
      index_.index_of(hash64(bytes), [&](std::uint32_t known) { return texts_[known] == bytes; });
  if (is_new) texts_.emplace_back(bytes);
  return {index + 1, is_new};
}

void Interner::forget_last(std::size_t count) {
  for (; count > 0; --count) {
    index_.forget_last(hash64(texts_.back()));
    texts_.pop_back();
  }
}

}  // namespace tracedb
