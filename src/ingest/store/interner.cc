#include "ingest/store/interner.h"

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
  for (; count > 0; --count) {
    free_slot(static_cast<std::uint32_t>(texts_.size()));
    texts_.pop_back();
  }
}

// Texts behind it that found its slot taken move up, as if it had never been there.
void Interner::free_slot(std::uint32_t id) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t free = hash64(text(id)) & mask;
  while (slots_[free].id != id) free = (free + 1) & mask;
  for (std::size_t next = (free + 1) & mask; slots_[next].id != 0; next = (next + 1) & mask) {
    const std::size_t wanted = slots_[next].hash & mask;
    if (((next - wanted) & mask) < ((next - free) & mask)) continue;
    slots_[free] = slots_[next];
    free = next;
  }
  slots_[free] = {};
}

// Gives every text a slot among `slots` new ones.
void Interner::place(std::size_t slots) {
  std::vector<Slot> placed(slots);
  const std::size_t mask = slots - 1;
  for (const Slot& slot : slots_) {
    if (slot.id == 0) continue;
    std::size_t position = slot.hash & mask;
    while (placed[position].id != 0) position = (position + 1) & mask;
    placed[position] = slot;
  }
  slots_ = std::move(placed);
}

}  // namespace tracedb
