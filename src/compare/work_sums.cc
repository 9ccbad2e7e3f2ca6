#include "compare/work_sums.h"

#include <algorithm>

#include "compare/key_numbers.h"
#include "passes/columns/group_stats.h"

namespace tracedb {
namespace {

// Sums of the run at hand by a small number, closed at its end.
class RunTimes {
 public:
  void add(std::size_t key, std::int64_t time) {
    if (key >= now_.size()) now_.resize(key + 1, kNone);
    if (now_[key] == kNone) {
      opened_.push_back(key);
      now_[key] = 0;
    }
    now_[key] = bounded_add(now_[key], time);
  }
  template <class Key, class KeyOf>
  void close(std::map<Key, std::vector<std::int64_t>>& out, KeyOf key_of) {
    for (const std::size_t key : opened_) {
      out[key_of(key)].push_back(now_[key]);
      now_[key] = kNone;
    }
    opened_.clear();
  }

 private:
  static constexpr std::int64_t kNone = -1;
  std::vector<std::int64_t> now_;
  std::vector<std::size_t> opened_;
};

std::size_t slot_of(std::int32_t layer) { return static_cast<std::size_t>(layer - kTail); }  // kTail: the least
std::int32_t layer_of(std::size_t slot) { return static_cast<std::int32_t>(slot) + kTail; }

class Summer {
 public:
  Summer(const Side& side, const Vocabulary& vocabulary, const ClassLevels& levels)
      : side_(side),
        vocabulary_(vocabulary),
        levels_(levels),
        dur_(side.events.kernels.int64s("dur")),
        kind_(side.events.kernels.ids("kind")),
        names_(side.events.kernels.ids("name_id")),
        memory_dur_(side.events.memory.int64s("dur")),
        memory_kind_(side.events.memory.ids("kind")) {}

  void add(const Run& run) {
    for (std::size_t i = run.begin; i < run.end; ++i) {
      const std::uint32_t row = side_.kernel_rows[i];
      const NameId name = side_.name(names_[row]);
      const std::int32_t layer = side_.layers.of_kernel[row];
      const std::int64_t time = counted_time(dur_[row]);
      count(layer, name, work_of(kind_[row], true), time, side_.kernel_own[i]);
      ops_.add(levels_.op_of(name, vocabulary_), time);
      layers_.add(slot_of(layer), time);
    }
    for (std::size_t i = run.memory_begin; i < run.memory_end; ++i) {
      const std::uint32_t row = side_.memory_rows[i];
      const Work work = work_of(memory_kind_[row], false);
      const NameId name = work == Work::kCopy ? side_.memcpy_name : side_.memset_name;
      const std::int64_t time = counted_time(memory_dur_[row]);
      count(kNoLayer, name, work, time, side_.memory_own[i]);
      ops_.add(levels_.op_of(name, vocabulary_), time);
      layers_.add(slot_of(kNoLayer), time);
    }
    ops_.close(out_.op_times, [](std::size_t key) { return static_cast<OpId>(key); });
    layers_.close(out_.layer_times, layer_of);
    ++out_.runs;
    out_.kernel_time = bounded_add(out_.kernel_time, run.kernel_time);
    out_.span = bounded_add(out_.span, run.span);
    out_.idle = bounded_add(out_.idle, run.idle);
  }
  GroupWork take() { return std::move(out_); }

 private:
  void count(std::int32_t layer, NameId name, Work work, std::int64_t time, std::int64_t own) {
    const std::uint64_t key = (std::uint64_t{name} << 34) ^ (std::uint64_t{static_cast<std::uint32_t>(layer)} << 2) ^
                              static_cast<std::uint64_t>(work);
    const auto [place, is_new] = numbers_.number(key);
    if (is_new) out_.cells.push_back({layer, name, work, {}});
    out_.cells[place].sum.add({1, time, own});
  }

  const Side& side_;
  const Vocabulary& vocabulary_;
  const ClassLevels& levels_;
  std::span<const std::int64_t> dur_;
  std::span<const std::uint32_t> kind_, names_;
  std::span<const std::int64_t> memory_dur_;
  std::span<const std::uint32_t> memory_kind_;
  KeyNumbers numbers_;
  RunTimes ops_;
  RunTimes layers_;
  GroupWork out_;
};

}  // namespace

void WorkSum::add(const WorkSum& other) {
  n += other.n;
  time = bounded_add(time, other.time);
  own = bounded_add(own, other.own);
}

GroupWork sum_work(const Side& side, const GroupSide& group, const Vocabulary& vocabulary, const ClassLevels& levels) {
  Summer summer(side, vocabulary, levels);
  for (const std::uint32_t run : group.runs) summer.add(side.runs[run]);
  return summer.take();
}

}  // namespace tracedb
