#include "compare/work_sums.h"

#include <algorithm>

#include "passes/group_stats.h"

namespace tracedb {
namespace {

// Numbers keys in the order in which they come. Open addressing: one look at memory for a key that was just met.
class KeyNumbers {
 public:
  KeyNumbers() : slots_(1024) {}

  // The number of a key, and whether it is new.
  std::pair<std::uint32_t, bool> number(std::uint64_t key) {
    if (2 * count_ >= slots_.size()) grow();
    Slot& slot = find(key);
    if (slot.number != kNone) return {slot.number, false};
    slot = {key, count_};
    return {count_++, true};
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = kNone;
  };

  Slot& find(std::uint64_t key) {
    constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = ((key * kSpread) >> 20) & mask;
    while (slots_[place].number != kNone && slots_[place].key != key) place = (place + 1) & mask;
    return slots_[place];
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kNone) find(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::uint32_t count_ = 0;
};

// Sums of the run at hand, by operation or layer; closed at its end.
template <class Key>
class RunTimes {
 public:
  void add(Key key, std::int64_t time) {
    if (key == last_ && open_) {
      *open_ = bounded_add(*open_, time);
      return;
    }
    open_ = &now_[key];
    last_ = key;
    *open_ = bounded_add(*open_, time);
  }
  void close(std::map<Key, std::vector<std::int64_t>>& out) {
    for (const auto& [key, time] : now_) out[key].push_back(time);
    now_.clear();
    open_ = nullptr;
  }

 private:
  std::map<Key, std::int64_t> now_;
  std::int64_t* open_ = nullptr;
  Key last_{};
};

class Summer {
 public:
  Summer(const Side& side, const Vocabulary& vocabulary)
      : side_(side),
        vocabulary_(vocabulary),
        dur_(side.events.kernels.times("dur")),
        kind_(side.events.kernels.ids("kind")),
        names_(side.events.kernels.ids("name_id")),
        memory_dur_(side.events.memory.times("dur")),
        memory_kind_(side.events.memory.ids("kind")) {}

  void add(const Run& run) {
    for (std::size_t i = run.begin; i < run.end; ++i) {
      const std::uint32_t row = side_.kernel_rows[i];
      const NameId name = names_[row] < side_.name_of.size() ? side_.name_of[names_[row]] : 0;
      const std::int32_t layer = side_.layers.of_kernel[row];
      const std::int64_t time = length_of(dur_[row]);
      count(layer, name, work_of(kind_[row], true), time, side_.kernel_own[i]);
      ops_.add(vocabulary_.op_of(name), time);
      layers_.add(layer, time);
    }
    for (std::size_t i = run.memory_begin; i < run.memory_end; ++i) {
      const std::uint32_t row = side_.memory_rows[i];
      const Work work = work_of(memory_kind_[row], false);
      const NameId name = work == Work::kCopy ? side_.memcpy_name : side_.memset_name;
      const std::int64_t time = length_of(memory_dur_[row]);
      count(kNoLayer, name, work, time, side_.memory_own[i]);
      ops_.add(vocabulary_.op_of(name), time);
    }
    ops_.close(out_.op_times);
    layers_.close(out_.layer_times);
    ++out_.runs;
    out_.kernel_time = bounded_add(out_.kernel_time, run.kernel_time);
    out_.span = bounded_add(out_.span, run.span);
    out_.idle = bounded_add(out_.idle, run.idle);
  }
  GroupWork take() { return std::move(out_); }

 private:
  static std::int64_t length_of(std::int64_t dur) { return dur == kNullCell || dur < 0 ? 0 : dur; }

  void count(std::int32_t layer, NameId name, Work work, std::int64_t time, std::int64_t own) {
    const std::uint64_t key = (std::uint64_t{name} << 34) ^ (std::uint64_t{static_cast<std::uint32_t>(layer)} << 2) ^
                              static_cast<std::uint64_t>(work);
    const auto [place, is_new] = numbers_.number(key);
    if (is_new) out_.cells.push_back({layer, name, work, {}});
    out_.cells[place].sum.add({1, time, own});
  }

  const Side& side_;
  const Vocabulary& vocabulary_;
  std::span<const std::int64_t> dur_;
  std::span<const std::uint32_t> kind_, names_;
  std::span<const std::int64_t> memory_dur_;
  std::span<const std::uint32_t> memory_kind_;
  KeyNumbers numbers_;
  RunTimes<OpId> ops_;
  RunTimes<std::int32_t> layers_;
  GroupWork out_;
};

}  // namespace

void WorkSum::add(const WorkSum& other) {
  n += other.n;
  time = bounded_add(time, other.time);
  own = bounded_add(own, other.own);
}

GroupWork sum_work(const Side& side, const GroupSide& group, const Vocabulary& vocabulary) {
  Summer summer(side, vocabulary);
  for (const std::uint32_t run : group.runs) summer.add(side.runs[run]);
  return summer.take();
}

}  // namespace tracedb
