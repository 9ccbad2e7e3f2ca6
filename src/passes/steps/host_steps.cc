#include "passes/steps/host_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
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

namespace {

struct ProgramRun {
  std::uint32_t thread = 0;
  std::int64_t ts = 0, end = 0;
  std::int64_t program = 0;  // id of its name
};

// By thread, in order of time.
std::vector<ProgramRun> read_runs(const Index& index) {
  std::vector<ProgramRun> out;
  Statement rows(index.database(),
                 "SELECT thread_id, ts, dur, name_id FROM slice WHERE dur IS NOT NULL AND name_id IN "
                 "(SELECT id FROM string WHERE value GLOB '*:XLA GPU module') ORDER BY thread_id, ts, id");
  while (rows.step())
    out.push_back({static_cast<std::uint32_t>(rows.int64(0)), rows.int64(1),
                   saturating_add(rows.int64(1), rows.int64(2)), rows.int64(3)});
  return out;
}

// By row of `events`: place + 1 of the run that launched it; 0: none did.
std::vector<std::size_t> runs_of(const EventColumns& events, const EventColumns& calls,
                                 const std::vector<ProgramRun>& runs) {
  const auto launch = events.ids("launch_id");
  const auto thread = calls.ids("thread_id");
  const auto ts = calls.int64s("ts");
  std::vector<std::size_t> out(launch.size(), 0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (launch[i] == 0 || launch[i] > ts.size()) continue;
    const std::uint32_t call = launch[i] - 1;
    const auto later = std::ranges::upper_bound(runs, std::tuple(thread[call], ts[call]), {},
                                                [](const ProgramRun& run) { return std::tuple(run.thread, run.ts); });
    if (later == runs.begin()) continue;
    const ProgramRun& run = *std::prev(later);
    if (run.thread == thread[call] && run.end > ts[call]) out[i] = static_cast<std::size_t>(later - runs.begin());
  }
  return out;
}

// What runs launched, by run.
struct LaunchedByRun {
  std::vector<std::uint32_t> device;  // of its first kernel; 0: none is recorded
  std::vector<std::int64_t> time;     // of its kernels
};

LaunchedByRun launched_by(const std::vector<ProgramRun>& runs, const std::vector<std::size_t>& of_kernel,
                          const EventTables& events) {
  LaunchedByRun out{std::vector<std::uint32_t>(runs.size(), 0), std::vector<std::int64_t>(runs.size(), 0)};
  const auto dur = events.kernels.int64s("dur");
  const auto stream = events.kernels.ids("stream_id");
  for (std::size_t i = 0; i < of_kernel.size(); ++i) {
    if (of_kernel[i] == 0) continue;
    const std::size_t run = of_kernel[i] - 1;
    const bool known = stream[i] < events.device_of_stream.size();
    if (out.device[run] == 0 && known) out.device[run] = events.device_of_stream[stream[i]];
    out.time[run] = saturating_add(out.time[run], duration_or_zero(dur[i]));
  }
  return out;
}

// The program with most device time of those that ran at least twice on a device; 0: none did.
std::int64_t program_of_steps(const std::vector<ProgramRun>& runs, const LaunchedByRun& launched) {
  std::map<std::int64_t, std::int64_t> time;                     // by program
  std::map<std::pair<std::int64_t, std::uint32_t>, int> counts;  // by program and device
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (launched.device[i] == 0) continue;
    ++counts[{runs[i].program, launched.device[i]}];
    std::int64_t& sum = time[runs[i].program];
    sum = saturating_add(sum, launched.time[i]);
  }
  std::int64_t most = 0;
  for (const auto& [of, count] : counts) {
    if (count > 1 && (most == 0 || time[of.first] > time[most])) most = of.first;
  }
  return most;
}

// By run: number of its step + 1, its place among the runs of the program on its device; 0: of none. Empty: devices
// have other numbers of runs. The recording of devices begins later and ends earlier than that of the host: runs
// without work are no steps.
std::vector<std::uint32_t> places_of(const std::vector<ProgramRun>& runs, const LaunchedByRun& launched,
                                     std::int64_t program) {
  std::vector<std::size_t> order;  // by time: several threads may launch on one device
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].program == program && launched.device[i] != 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return runs[i].ts; });
  std::vector<std::uint32_t> out(runs.size(), 0);
  std::map<std::uint32_t, std::uint32_t> counts;  // by device
  for (const std::size_t i : order) out[i] = ++counts[launched.device[i]];
  const bool alike = std::ranges::all_of(counts, [&](const auto& one) { return one.second == counts.begin()->second; });
  return alike ? out : std::vector<std::uint32_t>{};
}

std::vector<StepFacts> steps_of_places(const std::vector<ProgramRun>& runs, const std::vector<std::uint32_t>& places) {
  std::vector<StepFacts> steps(places.empty() ? 0 : *std::ranges::max_element(places));
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] == 0) continue;
    StepFacts& facts = steps[places[i] - 1];
    const bool is_first = facts.ts == kUnknownValue;
    const std::int64_t end = is_first ? runs[i].end : std::max(saturating_add(facts.ts, facts.dur), runs[i].end);
    if (is_first || runs[i].ts < facts.ts) facts.ts = runs[i].ts, facts.track = runs[i].thread;
    facts.dur = end - facts.ts;
  }
  return steps;
}

}  // namespace

StepSet steps_by_program(const Index& index, const EventTables& events) {
  const std::vector<ProgramRun> runs = read_runs(index);
  if (runs.size() < 2) return {};
  const std::vector<std::size_t> of_kernel = runs_of(events.kernels, events.calls, runs);
  const std::vector<std::size_t> of_memory = runs_of(events.memory, events.calls, runs);
  const LaunchedByRun launched = launched_by(runs, of_kernel, events);
  const std::int64_t program = program_of_steps(runs, launched);
  if (program == 0) return {};
  const std::vector<std::uint32_t> places = places_of(runs, launched, program);
  StepSet set;
  set.steps = steps_of_places(runs, places);
  if (set.steps.empty()) return {};
  set.source = StepSource::kPrograms;
  const auto assigned = [&](const std::vector<std::size_t>& of) {
    LargeVector<std::uint32_t> out(of.size(), 0);
    for (std::size_t i = 0; i < of.size(); ++i) out[i] = of[i] == 0 ? 0 : places[of[i] - 1];
    return out;
  };
  set.of_kernel = assigned(of_kernel);
  set.of_memory = assigned(of_memory);
  std::string name(TextById(index).of(static_cast<std::uint32_t>(program)).value_or(""));
  name = name.substr(0, name.find(':'));
  for (StepFacts& facts : set.steps) facts.name = name;
  std::int64_t all = 0, own = 0;
  const auto dur = events.kernels.int64s("dur");
  for (std::size_t i = 0; i < dur.size(); ++i) {
    all = saturating_add(all, duration_or_zero(dur[i]));
    own = saturating_add(own, set.of_kernel[i] == 0 ? 0 : duration_or_zero(dur[i]));
  }
  set.notes.push_back(
      fmt::format("no annotation names a step: {} by the runs of {}, which have {} of the kernel time",
                  counted(set.steps.size(), "step"), name,
                  part_text(static_cast<double>(own) / static_cast<double>(std::max<std::int64_t>(all, 1)), 0)));
  return set;
}

}  // namespace tracedb
