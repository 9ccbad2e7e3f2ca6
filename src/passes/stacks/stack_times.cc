#include "passes/stacks/stack_times.h"

#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/saturating.h"
#include "base/unknown.h"
#include "passes/columns/event_columns.h"
#include "trace/python_frame.h"

namespace tracedb {
namespace {

// Frames of several indexes, numbered by their texts.
class FrameTexts {
 public:
  explicit FrameTexts(Frames which) : which_(which), texts_(1) {}

  // By frame id: its number, or kNoFrame for one that is passed over.
  std::vector<std::uint32_t> number(const Index& index) {
    std::vector<std::uint32_t> out(1, kNoFrame);
    Statement rows(index.database(),
                   "SELECT f.id, s.value FROM frame f JOIN string s ON s.id = f.name_id ORDER BY f.id");
    while (rows.step()) {
      const std::size_t id = rows.id(0);
      if (id >= out.size()) out.resize(id + 1, kNoFrame);
      if (which_ == Frames::kModules && !rows.text(1).starts_with(kModuleFrame)) continue;
      const auto [entry, is_new] =
          numbers_.try_emplace(without_addresses(rows.text(1)), static_cast<std::uint32_t>(texts_.size()));
      if (is_new) texts_.push_back(entry->first);
      out[id] = entry->second;
    }
    return out;
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(texts_); }

 private:
  const Frames which_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> texts_;  // the first one is empty
};

// Appends the stacks of an index: its id i becomes place `stacks.size() - 1 + i`.
void read_stacks(const Index& index, const std::vector<std::uint32_t>& frames, std::vector<StackEntry>& stacks) {
  const EventColumns columns(index, "stack", {"parent_id", "frame_id"});
  const auto parents = columns.ids("parent_id");
  const auto frame_ids = columns.ids("frame_id");
  const auto base = static_cast<std::uint32_t>(stacks.size() - 1);
  stacks.resize(stacks.size() + columns.size());
  for (std::uint32_t id = 1; id <= columns.size(); ++id) {
    StackEntry& own = stacks[base + id];
    // A parent that comes later is a damaged index; it must not send us in circles.
    own.parent = parents[id - 1] < id && parents[id - 1] != 0 ? base + parents[id - 1] : 0;
    own.frame = frame_ids[id - 1] < frames.size() ? frames[frame_ids[id - 1]] : kNoFrame;
  }
}

// By row of kernel: place among the stacks. Those of the capture come behind `base`.
std::vector<std::uint32_t> places_of_stacks(Workload& workload, std::uint32_t base, std::size_t all) {
  const auto own = workload.events().kernels.ids("stack_id");
  std::vector<std::uint32_t> out(own.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = own[i] <= base ? own[i] : 0;
  if (workload.capture() == nullptr) return out;
  const std::vector<std::uint32_t>& launcher = workload.origins().launcher;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (launcher[i] == 0) continue;
    const std::uint32_t other = workload.capture()->capture.launchers[launcher[i] - 1].stack;
    if (other != 0 && other < all - base) out[i] = base + other;
  }
  return out;
}

}  // namespace

StackTimes stack_times(Workload& workload, Frames which) {
  StackTimes out;
  FrameTexts texts(which);
  out.stacks.resize(1);
  read_stacks(workload.index(), texts.number(workload.index()), out.stacks);
  const auto base = static_cast<std::uint32_t>(out.stacks.size() - 1);
  if (const CaptureSource* capture = workload.capture()) {
    read_stacks(capture->index, texts.number(capture->index), out.stacks);
  }
  out.frames = texts.take();
  // Paths without a frame that counts are none.
  std::vector<bool> empty(out.stacks.size(), true);
  for (std::size_t id = 1; id < empty.size(); ++id) {
    empty[id] = out.stacks[id].frame == kNoFrame && empty[out.stacks[id].parent];
  }
  const EventFilter filter = workload.filter();
  const auto dur = workload.events().kernels.int64s("dur");
  const std::vector<std::uint32_t> stack = places_of_stacks(workload, base, out.stacks.size());
  out.times.resize(out.stacks.size());
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (!filter.keeps_kernel(i)) continue;
    PathTime& time = out.times[empty[stack[i]] ? 0 : stack[i]];
    ++time.count;
    if (dur[i] != kUnknownValue) time.time = saturating_add(time.time, dur[i]);
  }
  return out;
}

}  // namespace tracedb
