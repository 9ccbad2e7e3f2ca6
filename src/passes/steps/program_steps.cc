#include "passes/steps/program_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text/amounts.h"
#include "base/unknown.h"

namespace tracedb {
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

// By run: place among those of the program that its thread launched, + 1; 0: another program, or a thread of which no
// work is recorded. Empty: threads have other numbers of runs.
std::vector<std::uint32_t> places_of(const std::vector<ProgramRun>& runs, const std::vector<bool>& works,
                                     std::int64_t program) {
  std::map<std::uint32_t, bool> works_on;  // by thread
  for (std::size_t i = 0; i < runs.size(); ++i) works_on[runs[i].thread] |= works[i];
  std::vector<std::uint32_t> out(runs.size(), 0);
  std::map<std::uint32_t, std::uint32_t> counts;  // by thread
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].program == program && works_on[runs[i].thread]) out[i] = ++counts[runs[i].thread];
  }
  const bool alike = std::ranges::all_of(counts, [&](const auto& one) { return one.second == counts.begin()->second; });
  return alike ? out : std::vector<std::uint32_t>{};
}

// `places` become numbers of steps, + 1.
std::vector<StepFacts> steps_of_places(const std::vector<ProgramRun>& runs, const std::vector<bool>& works,
                                       std::vector<std::uint32_t>& places) {
  // The recording of devices begins later and ends earlier than that of the host: runs without work are no steps.
  std::vector<std::uint32_t> numbers(runs.size() + 1, 0);  // by place: number of its step, + 1
  for (std::size_t i = 0; i < places.size(); ++i) numbers[places[i]] |= works[i] && places[i] != 0 ? 1 : 0;
  std::uint32_t count = 0;
  for (std::uint32_t& number : numbers) number = number == 0 ? 0 : ++count;
  std::vector<StepFacts> steps(count);
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] = numbers[places[i]];
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
  const EventColumns calls(index, "runtime_call", {"ts", "thread_id"});
  const std::vector<std::size_t> of_kernel = runs_of(events.kernels, calls, runs);
  const std::vector<std::size_t> of_memory = runs_of(events.memory, calls, runs);
  std::map<std::int64_t, std::int64_t> time;  // by program, of its kernels
  std::vector<bool> works(runs.size());
  const auto dur = events.kernels.int64s("dur");
  for (std::size_t i = 0; i < of_kernel.size(); ++i) {
    if (of_kernel[i] == 0) continue;
    works[of_kernel[i] - 1] = true;
    std::int64_t& sum = time[runs[of_kernel[i] - 1].program];
    sum = saturating_add(sum, duration_or_zero(dur[i]));
  }
  if (time.empty()) return {};
  const auto most = std::ranges::max_element(time, {}, &std::pair<const std::int64_t, std::int64_t>::second);
  std::vector<std::uint32_t> places = places_of(runs, works, most->first);
  StepSet set;
  set.steps = steps_of_places(runs, works, places);
  if (set.steps.size() < 2) return {};
  set.source = StepSource::kPrograms;
  const auto assigned = [&](const std::vector<std::size_t>& of) {
    LargeVector<std::uint32_t> out(of.size(), 0);
    for (std::size_t i = 0; i < of.size(); ++i) out[i] = of[i] == 0 ? 0 : places[of[i] - 1];
    return out;
  };
  set.of_kernel = assigned(of_kernel);
  set.of_memory = assigned(of_memory);
  Statement text(index.database(), "SELECT value FROM string WHERE id = ?");
  text.bind(1, most->first);
  std::string name(text.step() ? text.text(0) : "");
  name = name.substr(0, name.find(':'));
  for (StepFacts& facts : set.steps) facts.name = name;
  set.notes.push_back(
      fmt::format("no annotation names a step: {} by the runs of {}", counted(set.steps.size(), "step"), name));
  return set;
}

}  // namespace tracedb
