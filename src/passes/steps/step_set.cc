#include "passes/steps/step_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/text/amounts.h"
#include "passes/steps/inferred_steps.h"
#include "passes/steps/step_pattern.h"
#include "trace/format_holds.h"

namespace tracedb {

namespace {

LargeVector<std::uint32_t> mapped(std::span<const std::uint32_t> ids, const std::vector<std::uint32_t>& by_id) {
  LargeVector<std::uint32_t> out(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) out[i] = ids[i] < by_id.size() ? by_id[ids[i]] : 0;
  return out;
}

constexpr std::uint32_t kDropped = UINT32_MAX;  // a mark around steps that is none itself

// How much a mark says: training and serving steps are what people look for, "other" is at least no mere frame.
int rank(StepKind kind) { return kind == StepKind::kUnknown ? 0 : kind == StepKind::kOther ? 1 : 2; }

int facts(const StepInfo& info) {
  return rank(info.kind) * 8 + (info.context_requests ? 1 : 0) + (info.context_tokens ? 1 : 0) +
         (info.generation_requests ? 1 : 0) + (info.generation_tokens ? 1 : 0);
}

// The rows of table step, folded as the header says.
class IndexedSteps {
 public:
  explicit IndexedSteps(const Index& index) : index_(index) {
    read();
    fold();
  }

  // The steps that remain, and by id of step: its place among them + 1.
  StepSet result(const EventTables& events) {
    StepSet set;
    if (rows_.empty()) return set;
    set.source = StepSource::kIndex;
    std::vector<std::uint32_t> place(rows_.size(), 0);
    std::size_t frames = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      frames += owner_[i] == kDropped ? 1 : 0;
      if (owner_[i] != i) continue;
      set.steps.push_back(std::move(rows_[i].facts));
      place[i] = static_cast<std::uint32_t>(set.steps.size());
    }
    std::vector<std::uint32_t> by_id;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for_id(by_id, rows_[i].id) = owner_[i] == kDropped ? 0 : place[owner_[i]];
    }
    set.of_kernel = mapped(events.kernels.ids("step_id"), by_id);
    set.of_memory = mapped(events.memory.ids("step_id"), by_id);
    if (frames > 0) {
      set.notes.push_back(fmt::format("{} ignored: more specific ones are inside", counted(frames, "step annotation")));
    }
    return set;
  }

 private:
  struct Mark {
    std::uint32_t id;
    std::int64_t annotation;
    StepFacts facts;
  };

  void read() {
    Statement steps(
        index_.database(),
        "SELECT st.id, st.annotation_id, st.kind, st.context_requests, st.context_tokens, st.generation_requests, "
        "st.generation_tokens, a.ts, a.dur, a.kind = 'gpu', coalesce(a.thread_id, a.stream_id), t.value FROM step st "
        "LEFT JOIN annotation a ON a.id = st.annotation_id LEFT JOIN string t ON t.id = a.name_id ORDER BY st.id");
    while (steps.step()) {
      StepFacts facts;
      facts.info.kind = step_kind_from(steps.text(2)).value_or(StepKind::kUnknown);
      facts.info.context_requests = steps.integer(3);
      facts.info.context_tokens = steps.integer(4);
      facts.info.generation_requests = steps.integer(5);
      facts.info.generation_tokens = steps.integer(6);
      facts.ts = steps.integer(7).value_or(kUnknownValue);
      facts.dur = steps.integer(8).value_or(kUnknownValue);
      facts.on_device = steps.int64(9) == 1;
      facts.track = static_cast<std::uint32_t>(steps.int64(10));
      facts.name = steps.text(11);
      row_of_annotation_.emplace(steps.int64(1), static_cast<std::uint32_t>(rows_.size()));
      rows_.push_back({steps.id(0), steps.int64(1), std::move(facts)});
    }
  }

  // Steps are in time order, so what stands around a mark comes before it.
  void fold() {
    owner_.resize(rows_.size());
    TextById parent(index_, "SELECT parent_id FROM annotation WHERE id = ?");
    for (std::uint32_t i = 0; i < rows_.size(); ++i) {
      owner_[i] = i;
      const std::uint32_t outer = mark_around(parent, i);
      if (outer >= i) continue;
      Mark& around = rows_[outer];
      if (rank(rows_[i].facts.info.kind) > rank(around.facts.info.kind)) {
        owner_[outer] = kDropped;
        continue;
      }
      owner_[i] = outer;
      if (facts(rows_[i].facts.info) > facts(around.facts.info)) around.facts.info = rows_[i].facts.info;
    }
  }

