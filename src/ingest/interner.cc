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
  if (texts_.size() * 2 > slots_.size()) place(slots_.size() * 2);
  return {id, true};
}

void Interner::forget_last(std::size_t count) {
  if (count == 0) return;
  texts_.resize(texts_.size() - count);
  place(slots_.size());
}

// Gives every text a slot among `slots` new ones.
void Interner::place(std::size_t slots) {
  std::vector<Slot> placed(slots);
  const std::size_t mask = slots - 1;
  for (const Slot& slot : slots_) {
    if (slot.id == 0 || slot.id > texts_.size()) continue;
    std::size_t position = slot.hash & mask;
    while (placed[position].id != 0) position = (position + 1) & mask;
    placed[position] = slot;
  }
  slots_ = std::move(placed);
}

}  // namespace tracedb
