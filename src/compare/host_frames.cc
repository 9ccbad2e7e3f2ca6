#include <algorithm>
#include <utility>

#include "base/unknown.h"
#include "compare/reasons.h"
#include "index/packed_columns.h"
#include "trace/python_frame.h"

namespace tracedb {
namespace {

constexpr std::int64_t kShortest = 2'000;  // ns: below, the device waits for itself
constexpr double kMostOfMore = 0.5;        // of what a device waits longer
constexpr std::array<std::string_view, 3> kTables = {"python_call", "cpu_op", "runtime_call"};

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

std::size_t add_between(const ComparedTrace& trace, const LaunchThreads& threads, const HostQuestion& question,
                        std::vector<HostGap>& gaps) {
  const std::vector<std::size_t> next = next_steps(trace.work);
  const std::vector<std::int64_t> periods = question.to ? trace.periods.to(*question.to) : trace.periods.within_kind;
  std::size_t waits = 0;
  for (const std::uint32_t i : question.steps) {
    const DeviceStep& step = trace.work.steps[i];
    if (periods[i] == kUnknownValue || next[i] == i) continue;
    ++waits;
    const std::int64_t begin = saturating_add(step.first, step.taken);
    const std::int64_t end = trace.work.steps[next[i]].first;
    if (end <= begin) continue;
    const std::vector<EventRef> events = events_of(trace, trace.work.steps[next[i]]);
    gaps.push_back({begin, end, events.empty() ? 0 : threads.of(events.front())});
  }
  return waits;
}

std::size_t add_within(const ComparedTrace& trace, const LaunchThreads& threads, const HostQuestion& question,
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
  return question.steps.size();
}

void add_places(const HostActivities& activities, const HostActivity& sum, HostStay& to) {
  const auto waits = static_cast<double>(to.waits);
  to.waited = static_cast<double>(sum.time) / waits;
  if (const HostPlace place = sum.place(); place.place != kNoPlace) {
    const bool python = place.layer == HostLayer::kPython;
    to.mostly = {std::string(activities.text(place.layer, place.place)), place.share(), python ? place.started : 0};
  }
  for (const HostLayer layer : {HostLayer::kPython, HostLayer::kOperator, HostLayer::kCall}) {
    const auto number = static_cast<std::size_t>(layer);
    for (const PlaceTime& one : sum.layers.at(number)) {
      const std::string_view text = activities.text(layer, one.place);
      HostStay::At& at = to.at.at(number)[std::string(text)];
      at.time += static_cast<double>(one.time) / waits;
      at.calls += layer == HostLayer::kPython ? one.started : 0;
    }
  }
}

}  // namespace

std::vector<HostStay> host_stays(const Index& index, const ComparedTrace& trace,
                                 std::span<const HostQuestion> questions) {
  std::vector<HostStay> out(questions.size());
  if (questions.empty()) return out;
  const LaunchThreads threads(index, trace.events);
  std::vector<HostGap> gaps;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const std::size_t before = gaps.size();
    out[i].waits = (questions[i].between ? add_between : add_within)(trace, threads, questions[i], gaps);
    for (HostGap& gap : std::span(gaps).subspan(before)) gap.tally = static_cast<std::uint32_t>(i);
  }
  if (gaps.empty()) return out;
  const HostActivities activities(index, trace.events, std::move(gaps));
  std::array<bool, 3> recorded{};
  for (std::size_t layer = 0; layer < recorded.size(); ++layer)
    recorded[layer] = row_count(index.database(), kTables[layer]) > 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].recorded = recorded;
    if (out[i].waits > 0) add_places(activities, activities.of(i), out[i]);
  }
  return out;
}

FrameLines frame_lines(const Index& index) {
  FrameLines out;
  Statement rows(index.database(), "SELECT s.value FROM frame f JOIN string s ON s.id = f.name_id");
  while (rows.step()) out[without_line(rows.text(0))].emplace(rows.text(0));
  return out;
}

std::optional<HostFrame> longer_stay(const HostStay& longer, const HostStay& other, const FrameLines& longer_lines,
                                     const FrameLines& other_lines) {
  const double more = longer.waited - other.waited;
  if (more <= 0) return std::nullopt;
  const auto is_of_same_lines = [&](const std::string& function) {
    const auto a = longer_lines.find(function), b = other_lines.find(function);
    return a == longer_lines.end() || b == other_lines.end() || a->second == b->second;
  };
  for (std::size_t layer = 0; layer < longer.at.size(); ++layer) {
    if (other.waited > 0 && !other.recorded[layer]) continue;
    std::map<std::string, double> of_functions;
    for (const auto& [place, at] : other.at[layer]) of_functions[without_line(place)] += at.time;
    std::optional<HostFrame> most;
    double grown = kMostOfMore * more;
    for (const auto& [place, at] : longer.at[layer]) {
      if (at.time <= grown) continue;
      const std::string function = without_line(place);
      double before = 0;
      if (!is_of_same_lines(function)) {
        before = of_functions[function];
      } else if (const auto same = other.at[layer].find(place); same != other.at[layer].end()) {
        before = same->second.time;
      }
      if (at.time - before <= grown) continue;
      grown = at.time - before;
      most = {place, std::min(grown / more, 1.0), at.calls};
    }
    if (most) return most;
  }
  return std::nullopt;
}

}  // namespace tracedb