  // The nearest mark around that of a row that still stands; none: a number no row has.
  std::uint32_t mark_around(TextById& parent, std::uint32_t row) const {
    constexpr int kDeepest = 100;
    std::int64_t annotation = rows_[row].annotation;
    for (int depth = 0; depth < kDeepest; ++depth) {
      const Statement* const found = parent.row(annotation);
      const std::int64_t next = found == nullptr ? annotation : found->integer(0).value_or(annotation);
      if (next >= annotation) break;  // a parent comes before its children
      annotation = next;
      const auto mark = row_of_annotation_.find(annotation);
      if (mark == row_of_annotation_.end() || mark->second >= owner_.size() || owner_[mark->second] == kDropped)
        continue;
      const StepFacts& own = rows_[row].facts;
      if (!follows(own.ts, own.dur, rows_[mark->second].facts)) return owner_[mark->second];
    }
    return UINT32_MAX;
  }

  const Index& index_;
  std::vector<Mark> rows_;
  std::unordered_map<std::int64_t, std::uint32_t> row_of_annotation_;
  std::vector<std::uint32_t> owner_;  // by row: the row its kernels count for
};

constexpr std::string_view kTrainingMarks =
    "SELECT ts FROM annotation WHERE kind = 'user' AND name_id IN (SELECT id FROM string WHERE value GLOB "
    "'Optimizer.step#*' OR value GLOB '*[bB]ackward*' OR value GLOB '*([BW])' OR value = '1F1B') UNION SELECT ts FROM "
    "cpu_op WHERE name_id IN (SELECT id FROM string WHERE value >= 'autograd::engine::' AND value < "
    "'autograd::engine:;') ORDER BY ts";

constexpr std::uint32_t stored(Pass pass) { return static_cast<std::uint32_t>(pass) + 1; }

// By place of step: whether it has work of a backward pass or of an optimizer.
std::vector<bool> steps_that_train(const Index& index, const StepSet& set) {
  std::vector<bool> out(set.steps.size());
  const EventColumns kernels(index, "kernel", {"pass"});
  const auto pass = kernels.ids("pass");
  for (std::size_t i = 0; i < set.of_kernel.size() && i < pass.size(); ++i) {
    if (pass[i] > stored(Pass::kForward) && set.of_kernel[i] != 0) out[set.of_kernel[i] - 1] = true;
  }
  return out;
}

void find_training(const Index& index, StepSet& set) {
  const auto is_open = [](const StepFacts& step) { return step.info.kind == StepKind::kUnknown; };
  if (std::ranges::none_of(set.steps, is_open)) return;
  const std::vector<bool> trains = steps_that_train(index, set);
  for (std::size_t i = 0; i < set.steps.size(); ++i) {
    StepFacts& step = set.steps[i];
    if (is_open(step) && trains[i]) step.info.kind = StepKind::kTrain;
  }
  if (std::ranges::none_of(set.steps, is_open)) return;
  std::vector<std::int64_t> marks;
  Statement rows(index.database(), kTrainingMarks);
  while (rows.step()) marks.push_back(rows.int64(0));
  for (StepFacts& step : set.steps) {
    const auto mark = std::ranges::lower_bound(marks, step.ts);
    const bool timed = step.ts != kUnknownValue && step.dur != kUnknownValue;
    // The backward pass of a call of the model comes behind it.
    const bool is_within = mark != marks.end() && *mark - step.ts < step.dur;
    const bool trains_all = set.source == StepSource::kModules && !marks.empty();
    if (is_open(step) && timed && (is_within || trains_all)) step.info.kind = StepKind::kTrain;
  }
}

// An excerpt says whether it cuts the first and the last of its steps that run something on a device.
void find_cut_steps(const Index& index, StepSet& set) {
  const auto first = std::ranges::find_if(set.of_kernel, [](std::uint32_t step) { return step != 0; });
  Statement cuts(
      index.database(),
      "SELECT json_extract(value, '$.cuts_first') = 1, json_extract(value, '$.cuts_last') = 1 FROM meta WHERE "
      "key = 'trace.tracedb' AND json_valid(value)");
  if (first == set.of_kernel.end() || !cuts.step()) return;
  auto last = set.of_kernel.end();
  while (*--last == 0) {
  }
  if (cuts.int64(0) == 1) set.steps[*first - 1].cut = true;
  if (cuts.int64(1) == 1) set.steps[*last - 1].cut = true;
  const auto cut = static_cast<std::size_t>(std::ranges::count_if(set.steps, &StepFacts::cut));
  if (cut == 0) return;
  set.notes.push_back(fmt::format("{} cut by the recording: of a part of the work nothing is known",
                                  counted(cut, "step is", "steps are")));
}

