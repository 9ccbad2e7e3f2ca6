#include "aie/stream/cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tracedb::stream {
namespace {

constexpr double kStallFactor = 20.0;
constexpr double kDuplicateGap = 0.25;
constexpr double kShortest = 1.0 / 3.0, kLongest = 3.0;

Cycles truncated(double number) { return static_cast<Cycles>(std::trunc(number)); }

// Of at least one: the middle one, an int, or half the sum of the middle two, a float.
python::Value median(const std::vector<Span>& spans) {
  std::vector<Cycles> durations;
  for (const Span& span : spans) durations.push_back(span.duration());
  std::sort(durations.begin(), durations.end());
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

}  // namespace

std::string_view to_text(Phase phase) {
  constexpr std::string_view kNames[] = {"warmup", "perf", "extra"};
  return kNames[static_cast<std::size_t>(phase)];
}

double macs(const Work& work) {
  return static_cast<double>(work.m) * static_cast<double>(work.k) * static_cast<double>(work.n);
}

std::vector<Core> find_cores(const std::vector<ProcessEvents>& processes, const Work& work) {
  std::vector<Core> cores;
  for (const ProcessEvents& process : processes) {
    if (process.name.find("core_trace") != std::string::npos) cores.push_back(core_of(process, work));
  }
  return cores;
}

}  // namespace tracedb::stream
