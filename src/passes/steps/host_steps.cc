#include "passes/steps/module_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/text/amounts.h"
#include "base/unknown.h"
#include "trace/python_frame.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

struct Call {
  std::int64_t ts = 0, dur = 0;
  std::uint32_t thread = 0;
};

// The calls of one module, in time order.
struct ModuleCallList {
  std::string name;
  std::vector<Call> calls;
  std::int64_t time = 0;             // of the host
  std::int64_t end = kUnknownValue;  // of the latest call
  bool in_turn = true;               // no call begins before the one before it has ended
};

std::string label(std::string_view frame) {
  return std::string(frame.starts_with(kModuleFrame) ? frame.substr(kModuleFrame.size()) : frame);
}

std::map<std::int64_t, ModuleCallList> read_module_calls(const Index& index) {
  std::map<std::int64_t, ModuleCallList> modules;  // by name
  Statement rows(index.database(),
                 "SELECT m.name_id, m.ts, m.dur, m.thread_id, t.value FROM module_call m JOIN string t ON t.id = "
                 "m.name_id WHERE m.dur IS NOT NULL ORDER BY m.ts, m.id");
  while (rows.step()) {
    ModuleCallList& module = modules[rows.int64(0)];
    const Call call{rows.int64(1), rows.int64(2), static_cast<std::uint32_t>(rows.int64(3))};
    if (module.calls.empty()) module.name = label(rows.text(4));
    module.in_turn = module.in_turn && (module.calls.empty() || call.ts >= module.end);
    module.end = saturating_add(call.ts, call.dur);
    module.time = saturating_add(module.time, call.dur);
    module.calls.push_back(call);
  }
  return modules;
}

LargeVector<std::uint32_t> assigned(const EventColumns& events, const CallSteps& steps) {
  const auto launch = events.ids("launch_id");
  const auto pass = events.ids("pass");
  LargeVector<std::uint32_t> out(events.size(), 0);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = steps.of(launch[i], pass[i]);
  return out;
}

constexpr std::uint32_t kBackwardPass = static_cast<std::uint32_t>(Pass::kBackward) + 1;

}  // namespace

StepSet steps_by_module(const Index& index, const EventTables& events) {
  StepSet set;
  const std::map<std::int64_t, ModuleCallList> modules = read_module_calls(index);
  const ModuleCallList* model = nullptr;
  for (const auto& [id, module] : modules) {
    if (module.calls.size() < 2 || !module.in_turn) continue;
    if (model == nullptr || module.time > model->time) model = &module;
  }
  if (model == nullptr) return set;
  std::vector<HostMark> marks;
  for (const Call& call : model->calls) {
    StepFacts facts;
    facts.name = model->name;
    facts.ts = call.ts;
    facts.dur = call.dur;
    facts.track = call.thread;
    set.steps.push_back(std::move(facts));
    marks.push_back({call.ts, saturating_add(call.ts, call.dur), call.thread,
                     static_cast<std::uint32_t>(set.steps.size()), StepScope::kProcess});
  }
  const CallSteps calls(index, marks);
  set.of_kernel = assigned(events.kernels, calls);
  set.of_memory = assigned(events.memory, calls);
  if (std::ranges::all_of(set.of_kernel, [](std::uint32_t step) { return step == 0; })) return {};
  set.source = StepSource::kModules;
  set.notes.push_back(
      fmt::format("no annotation names a step: {} by the calls of {}", counted(set.steps.size(), "step"), model->name));
  return set;
}

CallSteps::CallSteps(const Index& index, std::span<const HostMark> marks) {
  const auto has = [&](StepScope scope) {
    return std::ranges::any_of(marks, [&](const HostMark& mark) { return mark.scope == scope; });
  };
  const bool process_wide = has(StepScope::kProcess);
  const bool backward = has(StepScope::kBackward);
  if (!process_wide && !backward) return;
  const std::vector<std::uint32_t> processes = ids_by_id(index, "thread", "process_id");
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