StepSet inferred(const Index& index, const EventTables& events, const std::vector<Traits>& traits) {
  if (is_xla(index.meta("format").value_or(""))) {
    StepSet programs = steps_by_program(index, events);
    if (programs.source != StepSource::kNone) return programs;
  }
  const std::vector<bool> graphs = graph_launches(index);
  const EventColumns& kernels = events.kernels;
  const InferredSteps found = infer_steps({kernels.int64s("ts"), kernels.int64s("dur"), kernels.ids("name_id"),
                                           kernels.ids("stream_id"), kernels.ids("launch_id"), kernels.ids("pass"),
                                           events.memory.int64s("ts"), events.memory.int64s("dur"),
                                           events.memory.ids("stream_id"), events.device_of_stream, traits, graphs});
  const bool decided = found.rhythm == Rhythm::kOptimizer || found.rhythm == Rhythm::kGeneration;
  if (!decided || found.steps.size() < 2) {
    StepSet modules = steps_by_module(index, events);
    if (modules.source != StepSource::kNone) return modules;
  }
  StepSet set;
  set.of_memory = steps_of_starts(events.memory.int64s("ts"), found.steps);
  set.of_kernel = steps_of_starts(kernels.int64s("ts"), found.steps);
  if (found.steps.empty()) {
    const std::string_view advice = recording_advice(index.meta("format").value_or("")).steps;
    set.notes.push_back(fmt::format("no annotation names a step{}{}, and none could be inferred: {}",
                                    advice.empty() ? "" : ": ", advice, found.reason));
    return set;
  }
  set.source = StepSource::kInferred;
  set.confidence = found.confidence;
  for (const InferredStep& step : found.steps) {
    StepFacts facts;
    facts.info.kind = step.kind;
    facts.on_device = true;
    facts.ts = step.begin;
    facts.warm_up = step.warm_up;
    set.steps.push_back(std::move(facts));
  }
  const bool units = found.steps.front().kind == StepKind::kUnit;
  set.notes.push_back(
      fmt::format("no annotation names a step: {} inferred from {}{}, parted where the device waits "
                  "longest, confidence {:.2f}",
                  counted(found.steps.size(), units ? "repeating unit, no step, is" : "step",
                          units ? "repeating units, no steps, are" : "steps"),
                  found.reason, found.steps.front().warm_up ? ", the first a warm-up" : "", found.confidence));
  return set;
}

void note_steps_without_work(StepSet& set) {
  const auto runs = [](const LargeVector<std::uint32_t>& step_of) {
    return std::ranges::any_of(step_of, [](std::uint32_t step) { return step != 0; });
  };
  if (set.steps.empty() || runs(set.of_kernel)) return;
  set.notes.emplace_back("no kernel is in a step: periods are those of the host");
}

}  // namespace

bool follows(std::int64_t ts, std::int64_t dur, const StepFacts& around) {
  if (dur == kUnknownValue || around.dur == kUnknownValue) return false;
  return saturating_add(around.ts, around.dur) - ts < dur / 2;
}

bool needs_traits(const Index& index, const StepOptions& options) {
  // As IndexedSteps reads them: a damaged index may have steps of which none counts.
  return !options.pattern &&
         !index.database().query_int64("SELECT id FROM step WHERE id > 0 AND id < 134217728 LIMIT 1");
}

StepSet load_steps(const Index& index, const StepOptions& options, const EventTables& events,
                   const std::vector<Traits>& traits) {
  StepSet set =
      options.pattern ? steps_by_pattern(index, *options.pattern, events) : IndexedSteps(index).result(events);
  if (!options.pattern && set.source == StepSource::kNone) set = inferred(index, events, traits);
  find_training(index, set);
  find_cut_steps(index, set);
  note_steps_without_work(set);
  for (StepFacts& step : set.steps) {  // a forward pass is work, of whatever phase
    if (set.source == StepSource::kModules && step.info.kind == StepKind::kUnknown) step.info.kind = StepKind::kOther;
  }
  return set;
}

