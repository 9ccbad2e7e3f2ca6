#include <algorithm>
#include <cmath>
#include <utility>

#include "compare/reasons.h"
#include "passes/critical/critical_path.h"
#include "passes/tables/pass_tables.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostSteps = 32;
constexpr std::int64_t kParts = 1'000'000'000;  // that a factor counts in
constexpr double kRounded = 1.001;              // by which the kernels may fall short of what they are to take less

// Evenly taken of the steps of a question: by number + 1 whether it is one of them.
std::vector<bool> some_steps(const ComparedTrace& trace, std::span<const std::uint32_t> device_steps) {
  std::vector<std::uint32_t> steps;  // number + 1; 0: none
  for (const std::uint32_t i : device_steps) steps.push_back(trace.work.steps[i].step);
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  std::erase_if(steps, [&](std::uint32_t step) { return step == 0 || step > trace.steps.steps.size(); });
  std::vector<bool> out(trace.steps.steps.size() + 1);
  const std::size_t taken = std::min(steps.size(), kMostSteps);
  for (std::size_t i = 0; i < taken; ++i) out[steps[i * steps.size() / taken]] = true;
  return out;
}

class Asked {
 public:
  Asked(const ComparedTrace& trace, const CriticalPaths& paths, const PathQuestion& question)
      : trace_(trace), paths_(paths), question_(question), steps_(some_steps(trace, question.device_steps)) {
    const auto names = trace.events.kernels.ids("name_id");
    for (std::size_t row = 0; row < names.size(); ++row)
      of_.push_back(is_in_steps(row) && question.is_of(trace.name(names[row]), trace.layers.of_kernel[row]));
  }

  std::optional<PathWithout> answer() {
    std::vector<PathWindow> windows = windows_of_steps(trace_.steps, steps_, trace_.events);
    const std::size_t all = windows.size();
    Waits waits;
    std::erase_if(windows, [&](const PathWindow& window) {
      if (may_wait_unseen(window)) return true;
      const std::vector<PathSegment> path = paths_.path(window);
      if (holds_other_steps(window, path)) return true;
      waits.add(window, path);
      return false;
    });
    if (2 * windows.size() < all) return std::nullopt;  // what is left is no sample of the steps
    const double time = on_one_device() ? mean_time() : 0;
    if (windows.empty() || time <= 0 || question_.less > kRounded * time) return std::nullopt;
    const double factor = std::clamp(1 - question_.less / time, 0.0, 1e9);
    // Rounded up: what it gives is rounded down.
    const DurationFactor other{static_cast<std::int64_t>(std::ceil(factor * static_cast<double>(kParts))), kParts};
    const WhatIf what{[&](const Activity& one) { return is_of(one) ? other : DurationFactor{}; }, {}, {}};
    PathWithout out;
    for (const PathWindow& window : windows) {
      out.length += static_cast<double>(window.end - window.begin) / static_cast<double>(windows.size());
      out.without += static_cast<double>(paths_.what_if(window, what).length) / static_cast<double>(windows.size());
    }
    out.is_inferred = waits.is_inferred() || all_calls_inferred() ||
                      percent_without_launch(trace_.events.kernels, [&](std::size_t row) { return is_in_steps(row); }) >
                          kMuchInferred;
    return out;
  }

 private:
  // What paths wait for without a record, in ns.
  struct Waits {
    std::int64_t all = 0, unrecorded = 0;
    bool turns_inferred = false;  // returns of calls, or hand-overs

    void add(const PathWindow& window, const std::vector<PathSegment>& path) {
      all = saturating_add(all, window.end - window.begin);
      for (const PathSegment& part : path) {
        turns_inferred |= part.kind != PathKind::kInferredWait && part.is_inferred;
        if (part.kind == PathKind::kInferredWait || part.kind == PathKind::kUnknownWait)
          unrecorded = saturating_add(unrecorded, part.end - part.ts);
      }
    }
    [[nodiscard]] bool is_inferred() const {
      return turns_inferred || 100.0 * static_cast<double>(unrecorded) > kMuchInferred * static_cast<double>(all);
    }
  };

