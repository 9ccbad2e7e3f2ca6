#include "ingest/store/interner.h"

#include "base/stream/content_hash.h"

namespace tracedb {

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
