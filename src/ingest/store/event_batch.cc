#include "ingest/store/event_batch.h"

#include "base/stream/content_hash.h"

namespace tracedb {

void EventBatch::clear() {
  const auto clear_all = [](auto&... lists) { (lists.clear(), ...); };
  clear_all(strings, numbers, scopes, threads, streams, configs, shapes, stacks);
  clear_all(python, operators, calls, device_events, collectives, annotations, slices, tasks, instants, counters);
  clear_all(handoffs, flows, endpoints, metadata, args, kinds, issues);
  first_ts = kUnknownValue;
}

Interner::Entry Interner::intern(std::string_view bytes) {
  const auto [index, is_new] =
      index_.index_of(hash64(bytes), [&](std::uint32_t known) { return texts_[known] == bytes; });
  if (is_new) texts_.emplace_back(bytes);
  return {index + 1, is_new};
}

void Interner::forget_last() {
  index_.forget_last(hash64(texts_.back()));
  texts_.pop_back();
}

}  // namespace tracedb