  [[nodiscard]] bool is_in_steps(std::size_t kernel) const {
    const std::uint32_t step = trace_.steps.of_kernel[kernel];
    return step != 0 && step < steps_.size() && steps_[step];
  }

  [[nodiscard]] bool is_of(const Activity& one) const {
    return one.work == Work::kCompute && !one.ref.is_memory_op && of_[one.ref.id - 1];
  }

  // Whether the host ends the step, and nothing tells what it did last: it may have waited for the device, which then
  // is what the step takes.
  [[nodiscard]] bool may_wait_unseen(const PathWindow& window) const {
    if (window.host_end < window.end) return false;
    const ReleaseGraph& graph = paths_.graph();
    std::int64_t last = window.begin;
    for (const EventColumns* own : {&trace_.events.calls, &trace_.events.operators}) {
      const auto ts = own->int64s("ts"), dur = own->int64s("dur");
      const auto thread = own->ids("thread_id");
      auto i = static_cast<std::size_t>(std::ranges::lower_bound(ts, window.host_end) - ts.begin());
      while (i-- > 0 && ts[i] >= window.begin) {
        if (graph.process_of(thread[i]) == graph.process_of(window.thread))
          last = std::max(last, saturating_add(ts[i], duration_or_zero(dur[i])));
      }
    }
    const auto unseen = static_cast<double>(window.host_end - last);
    return 100 * unseen > kMuchInferred * static_cast<double>(window.end - window.begin);
  }

  // Whether the host was so far ahead that kernels of steps before are on the path: it is longer than a step takes, and
  // what all of them save is not what one saves.
  [[nodiscard]] bool holds_other_steps(const PathWindow& window, const std::vector<PathSegment>& path) const {
    return std::ranges::any_of(path, [&](const PathSegment& part) {
      if (part.activity == kNoActivity) return false;
      const Activity& one = paths_.graph().activities()[part.activity];
      const std::uint32_t step = one.ref.is_memory_op ? 0 : trace_.steps.of_kernel[one.ref.id - 1];
      return step != 0 && window.step && step != static_cast<std::uint32_t>(*window.step) + 1;
    });
  }

  [[nodiscard]] bool on_one_device() const {
    std::vector<std::uint8_t> seen(steps_.size(), 0);
    return std::ranges::none_of(trace_.work.steps, [&](const DeviceStep& one) {
      return one.step != 0 && one.step < steps_.size() && steps_[one.step] && std::exchange(seen[one.step], 1) != 0;
    });
  }

  // Of the kernels in a device step, over these steps.
  [[nodiscard]] double mean_time() const {
    std::int64_t time = 0;
    for (const Activity& one : paths_.graph().activities()) {
      if (is_of(one)) time = saturating_add(time, one.end - one.ts);
    }
    const auto device_steps = std::ranges::count_if(question_.device_steps, [&](std::uint32_t i) {
      const std::uint32_t step = trace_.work.steps[i].step;
      return step != 0 && step < steps_.size() && steps_[step];
    });
    return device_steps == 0 ? 0 : static_cast<double>(time) / static_cast<double>(device_steps);
  }

  [[nodiscard]] bool all_calls_inferred() const {
    const std::span<const SynchronisingCall> calls = paths_.graph().calls();
    return !calls.empty() && std::ranges::all_of(calls, &SynchronisingCall::is_inferred);
  }

  const ComparedTrace& trace_;
  const CriticalPaths& paths_;
  const PathQuestion& question_;
  std::vector<bool> steps_;  // by number + 1, whether it is looked at
  std::vector<bool> of_;     // by row of kernels
};

}  // namespace

std::vector<std::optional<PathWithout>> step_paths(const Index& index, const ComparedTrace& trace,
                                                   std::span<const PathQuestion> questions) {
  std::vector<std::optional<PathWithout>> out;
  if (questions.empty()) return out;
  const ReleaseGraph graph(index, trace.events, PassOptions{}.late);
  const CriticalPaths paths(graph);
  for (const PathQuestion& question : questions) out.push_back(Asked(trace, paths, question).answer());
  return out;
}

}  // namespace tracedb