std::vector<bool> launched_before_recording(const StepSet& set, const EventColumns& kernels) {
  const auto launch = kernels.ids("launch_id"), stream = kernels.ids("stream_id"), op = kernels.ids("cpu_op_id");
  // By stream: its first kernel with a launch or, before one with a launch, an operator; 0: none, or none is before it.
  std::vector<std::size_t> first;
  std::vector<std::uint32_t> call;  // by stream: the first launch
  for (std::size_t i = kernels.size(); i-- > 0;) {
    if (stream[i] >= first.size()) first.resize(stream[i] + std::size_t{1}), call.resize(first.size());
    if (launch[i] != 0) call[stream[i]] = launch[i];
    if (launch[i] != 0 || (op[i] != 0 && call[stream[i]] != 0)) first[stream[i]] = i;
  }
  Statement first_call(kernels.database(),
                       "SELECT c.correlation FROM runtime_call l JOIN thread o ON o.id = l.thread_id CROSS JOIN "
                       "runtime_call c JOIN thread t ON t.id = c.thread_id WHERE l.id = ? AND t.process_id = "
                       "o.process_id AND c.correlation > 0 ORDER BY c.id LIMIT 1");
  std::vector<std::int64_t> recorded(first.size(), INT64_MAX);  // by stream: the correlation of that call
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] == 0) continue;
    first_call.reset();
    first_call.bind(1, std::int64_t{call[i]});
    if (first_call.step()) recorded[i] = first_call.int64(0);
  }
  const auto correlation = kernels.int64s("correlation");
  std::vector<bool> out(kernels.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = launch[i] == 0 && set.of_kernel[i] == 0 && i < first[stream[i]] && correlation[i] <= recorded[stream[i]];
  }
  return out;
}

std::optional<std::int64_t> launch_lag(const StepFacts& step, std::int64_t first) {
  std::int64_t lag = 0;
  if (step.on_device || step.ts == kUnknownValue || first == kUnknownValue) return std::nullopt;
  if (__builtin_sub_overflow(first, step.ts, &lag)) return std::nullopt;
  return lag;
}

std::string_view to_string(StepSource source) {
  constexpr std::string_view kNames[] = {"none", "annotations", "pattern", "module calls", "program runs", "inferred"};
  return kNames[static_cast<std::size_t>(source)];
}

