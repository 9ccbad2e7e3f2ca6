#include "compare/host_frames.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/unknown.h"

namespace tracedb {
namespace {

constexpr std::int64_t kShortest = 2'000;  // ns: below, the device waits for itself

// The kernels and copies of a device step, in time order.
std::vector<EventRef> events_of(const ComparedTrace& trace, const DeviceStep& step) {
  const std::span<const std::int64_t> kernels = trace.events.kernels.int64s("ts");
  const std::span<const std::int64_t> memory = trace.events.memory.int64s("ts");
  std::vector<EventRef> out;
  std::size_t kernel = step.begin, copy = step.memory_begin;
  while (kernel < step.end || copy < step.memory_end) {
    const bool copy_next =
        kernel == step.end ||
        (copy < step.memory_end && memory[trace.work.memory_rows[copy]] < kernels[trace.work.kernel_rows[kernel]]);
    const std::uint32_t row = copy_next ? trace.work.memory_rows[copy++] : trace.work.kernel_rows[kernel++];
    out.push_back({row + 1, copy_next});
  }
  return out;
}

void add_between(const ComparedTrace& trace, const LaunchThreads& threads, const HostQuestion& question,
                 std::vector<HostGap>& gaps) {
  const std::vector<std::size_t> next = next_steps(trace.work);
  const std::vector<std::int64_t> periods = question.to ? trace.periods.to(*question.to) : trace.periods.within_kind;
  for (const std::uint32_t i : question.steps) {
    const DeviceStep& step = trace.work.steps[i];
    if (periods[i] == kUnknownValue || next[i] == i) continue;
    const std::int64_t begin = saturating_add(step.first, step.taken);
    const std::int64_t end = trace.work.steps[next[i]].first;
    if (end <= begin) continue;
    const std::vector<EventRef> events = events_of(trace, trace.work.steps[next[i]]);
    gaps.push_back({begin, end, events.empty() ? 0 : threads.of(events.front())});
  }
}

void add_within(const ComparedTrace& trace, const LaunchThreads& threads, const HostQuestion& question,
                std::vector<HostGap>& gaps) {
  for (const std::uint32_t i : question.steps) {
    std::int64_t busy_until = trace.work.steps[i].first;
    for (const EventRef& event : events_of(trace, trace.work.steps[i])) {
      const EventColumns& table = event.is_memory_op ? trace.events.memory : trace.events.kernels;
      const std::int64_t ts = table.int64s("ts")[event.id - 1];
      if (ts - busy_until >= kShortest) gaps.push_back({busy_until, ts, threads.of(event)});
      const std::int64_t end = saturating_add(ts, duration_or_zero(table.int64s("dur")[event.id - 1]));
      busy_until = std::max(busy_until, end);
    }
  }
}

std::optional<HostFrame> frame_of(const HostActivities& activities, std::span<const std::uint32_t> gaps) {
  if (gaps.empty()) return std::nullopt;
  const HostPlace place = activities.sum(gaps).place();
  if (place.place == kNoPlace) return std::nullopt;
  const bool python = place.layer == HostLayer::kPython;
  return HostFrame{std::string(activities.text(place.layer, place.place)), place.share(), python ? place.started : 0};
}

}  // namespace

std::vector<std::optional<HostFrame>> host_frames(const Index& index, const ComparedTrace& trace,
                                                  std::span<const HostQuestion> questions) {
  std::vector<std::optional<HostFrame>> out;
  if (questions.empty()) return out;
  const LaunchThreads threads(index, trace.events.kernels, trace.events.memory, trace.events.device_of_stream);
  std::vector<HostGap> gaps;
  std::vector<std::size_t> ends;  // of each question's gaps
  for (const HostQuestion& question : questions) {
    (question.between ? add_between : add_within)(trace, threads, question, gaps);
    ends.push_back(gaps.size());
  }
  if (gaps.empty()) return std::vector<std::optional<HostFrame>>(questions.size());
  std::vector<std::uint32_t> all(gaps.size());
  std::iota(all.begin(), all.end(), 0U);
  const HostActivities activities(index, std::move(gaps));
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    out.push_back(frame_of(activities, std::span(all).subspan(begin, end - begin)));
    begin = end;
  }
  return out;
}

}  // namespace tracedb
