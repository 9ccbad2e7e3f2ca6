#include "passes/stacks/stack_times.h"

#include <fnmatch.h>

#include <algorithm>
#include <utility>

#include "base/text/numbered_texts.h"
#include "base/text/split.h"
#include "base/unknown.h"
#include "passes/columns/event_columns.h"
#include "trace/event_names.h"
#include "trace/python_frame.h"

namespace tracedb {
namespace {

bool matches_own(const FrameChoice& choice, std::string_view frame) {
  if (choice.own.empty()) return frame_origin(frame) == FrameOrigin::kOwn;
  const std::string file(frame_label(frame).file);
  if (file.empty()) return false;
  const auto matches = [&](std::size_t at) {
    return std::ranges::any_of(
        choice.own, [&](const std::string& glob) { return ::fnmatch(glob.c_str(), file.c_str() + at, 0) == 0; });
  };
  for (std::size_t at = 0; !matches(at);) {
    const std::size_t slash = file.find('/', at);
    if (slash == std::string::npos) return false;
    at = slash + 1;
  }
  return true;
}

// How a frame is written; "": it is passed over.
std::string frame_text(const FrameChoice& choice, std::string_view frame) {
  const bool is_module = frame.starts_with(kModuleFrame);
  switch (choice.which) {
    case Frames::kAll:
      return without_addresses(frame);
    case Frames::kOwn:
      return matches_own(choice, frame) ? without_addresses(frame) : "";
    case Frames::kEachModule:
      return is_module ? std::string(frame) : "";
    case Frames::kModules: {
      if (!is_module) return "";
      const std::string_view of_class = without_number(frame);
      return of_class.size() == frame.size() ? std::string(frame) : std::string(of_class) + "_*";
    }
    case Frames::kModuleClasses:
      return is_module ? std::string(without_number(frame.substr(kModuleFrame.size()))) : "";
  }
  return "";
}

struct FrameNumber {
  std::uint32_t text = kNoFrame;      // kNoFrame: it is passed over
  std::uint32_t instance = kNoFrame;  // of the frame itself, among those with one text
};

// Appends the stacks of an index: its id i becomes place `stacks.size() - 1 + i`.
void read_stacks(const Index& index, const std::vector<FrameNumber>& frames, std::vector<StackEntry>& stacks) {
  const EventColumns columns(index, "stack", {"parent_id", "frame_id"});
  const auto parents = columns.ids("parent_id");
  const auto frame_ids = columns.ids("frame_id");
  const auto base = static_cast<std::uint32_t>(stacks.size() - 1);
  stacks.resize(stacks.size() + columns.size());
  for (std::uint32_t id = 1; id <= columns.size(); ++id) {
    StackEntry& own = stacks[base + id];
    // A parent that comes later is a damaged index; it must not send us in circles.
    own.parent = parents[id - 1] < id && parents[id - 1] != 0 ? base + parents[id - 1] : 0;
    if (frame_ids[id - 1] >= frames.size()) continue;
    own.frame = frames[frame_ids[id - 1]].text;
    own.instance = frames[frame_ids[id - 1]].instance;
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

std::string_view passed_over_text(Frames which) { return which == Frames::kOwn ? kNotOwn : kNoModule; }

StackPaths stack_paths(std::span<const Index* const> indexes, const FrameChoice& choice) {
  StackPaths out;
  NumberedTexts texts, instances;
  texts.number("");
  const bool has_instances = choice.which == Frames::kModules || choice.which == Frames::kModuleClasses;
  const auto number = [&](const Statement& row) {
    FrameNumber own;
    std::string text = frame_text(choice, row.text(1));
    if (text.empty()) return own;
    own.text = texts.number(std::move(text));
    if (has_instances) own.instance = instances.number(std::string(row.text(1))) + 1;
    return own;
  };
  out.stacks.resize(1);
  for (const Index* index : indexes) {
    out.first.push_back(static_cast<std::uint32_t>(out.stacks.size() - 1));
    const auto numbers = by_id<FrameNumber>(
        *index, "SELECT f.id, s.value FROM frame f JOIN string s ON s.id = f.name_id ORDER BY f.id", number);
    read_stacks(*index, numbers, out.stacks);
  }
  out.frames = texts.all();
  return out;
}

InnermostModules::InnermostModules(const Index& index)
    : paths_(stack_paths(std::vector<const Index*>{&index}, {Frames::kModuleClasses})), frames_(paths_.stacks.size()) {
  for (std::size_t id = 1; id < frames_.size(); ++id) {
    const StackEntry& entry = paths_.stacks[id];
    frames_[id] = entry.frame != kNoFrame ? entry.frame : frames_[entry.parent];
  }
}

StackTimes stack_times(Workload& workload, const FrameChoice& choice) {
  std::vector<const Index*> indexes = {&workload.index()};
  if (workload.capture() != nullptr) indexes.push_back(&workload.capture()->index);
  StackTimes out{stack_paths(indexes, choice), {}, {}};
  const std::uint32_t base = indexes.size() > 1 ? out.first.back() : static_cast<std::uint32_t>(out.stacks.size() - 1);
  // Paths none of whose frames is looked at.
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
    PathTime& time = stack[i] != 0 && empty[stack[i]] ? out.passed_over : out.times[stack[i]];
    ++time.count;
    if (dur[i] != kUnknownValue) time.time = saturating_add(time.time, dur[i]);
  }
  return out;
}

}  // namespace tracedb
