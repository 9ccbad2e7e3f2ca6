#include "aie/stream/postprocess.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>

#include "aie/tile.h"
#include "base/error.h"
#include "base/files/input_file.h"
#include "base/python/json.h"
#include "base/stream/csv_reader.h"
#include "base/text/decimal.h"

namespace tracedb::stream {
namespace {

using python::dict;
using python::integer;
using python::Kind;
using python::list;
using python::Member;
using python::real;
using python::text;
using python::Value;

using aie::Cycles;
using aie::Phase;
using aie::Span;

// What the program reads of a trace, by process.
struct ProcessEvents {
  python::Value pid;                             // as the trace first wrote it
  std::string name;                              // of the last process_name event; empty without one
  std::vector<Cycles> starts, ends;              // INSTR_EVENT_0 B and INSTR_EVENT_1 E, sorted
  std::vector<Cycles> stall_begins, stall_ends;  // LOCK_STALL B and E, sorted
};

struct Iteration {
  std::int64_t kernels = 0;
  double average = 0;
  Cycles shortest = 0, longest = 0;
  Span span{0, 0};  // unknown without kernels
  double gmacs = 0;
  Phase phase = Phase::kWarmup;
};

struct Core {
  python::Value pid;
  std::string tile;
  bool has_kernels = false;  // without, only pid, tile, expected and note count
  python::Value median;      // an int or a float, which print differently
  std::int64_t boundaries = 0;
  std::int64_t expected = 0;
  std::string note;  // empty: none
  std::vector<Iteration> iterations;
  std::int64_t first_perf = 0, behind_perf = 0;  // positions in iterations
};

constexpr double kClockGhz = 1.25;

// M * K * N of the options, in the order in which the program multiplies.
double macs(const Work& work) {
  return static_cast<double>(work.m) * static_cast<double>(work.k) * static_cast<double>(work.n);
}

Value text_or_none(std::string_view value) { return value.empty() ? Value() : text(value); }

std::string json_of(std::vector<Member> members) {
  return to_json(dict(std::move(members)), python::NonAscii::kEscaped);
}

template <class Items, class Convert>
Value list_of(const Items& items, Convert convert) {
  std::vector<Value> out;
  std::ranges::transform(items, std::back_inserter(out), convert);
  return list(std::move(out));
}

Value iteration_value(const Iteration& iteration, std::int64_t index) {
  const auto time = [&](Cycles value) { return iteration.kernels == 0 ? Value() : integer(value); };
  return dict({{"num_kernels", integer(iteration.kernels)},
               {"avg_duration_cycles", real(iteration.average)},
               {"min_duration_cycles", integer(iteration.shortest)},
               {"max_duration_cycles", integer(iteration.longest)},
               {"total_span_cycles", integer(iteration.span.duration())},
               {"first_start", time(iteration.span.start)},
               {"last_end", time(iteration.span.end)},
               {"gmacs_per_second", real(iteration.gmacs)},
               {"iteration_index", integer(index)},
               {"phase", text(to_text(iteration.phase))}});
}

struct SystemIteration {
  std::int64_t index;
  Cycles runtime;
  double gmacs;
};

Value system_value(const SystemIteration& iteration) {
  return dict({{"iteration_index", integer(iteration.index)},
               {"runtime_cycles", integer(iteration.runtime)},
               {"gmacs_per_second", real(iteration.gmacs)}});
}

// Those that every core measured.
std::vector<SystemIteration> common_iterations(const Options& options, const std::vector<const Core*>& cores) {
  if (std::ranges::find(cores, nullptr) != cores.end()) return {};
  std::int64_t first = 0;
  std::int64_t behind = cores.front()->behind_perf;
  for (const Core* core : cores) {
    first = std::max(first, core->first_perf);
    behind = std::min(behind, core->behind_perf);
  }
  std::vector<SystemIteration> out;
  for (std::int64_t i = first; i < behind; ++i) {
    Cycles runtime = 0;
    for (const Core* core : cores) {
      runtime = std::max(runtime, core->iterations[static_cast<std::size_t>(i)].span.duration());
    }
    out.push_back({i, runtime, runtime > 0 ? macs(options.work) * kClockGhz / static_cast<double>(runtime) : 0.0});
  }
  return out;
}

// Added one after the other, as sum() does up to Python 3.11.
template <class Field>
double mean(const std::vector<SystemIteration>& iterations, Field field) {
  double sum = 0;
  for (const SystemIteration& iteration : iterations) sum += field(iteration);
  return sum / static_cast<double>(iterations.size());
}

bool fewer_gmacs(const SystemIteration& a, const SystemIteration& b) { return a.gmacs < b.gmacs; }

std::string core_json(const Core& core) {
  std::vector<Member> members = {{"pid", core.pid}, {"tile_name", text(core.tile)}};
  if (core.has_kernels) {
    members.push_back({"median_kernel_duration_cycles", core.median});
    members.push_back({"lock_stall_boundary_count", integer(core.boundaries)});
  }
  std::vector<Value> window;
  for (std::int64_t i = core.first_perf; i < core.behind_perf; ++i) window.push_back(integer(i));
  std::int64_t index = 0;
  const auto iteration = [&](const Iteration& one) { return iteration_value(one, index++); };
  members.insert(members.end(),
                 {{"detected_total_iterations", integer(static_cast<std::int64_t>(core.iterations.size()))},
                  {"expected_total_iterations", integer(core.expected)},
                  {"mismatch_note", text_or_none(core.note)},
                  {"iterations", list_of(core.iterations, iteration)},
                  {"performance_window", list(std::move(window))}});
  return json_of(std::move(members));
}

// Empty: no iterations at all.
std::string details_markdown(const Options& options, const std::vector<Core>& cores) {
  std::string rows;
  for (const Core& core : cores) {
    std::int64_t index = 0;
    for (const Iteration& iteration : core.iterations) {
      rows += fmt::format("| {} | {} | {} | {} | {:.3f} | {} | {} | {} | {:.3f} |\n", core.tile, index++,
                          to_text(iteration.phase), iteration.kernels, iteration.average, iteration.shortest,
                          iteration.longest, iteration.span.duration(), iteration.gmacs);
    }
  }
  if (rows.empty()) return rows;
  const Work& work = options.work;
  return fmt::format("<details><summary><strong>[{}] M={} K={} N={}</strong></summary>\n\n", options.hardware, work.m,
                     work.k, work.n) +
         "| Tile | Iter | Phase | Kernels | Avg cycles | Min | Max | Total span | GMAC/s |\n"
         "|------|------|-------|---------|------------|-----|-----|------------|--------|\n" +
         rows + "\n</details>\n";
}

std::string index_json(const Options& options, const std::vector<Core>& cores, bool has_details) {
  const Work& work = options.work;
  std::vector<Value> notes;
  for (const Core& core : cores) {
    if (!core.note.empty()) notes.push_back(text(core.note));
  }
  return json_of({{"hwid", text(options.hardware)},
                  {"M", integer(work.m)},
                  {"K", integer(work.k)},
                  {"N", integer(work.n)},
                  {"m", integer(options.block_m)},
                  {"k", integer(options.block_k)},
                  {"n", integer(options.block_n)},
                  {"rows", integer(work.rows)},
                  {"cols", integer(work.columns)},
                  {"input_path", text(options.trace())},
                  {"output_dir", text(options.folder())},
                  {"warmup", integer(work.warmup)},
                  {"iterations", integer(work.iterations)},
                  {"clock_GHz", real(kClockGhz)},
                  {"notes", list(std::move(notes))},
                  {"details_md", text_or_none(has_details ? options.folder() + "/details.md" : "")}});
}

// `cores`: of the files written for them, nullptr for a file that holds something else.
std::string aggregate_json(const Options& options, const std::vector<const Core*>& cores) {
  if (cores.empty()) return json_of({{"note", text("No cores to aggregate.")}});
  const std::vector<SystemIteration> common = common_iterations(options, cores);
  if (common.empty()) return json_of({{"note", text("No common perf iterations across all cores.")}});
  const double runtime = mean(common, [](const SystemIteration& i) { return static_cast<double>(i.runtime); });
  const double gmacs = mean(common, [](const SystemIteration& i) { return i.gmacs; });
  return json_of({{"iterations_considered", list_of(common, [](const SystemIteration& i) { return integer(i.index); })},
                  {"count", integer(static_cast<std::int64_t>(common.size()))},
                  {"average", dict({{"runtime_cycles", real(runtime)}, {"gmacs_per_second", real(gmacs)}})},
                  {"best", system_value(*std::ranges::max_element(common, fewer_gmacs))},
                  {"worst", system_value(*std::ranges::min_element(common, fewer_gmacs))},
                  {"per_iteration", list_of(common, system_value)},
                  {"note", text("Only iterations present on all cores are considered.")}});
}

constexpr double kStallFactor = 20.0;
constexpr double kDuplicateGap = 0.25;
constexpr double kShortest = 1.0 / 3.0, kLongest = 3.0;

Cycles truncated(double number) { return static_cast<Cycles>(std::trunc(number)); }

// Of at least one: the middle one, an int, or half the sum of the middle two, a float.
python::Value median(const std::vector<Span>& spans) {
  std::vector<Cycles> durations;
  for (const Span& span : spans) durations.push_back(span.duration());
  std::ranges::sort(durations);
  const std::size_t middle = durations.size() / 2;
  if (durations.size() % 2 == 1) return python::integer(durations[middle]);
  return python::real(static_cast<double>(durations[middle - 1] + durations[middle]) / 2);
}

std::vector<Cycles> without_duplicates(const std::vector<Cycles>& times, Cycles gap) {
  std::vector<Cycles> kept;
  for (const Cycles time : times) {
    if (kept.empty() || (time > kept.back() && time - kept.back() >= gap)) kept.push_back(time);
  }
  return kept;
}

// A start at the end of the pair before is lost.
std::vector<Span> pair_kernels(const std::vector<Cycles>& starts, const std::vector<Cycles>& ends) {
  std::vector<Span> pairs;
  Cycles last_end = -1;
  auto end = ends.begin();
  for (const Cycles start : starts) {
    if (start <= last_end) continue;
    end = std::find_if(end, ends.end(), [start](Cycles time) { return time > start; });
    if (end == ends.end()) break;
    last_end = *end++;
    pairs.push_back({start, last_end});
  }
  return pairs;
}

// Pairs each begin with the first end behind it that no earlier begin took. Both sorted. One lost end shifts all pairs
// that follow.
std::vector<Span> first_fit(const std::vector<Cycles>& begins, const std::vector<Cycles>& ends) {
  std::vector<Span> spans;
  auto begin = begins.begin();
  for (const Cycles end : ends) {
    if (begin == begins.end()) break;
    if (end > *begin) spans.push_back({*begin++, end});
  }
  return spans;
}

std::vector<Span> find_kernels(const ProcessEvents& events) {
  const std::vector<Span> rough = first_fit(events.starts, events.ends);
  const Cycles usual = rough.empty() ? 1 : std::max<Cycles>(1, truncated(median(rough).number));
  const Cycles gap = std::max<Cycles>(1, truncated(kDuplicateGap * static_cast<double>(usual)));
  std::vector<Span> pairs = pair_kernels(without_duplicates(events.starts, gap), without_duplicates(events.ends, gap));
  if (pairs.empty()) return pairs;
  const double middle = median(pairs).number;
  const Cycles low = std::max<Cycles>(1, truncated(kShortest * middle));
  const Cycles high = std::max(low + 1, truncated(kLongest * middle));
  std::erase_if(pairs, [&](const Span& pair) { return pair.duration() < low || pair.duration() > high; });
  return pairs;
}

std::vector<Cycles> find_boundaries(const ProcessEvents& events, double usual) {
  std::vector<Cycles> boundaries;
  for (const Span& stall : first_fit(events.stall_begins, events.stall_ends)) {
    if (static_cast<double>(stall.duration()) >= kStallFactor * usual) boundaries.push_back(stall.end);
  }
  boundaries.erase(std::unique(boundaries.begin(), boundaries.end()), boundaries.end());
  return boundaries;
}

Iteration summary(const std::vector<Span>& kernels, double macs_of_core) {
  Iteration out;
  if (kernels.empty()) return out;
  out.kernels = static_cast<std::int64_t>(kernels.size());
  Cycles sum = 0;
  out.shortest = out.longest = kernels.front().duration();
  for (const Span& kernel : kernels) {
    sum += kernel.duration();
    out.shortest = std::min(out.shortest, kernel.duration());
    out.longest = std::max(out.longest, kernel.duration());
  }
  out.average = static_cast<double>(sum) / static_cast<double>(out.kernels);
  out.span = {kernels.front().start, kernels.back().end};
  if (out.span.duration() > 0) out.gmacs = macs_of_core * kClockGhz / static_cast<double>(out.span.duration());
  return out;
}

// A boundary closes the iteration before a kernel that starts behind it, also one without kernels.
std::vector<Iteration> split(const std::vector<Span>& kernels, const std::vector<Cycles>& boundaries,
                             double core_macs) {
  std::vector<Iteration> iterations;
  std::vector<Span> open;
  auto boundary = boundaries.begin();
  for (const Span& kernel : kernels) {
    for (; boundary != boundaries.end() && kernel.start > *boundary; ++boundary) {
      iterations.push_back(summary(open, core_macs));
      open.clear();
    }
    open.push_back(kernel);
  }
  iterations.push_back(summary(open, core_macs));
  return iterations;
}

std::string mismatch(std::int64_t detected, std::int64_t expected) {
  if (detected == expected) return {};
  const std::string begin = fmt::format("Detected {} iterations but expected {}. ", detected, expected);
  if (detected < expected) return begin + "Proceeding with available iterations.";
  return begin + fmt::format("Truncating to first {} iterations for phase labeling.", expected);
}

void label(Core& core, const Work& work) {
  const auto detected = static_cast<std::int64_t>(core.iterations.size());
  core.note = mismatch(detected, core.expected);
  core.first_perf = std::min(work.warmup, detected);
  core.behind_perf = std::min(core.first_perf + std::min(work.iterations, detected), detected);
  for (std::int64_t i = 0; i < detected; ++i) {
    Phase& phase = core.iterations[static_cast<std::size_t>(i)].phase;
    phase = i < core.first_perf ? Phase::kWarmup : i < core.behind_perf ? Phase::kPerf : Phase::kExtra;
  }
}

Core core_of(const ProcessEvents& events, const Work& work) {
  Core core;
  core.pid = events.pid;
  core.expected = work.warmup + work.iterations;
  constexpr std::string_view kFor = " for ";
  const std::size_t last = events.name.rfind(kFor);
  core.tile = last == std::string::npos ? events.name : events.name.substr(last + kFor.size());
  const std::vector<Span> kernels = find_kernels(events);
  core.has_kernels = !kernels.empty();
  if (!core.has_kernels) {
    core.note = "No valid kernel pairs detected after robust filtering.";
    return core;
  }
  core.median = median(kernels);
  const std::vector<Cycles> boundaries = find_boundaries(events, core.median.number);
  core.boundaries = static_cast<std::int64_t>(boundaries.size());
  const double cores = static_cast<double>(std::max<std::int64_t>(1, work.rows * work.columns));
  core.iterations = split(kernels, boundaries, macs(work) / cores);
  label(core, work);
  return core;
}

// The processes whose name holds "core_trace".
std::vector<Core> find_cores(const std::vector<ProcessEvents>& processes, const Work& work) {
  std::vector<Core> cores;
  for (const ProcessEvents& process : processes) {
    if (process.name.find("core_trace") != std::string::npos) cores.push_back(core_of(process, work));
  }
  return cores;
}

constexpr double kTimeLimit = 1e18;  // three times a difference still fits

// int(ts)
Cycles cycles_of(const Value* time) {
  if (time != nullptr) {
    const bool truncates = time->kind == Kind::kFloat || time->kind == Kind::kBool;
    if (truncates && std::abs(time->number) < kTimeLimit) return static_cast<Cycles>(time->number);
    const auto value = parse_int64(trim_space(time->text));
    if (value && std::abs(static_cast<double>(*value)) < kTimeLimit) return *value;
  }
  throw Error(ErrorCode::kInput, "its ts is no number of cycles below 1e18");
}

const Value& member(const Value& dict, std::string_view key) {
  static const Value kNone;
  const Value* found = dict.find(key);
  return found == nullptr ? kNone : *found;
}

struct TimesOf {
  std::string_view event, phase;
  std::vector<Cycles> ProcessEvents::*times;
};
constexpr TimesOf kTimes[] = {{"INSTR_EVENT_0", "B", &ProcessEvents::starts},
                              {"INSTR_EVENT_1", "E", &ProcessEvents::ends},
                              {"LOCK_STALL", "B", &ProcessEvents::stall_begins},
                              {"LOCK_STALL", "E", &ProcessEvents::stall_ends}};

std::string process_name(const Value& event) {
  const Value* args = event.find("args");
  if (args != nullptr && args->kind != Kind::kDict) throw Error(ErrorCode::kInput, "its args are no JSON object");
  const Value& name = member(member(event, "args"), "name");
  if (name.kind != Kind::kText && name.is_true()) throw Error(ErrorCode::kInput, "the name of a process is no text");
  return name.text;
}

// The processes with a name or an event of these kinds, in the order in which they first had one. Throws
// Error{kInput}: no list of such events, or a time beyond 1e18.
std::vector<ProcessEvents> read_trace_events(const std::string& file) {
  std::vector<ProcessEvents> processes;
  std::unordered_map<std::string, std::size_t> positions;  // by key of their pid
  const auto process_of = [&](const Value& event) -> ProcessEvents& {
    const Value& pid = member(event, "pid");
    if (pid.kind == Kind::kList || pid.kind == Kind::kDict)
      throw Error(ErrorCode::kInput, "its pid is no number or text");
    const auto [entry, is_new] = positions.try_emplace(key_of(pid), processes.size());
    if (is_new) processes.emplace_back().pid = pid;
    return processes[entry->second];
  };
  const auto add = [&](const Value& event) {
    const Value& name = member(event, "name");
    const Value& phase = member(event, "ph");
    if (name.is_text("process_name") && phase.is_text("M")) {
      std::string own = process_name(event);
      process_of(event).name = std::move(own);
    }
    for (const TimesOf& of : kTimes) {
      if (!name.is_text(of.event) || !phase.is_text(of.phase)) continue;
      ProcessEvents& process = process_of(event);
      (process.*of.times).push_back(cycles_of(event.find("ts")));
    }
  };
  const std::string name = printable_path(file);
  require_list(python::read_json_file(file, python::numbered_events(name, add)), name);
  for (ProcessEvents& process : processes) {
    for (const TimesOf& of : kTimes) std::ranges::sort(process.*of.times);
  }
  return processes;
}

}  // namespace

std::string Options::folder() const {
  return fmt::format("outputs/{}-gemm_{}_{}_{}-{}_row_{}_col/traces", hardware, work.m, work.k, work.n, work.rows,
                     work.columns);
}

std::string Options::trace() const {
  return fmt::format("{}/trace_mm_{}_{}_{}.json", folder(), work.m, work.k, work.n);
}

std::vector<OutputText> postprocess(const Options& options) {
  const std::vector<Core> cores = find_cores(read_trace_events(options.trace()), options.work);
  const std::string folder = options.folder() + "/";
  std::vector<OutputText> out;
  std::map<std::string, const Core*> files;  // what each holds in the end
  for (const Core& core : cores) {
    // The program would follow a name out of the folder: that a trace may say where to write helps nobody.
    if (core.tile.find_first_of(std::string_view("/\0", 2)) != std::string::npos) {
      throw Error(ErrorCode::kInput, fmt::format("{}: a tile is named '{}', which cannot name a file",
                                                 printable_path(options.trace()), printable_path(core.tile)));
    }
    out.push_back({folder + core.tile + ".json", core_json(core)});
    files[out.back().path] = &core;
  }
  if (std::string details = details_markdown(options, cores); !details.empty()) {
    out.push_back({folder + "details.md", std::move(details)});
  }
  const bool has_details = out.size() > cores.size();
  out.push_back({folder + "index.json", index_json(options, cores, has_details)});
  files[out.back().path] = nullptr;
  // The program reads the files of its cores back.
  std::vector<const Core*> read_back;
  for (std::size_t i = 0; i < cores.size(); ++i) read_back.push_back(files.at(out[i].path));
  out.push_back({folder + "aggregate_perf.json", aggregate_json(options, read_back)});
  return out;
}

}  // namespace tracedb::stream
