#include "passes/stack_times.h"

#include <string_view>
#include <unordered_map>

#include "passes/event_columns.h"
#include "passes/group_stats.h"

namespace tracedb {
namespace {

constexpr std::string_view kModule = "nn.Module: ";

// "<built-in method size of Tensor object at 0x7f12>" without " at 0x7f12".
std::string without_addresses(std::string_view text) {
  constexpr std::string_view kAt = " at 0x";
  std::string out;
  for (std::size_t at = text.find(kAt); at != std::string_view::npos; at = text.find(kAt)) {
    const std::size_t end = text.find_first_not_of("0123456789abcdefABCDEF", at + kAt.size());
    out.append(text.substr(0, at));
    text.remove_prefix(std::min(end, text.size()));
  }
  return out.append(text);
}

// By frame id: its number among `texts`, or kNoFrame for one that is passed over.
std::vector<std::uint32_t> number_frames(const Index& index, Frames which, std::vector<std::string>& texts) {
  std::unordered_map<std::string, std::uint32_t> numbers;
  std::vector<std::uint32_t> out(1, kNoFrame);
  texts.assign(1, std::string());
  Statement rows(index.database(),
                 "SELECT f.id, s.value FROM frame f JOIN string s ON s.id = f.name_id "
                 "WHERE f.id BETWEEN 1 AND 4294967295 ORDER BY f.id");
  while (rows.step()) {
    const auto id = static_cast<std::size_t>(rows.int64(0));
    if (id >= out.size()) out.resize(id + 1, kNoFrame);
    if (which == Frames::kModules && !rows.text(1).starts_with(kModule)) continue;
    const auto [entry, is_new] =
        numbers.try_emplace(without_addresses(rows.text(1)), static_cast<std::uint32_t>(texts.size()));
    if (is_new) texts.push_back(entry->first);
    out[id] = entry->second;
  }
  return out;
}

std::vector<StackEntry> read_stacks(const Index& index, const std::vector<std::uint32_t>& frames) {
  const ScanColumn wanted[] = {{"parent_id", ScanType::kId, {}}, {"frame_id", ScanType::kId, {}}};
  const ScannedColumns columns = scan_columns(index.database(), "stack", wanted);
  const auto parents = columns.columns[0].ids.span();
  const auto frame_ids = columns.columns[1].ids.span();
  std::vector<StackEntry> stacks(columns.rows + 1);
  for (std::uint32_t id = 1; id < stacks.size(); ++id) {
    // A parent that comes later is a damaged index; it must not send us in circles.
    stacks[id].parent = parents[id - 1] < id ? parents[id - 1] : 0;
    stacks[id].frame = frame_ids[id - 1] < frames.size() ? frames[frame_ids[id - 1]] : kNoFrame;
  }
  return stacks;
}

}  // namespace

StackTimes stack_times(const Index& index, const Selection& selection, Frames which) {
  StackTimes out;
  out.stacks = read_stacks(index, number_frames(index, which, out.frames));
  // Paths without a frame that counts are none.
  std::vector<bool> empty(out.stacks.size(), true);
  for (std::size_t id = 1; id < empty.size(); ++id) {
    empty[id] = out.stacks[id].frame == kNoFrame && empty[out.stacks[id].parent];
  }
  const EventColumns kernels(index, "kernel", {"ts", "dur", "name_id", "stream_id", "stack_id", "step_id"});
  const EventFilter filter(index, selection);
  const auto ts = kernels.times("ts");
  const auto dur = kernels.times("dur");
  const auto name = kernels.ids("name_id");
  const auto stream = kernels.ids("stream_id");
  const auto stack = kernels.ids("stack_id");
  const auto step = kernels.ids("step_id");
  out.times.resize(out.stacks.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!filter.keeps(ts[i], name[i], stream[i], step[i])) continue;
    PathTime& time = out.times[stack[i] < empty.size() && !empty[stack[i]] ? stack[i] : 0];
    ++time.count;
    if (dur[i] != kNullCell) time.time = bounded_add(time.time, dur[i]);
  }
  return out;
}

}  // namespace tracedb
