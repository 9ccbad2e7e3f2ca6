#include "passes/steps/call_steps.h"

#include <algorithm>
#include <unordered_map>

#include "trace/training.h"

namespace tracedb {
namespace {

constexpr std::uint32_t kBackwardPass = static_cast<std::uint32_t>(Pass::kBackward) + 1;

// By id of thread; 0: not in the table.
std::vector<std::uint32_t> processes_of_threads(const Index& index) {
  const EventColumns threads(index, "thread");
  const auto ids = threads.ids("process_id");
  std::vector<std::uint32_t> processes(1, 0);
  processes.insert(processes.end(), ids.begin(), ids.end());
  return processes;
}

}  // namespace

CallSteps::CallSteps(const Index& index, std::span<const HostMark> marks) {
  const auto has = [&](StepScope scope) {
    return std::any_of(marks.begin(), marks.end(), [&](const HostMark& mark) { return mark.scope == scope; });
  };
  const bool process_wide = has(StepScope::kProcess);
  const bool backward = has(StepScope::kBackward);
  if (!process_wide && !backward) return;
  const std::vector<std::uint32_t> processes = processes_of_threads(index);
  const auto process_of = [&](std::uint32_t thread) { return thread < processes.size() ? processes[thread] : 0; };
  const EventColumns calls(index, "runtime_call", {"ts", "thread_id"});
  const auto ts = calls.int64s("ts");
  const auto thread = calls.ids("thread_id");
  if (process_wide) any_.resize(calls.size() + 1, 0);
  if (backward) backward_.resize(calls.size() + 1, 0);
  std::unordered_map<std::uint32_t, ProcessMarks> open;
  std::size_t next = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (; next < marks.size() && marks[next].ts <= ts[i]; ++next) {
      const HostMark& mark = marks[next];
      open[process_of(mark.thread)].open(mark.end, mark.thread, mark.step, mark.scope);
    }
    const auto own = open.find(process_of(thread[i]));
    if (own == open.end()) continue;
    if (process_wide) any_[i + 1] = own->second.step_at(ts[i], false);
    if (backward) backward_[i + 1] = own->second.step_at(ts[i], true);
  }
}

std::uint32_t CallSteps::of(std::uint32_t launch, std::uint32_t pass) const {
  const std::vector<std::uint32_t>& steps = pass == kBackwardPass && !backward_.empty() ? backward_ : any_;
  return launch < steps.size() ? steps[launch] : 0;
}

}  // namespace tracedb
