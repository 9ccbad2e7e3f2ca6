#include "ingest/interner.h"

#include "base/content_hash.h"

namespace tracedb {

Interner::Entry Interner::intern(std::string_view bytes) {
  const std::uint64_t hash = hash64(bytes);
  const std::size_t mask = slots_.size() - 1;
  std::size_t position = hash & mask;
  for (; slots_[position].id != 0; position = (position + 1) & mask) {
    if (slots_[position].hash == hash && text(slots_[position].id) == bytes) return {slots_[position].id, false};
  }
  texts_.emplace_back(bytes);
  const auto id = static_cast<std::uint32_t>(texts_.size());
  slots_[position] = {hash, id};
  if (texts_.size() * 2 > slots_.size()) grow();
  return {id, true};
}

void Interner::grow() {
  std::vector<Slot> larger(slots_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.id == 0) continue;
    std::size_t position = slot.hash & mask;
    while (larger[position].id != 0) position = (position + 1) & mask;
    larger[position] = slot;
  }
  slots_ = std::move(larger);
}

}  // namespace tracedb