namespace {

// The calls, in time order, of the module that takes most time on the host of those that are called several times, each
// call after the one before.
constexpr std::string_view kModelCalls =
    "WITH call AS MATERIALIZED (SELECT m.*, iif(t.value GLOB 'nn.Module: *', substr(t.value, 12), t.value) AS name, "
    "m.ts < lag(m.ts + m.dur) OVER (PARTITION BY m.name_id ORDER BY m.ts, m.id) AS overlaps FROM module_call m JOIN "
    "string t ON t.id = m.name_id WHERE m.dur IS NOT NULL) SELECT ts, dur, thread_id, name FROM call WHERE name_id = "
    "(SELECT name_id FROM call GROUP BY name_id HAVING count(*) > 1 AND max(overlaps) = 0 ORDER BY total(dur) DESC, "
    "name_id LIMIT 1) ORDER BY ts, id";

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
  std::vector<HostMark> marks;
  Statement model(index.database(), kModelCalls);
  while (model.step()) {
    StepFacts& facts = set.steps.emplace_back();
    facts.ts = model.int64(0);
    facts.dur = model.int64(1);
    facts.track = static_cast<std::uint32_t>(model.int64(2));
    facts.name = model.text(3);
    marks.push_back({facts.ts, saturating_add(facts.ts, facts.dur), facts.track,
                     static_cast<std::uint32_t>(set.steps.size()), StepScope::kProcess});
  }
  if (marks.empty()) return set;
  const CallSteps calls(index, marks);
  set.of_kernel = assigned(events.kernels, calls);
  set.of_memory = assigned(events.memory, calls);
  if (std::ranges::all_of(set.of_kernel, [](std::uint32_t step) { return step == 0; })) return {};
  set.source = StepSource::kModules;
  set.notes.push_back(fmt::format("no annotation names a step: {} by the calls of {}",
                                  counted(set.steps.size(), "step"), set.steps.front().name));
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
  std::int64_t program = 0;      // id of its name
  std::uint32_t device = 0;      // of the first kernel that it launched; 0: none is recorded
  std::int64_t device_time = 0;  // of its kernels
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
std::vector<std::uint32_t> runs_of(const EventColumns& events, const EventColumns& calls,
                                   const std::vector<ProgramRun>& runs) {
  const auto launch = events.ids("launch_id");
  const auto thread = calls.ids("thread_id");
  const auto ts = calls.int64s("ts");
  std::vector<std::uint32_t> out(launch.size(), 0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (launch[i] == 0 || launch[i] > ts.size()) continue;
    const std::uint32_t call = launch[i] - 1;
    const auto later = std::ranges::upper_bound(runs, std::tuple(thread[call], ts[call]), {},
                                                [](const ProgramRun& run) { return std::tuple(run.thread, run.ts); });
    if (later == runs.begin()) continue;
    const ProgramRun& run = *std::prev(later);
    if (run.thread == thread[call] && run.end > ts[call]) out[i] = static_cast<std::uint32_t>(later - runs.begin());
  }
  return out;
}

// `of_kernel`: as of runs_of().
void add_kernels(const std::vector<std::uint32_t>& of_kernel, const EventTables& events,
                 std::vector<ProgramRun>& runs) {
  const auto dur = events.kernels.int64s("dur");
  const auto stream = events.kernels.ids("stream_id");
  for (std::size_t i = 0; i < of_kernel.size(); ++i) {
    if (of_kernel[i] == 0) continue;
    ProgramRun& run = runs[of_kernel[i] - 1];
    const bool known = stream[i] < events.device_of_stream.size();
    if (run.device == 0 && known) run.device = events.device_of_stream[stream[i]];
    run.device_time = saturating_add(run.device_time, duration_or_zero(dur[i]));
  }
}

// The program with most device time of those that ran at least twice on a device; 0: none did.
std::int64_t program_of_steps(const std::vector<ProgramRun>& runs) {
  std::map<std::int64_t, std::int64_t> time;                     // by program
  std::map<std::pair<std::int64_t, std::uint32_t>, int> counts;  // by program and device
  for (const ProgramRun& run : runs) {
    if (run.device == 0) continue;
    ++counts[{run.program, run.device}];
    time[run.program] = saturating_add(time[run.program], run.device_time);
  }
  std::int64_t most = 0;
  for (const auto& [of, count] : counts) {
    if (count > 1 && (most == 0 || time[of.first] > time[most])) most = of.first;
  }
  return most;
}

// By run + 1: number of its step + 1, its place among the runs of the program on its device; 0: of none. Empty: devices
// have other numbers of runs. The recording of devices begins later and ends earlier than that of the host: runs
// without work are no steps.
std::vector<std::uint32_t> places_of(const std::vector<ProgramRun>& runs, std::int64_t program) {
  std::vector<std::size_t> order;  // by time: several threads may launch on one device
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].program == program && runs[i].device != 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return runs[i].ts; });
  std::vector<std::uint32_t> out(runs.size() + 1, 0);
  std::map<std::uint32_t, std::uint32_t> counts;  // by device
  for (const std::size_t i : order) out[i + 1] = ++counts[runs[i].device];
  const bool alike = std::ranges::all_of(counts, [&](const auto& one) { return one.second == counts.begin()->second; });
  return alike ? out : std::vector<std::uint32_t>{};
}

std::vector<StepFacts> steps_of_places(const std::vector<ProgramRun>& runs, const std::vector<std::uint32_t>& places) {
  std::vector<StepFacts> steps(places.empty() ? 0 : *std::ranges::max_element(places));
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    if (places[i + 1] == 0) continue;
    StepFacts& facts = steps[places[i + 1] - 1];
    const bool is_first = facts.ts == kUnknownValue;
    const std::int64_t end = is_first ? runs[i].end : std::max(saturating_add(facts.ts, facts.dur), runs[i].end);
    if (is_first || runs[i].ts < facts.ts) facts.ts = runs[i].ts, facts.track = runs[i].thread;
    facts.dur = end - facts.ts;
  }
  return steps;
}

}  // namespace

StepSet steps_by_program(const Index& index, const EventTables& events) {
  std::vector<ProgramRun> runs = read_runs(index);
  if (runs.size() < 2) return {};
  const std::vector<std::uint32_t> of_kernel = runs_of(events.kernels, events.calls, runs);
  const std::vector<std::uint32_t> of_memory = runs_of(events.memory, events.calls, runs);
  add_kernels(of_kernel, events, runs);
  const std::int64_t program = program_of_steps(runs);
  if (program == 0) return {};
  const std::vector<std::uint32_t> places = places_of(runs, program);
  StepSet set;
  set.steps = steps_of_places(runs, places);
  if (set.steps.empty()) return {};
  set.source = StepSource::kPrograms;
  set.of_kernel = mapped(of_kernel, places);
  set.of_memory = mapped(of_memory, places);
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
