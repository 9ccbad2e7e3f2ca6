#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "base/text/amounts.h"
#include "base/text/characters.h"
#include "base/time_cover.h"
#include "base/unknown.h"
#include "compare/steps/step_metrics.h"
#include "present/words.h"

namespace tracedb {
namespace {

constexpr double kTimes = 1.2;  // from here on, a ratio says more than a percentage

struct TimeRange {
  double mean = 0, least = 0, most = 0;
};

// Of steps, of which one has a time on each device: the mean of those.
TimeRange range_of(const ComparedTrace& trace, const GroupSide& side, const std::vector<std::uint32_t>& device_steps) {
  TimeRange out{0, static_cast<double>(INT64_MAX), 0};
  const std::vector<std::int64_t> steps = step_sample(
      trace.work, device_steps, side.by_period ? StepMetric::kPeriod : StepMetric::kSpan, trace.periods.within_kind);
  for (const std::int64_t ns : steps) {
    const auto time = static_cast<double>(ns);
    out.mean += time / static_cast<double>(steps.size());
    out.least = std::min(out.least, time);
    out.most = std::max(out.most, time);
  }
  return out;
}

// "480 ms to 520 ms"
Sentence range_words(double least, double most) {
  const bool same = brief_time(least) == brief_time(most);
  return say("", "{least:time}{to}",
             {{"least", least}, {"to", same ? Sentence{} : say("", " to {most:time}", {{"most", most}})}});
}

double mean_of(const ComparedTrace& trace, const std::vector<std::uint32_t>& steps, std::int64_t DeviceStep::*part) {
  return mean_over(steps, [&](std::uint32_t i) { return trace.work.steps[i].*part; });
}

double idle_of(const ComparedTrace& trace, const std::vector<std::uint32_t>& steps) {
  return mean_of(trace, steps, &DeviceStep::idle) + mean_of(trace, steps, &DeviceStep::between);
}

// ---- names of the sides

constexpr std::size_t kShortest = 2, kLongest = 24;

std::vector<std::string> cut(std::string_view text, std::string_view separators) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) words.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// The first word of a device's name that looks like a model (letters, then digits) and that the other has not.
std::optional<std::string> model_of(std::string_view devices, std::string_view other) {
  const std::vector<std::string> others = cut(other, " -");
  for (const std::string& word : cut(devices, " -")) {
    const bool model = is_ascii_letter(word.front()) && std::ranges::any_of(word, is_ascii_digit);
    if (model && std::ranges::find(others, word) == others.end()) return word;
  }
  return std::nullopt;
}

// Without the endings of trace files.
std::string_view stem(std::string_view label) {
  constexpr std::array<std::string_view, 7> kEndings = {".tracedb", ".gz", ".zst", ".json", ".trace", ".pt", ".chrome"};
  for (bool cut_one = true; cut_one;) {
    cut_one = false;
    for (const std::string_view ending : kEndings) {
      if (!label.ends_with(ending) || label.size() == ending.size()) continue;
      label.remove_suffix(ending.size());
      cut_one = true;
    }
  }
  return label;
}

// Tells no two traces apart, and begins no sentence.
bool is_vendor(std::string_view word) {
  constexpr std::array<std::string_view, 6> kVendors = {"unknown", "nvidia", "amd", "intel", "ascend", "meta"};
  return std::ranges::find(kVendors, word) != kVendors.end();
}

constexpr std::string_view kSeparators = "_-. /";

// What is left of labels without the words that both begin and end with.
std::optional<SideNames> different_parts(std::string_view a, std::string_view b) {
  a = stem(a);
  b = stem(b);
  const auto is_separator = [](char c) { return kSeparators.find(c) != std::string_view::npos; };
  std::size_t begin = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) {
    if (!is_separator(a[i])) continue;
    constexpr std::string_view kNegations[] = {"no", "non", "not", "without"};  // their words mean the opposite alone
    if (std::ranges::find(kNegations, a.substr(begin, i - begin)) != std::end(kNegations)) break;
    begin = i + 1;
  }
  a.remove_prefix(begin);
  b.remove_prefix(begin);
  std::size_t end = 0;
  for (std::size_t i = 1; i <= std::min(a.size(), b.size()) && a[a.size() - i] == b[b.size() - i]; ++i) {
    if (is_separator(a[a.size() - i])) end = i;
  }
  a.remove_suffix(end);
  b.remove_suffix(end);
  if (a == b || std::min(a.size(), b.size()) < kShortest || std::max(a.size(), b.size()) > kLongest) return {};
  if (is_vendor(a) || is_vendor(b)) return {};
  return SideNames{std::string(a), std::string(b)};
}

}  // namespace

Sentence before_work(const HostStep& host) {
  if (host.before == 0) return {};
  return say("", ", and its first work on the device starts after {time:time}", {{"time", host.before}});
}

Sentence behind_work(const HostStep& host) {
  if (host.behind == 0) return {};
  return say("", ", of which {time:time} are behind its last work on the device", {{"time", host.behind}});
}

Sentence host_steps(const SideNames& names, const GroupComparison& group, const std::string& unit) {
  const HostStep &a = *group.baseline_host, &b = *group.candidate_host;
  return say("compare.host_step",
             "But on the host {baseline} takes {baseline_time:time}{unit}{baseline_behind}{baseline_before}; "
             "{candidate} takes {candidate_time:time}{candidate_behind}{candidate_before}: {difference}.",
             {{"baseline", names.baseline},
              {"baseline_time", a.time},
              {"unit", unit},
              {"baseline_behind", behind_work(a)},
              {"baseline_before", before_work(a)},
              {"candidate", names.candidate},
              {"candidate_time", b.time},
              {"candidate_behind", behind_work(b)},
              {"candidate_before", before_work(b)},
              {"difference", difference(a.time, b.time, false)}});
}

Sentence left_out_words(const ComparedTrace& trace, const GroupSide& side, bool without_period) {
  std::vector<Sentence> parts;
  if (side.warm_up > 0) {
    parts.push_back(
        say("warm_up",
            side.warm_up > 1 ? "{n:# warm-up step} of up to {longest:time}" : "{n:# warm-up step} of {longest:time}",
            {{"n", side.warm_up}, {"longest", static_cast<double>(side.warm_up_time)}}));
  }
  if (!side.rare.empty()) {
    const TimeRange rare = range_of(trace, side, side.rare);
    parts.push_back(say("rare", "{n:# rare step} of {times}",
                        {{"n", count_steps(trace, side.rare)}, {"times", range_words(rare.least, rare.most)}}));
  }
  const std::size_t cut = count_steps(trace, side.cut);
  if (cut > 0) parts.push_back(say("cut", "{n:# step|steps} cut by the recording", {{"n", cut}}));
  const std::size_t told = cut + side.warm_up + count_steps(trace, side.rare) + count_steps(trace, side.device_steps);
  if (const std::size_t all = count_steps(trace, side.matched); without_period && all > told) {
    const auto before =
        sample_of_steps(trace.work, side.matched, [&](std::uint32_t i) { return trace.periods.transitions[i].period; });
    parts.push_back(say("without_period", "{n:# step|steps} without a period{before}",
                        {{"n", all - told},
                         {"before", before.empty() ? Sentence{}
                                                   : say("before", " ({n} take {time:time} until another kind begins)",
                                                         {{"n", before.size()}, {"time", draw_means(before).mean}})}}));
  }
  return joined(parts, ", ");
}

Sentence kinds_words(const ComparedTrace& trace, const GroupSide& side, const std::optional<HostFrame>& host) {
  const std::vector<std::uint32_t> usual = side.usual();
  const std::vector<std::int64_t> numbers = device_numbers(trace.events);
  const auto devices_of = [&](const std::vector<std::uint32_t>& steps) {
    std::set<std::int64_t> out;
    for (const std::uint32_t i : steps) out.insert(numbers[trace.work.steps[i].device]);
    return out;
  };
  const std::set<std::int64_t> on = devices_of(side.slow);
  const bool apart = std::ranges::none_of(devices_of(usual), [&](std::int64_t device) { return on.contains(device); });
  const TimeRange fast = range_of(trace, side, usual), slow = range_of(trace, side, side.slow);
  const bool stalls = 2 * (idle_of(trace, side.slow) - idle_of(trace, usual)) >= slow.mean - fast.mean;
  const double from = stalls ? fast.mean : 0;
  const Sentence where = stalls && host
                             ? say("host", fmt::format(": {} in {{frame}} for {{share:.0f%}} of it", waiting_word()),
                                   {{"frame", host_words(*host)}, {"share", host->share}})
                             : Sentence{};
  return say(
      "kinds", "{fast:count} of {steps:count} steps take {fast_times}, {slow:count} {what} {slow_times}{devices}{host}",
      {{"fast", count_steps(trace, usual)},
       {"steps", count_steps(trace, side.device_steps)},
       {"fast_times", range_words(fast.least, fast.most)},
       {"slow", count_steps(trace, side.slow)},
       {"what", stalls ? "stall for" : "take"},
       {"slow_times", range_words(slow.least - from, slow.most - from)},
       {"devices", apart ? fmt::format(", all on device{} {}", on.size() > 1 ? "s" : "", fmt::join(on, ", ")) : ""},
       {"host", where}});
}

Sentence difference(double baseline, double candidate, bool of_periods) {
  const double ratio = std::max(baseline, candidate) / std::min(baseline, candidate);
  const bool faster = candidate < baseline;
  if (candidate == baseline) return {"as long", "as_long"};
  if (ratio >= kTimes && (of_periods || !faster)) {
    return say("ratio", ratio < 10 ? "{ratio:.2f} times {how}" : "{ratio:.0f} times {how}",
               {{"ratio", ratio}, {"how", faster ? "the throughput" : "as long"}});
  }
  return say("share", "{share:.1f%} {how}",
             {{"share", std::abs(candidate / baseline - 1)}, {"how", faster ? "less" : "longer"}});
}

Sentence no_usual_step(const WordsInput& words, const GroupReasons& group) {
  std::vector<Sentence> sides;
  const std::string_view a = bar_of(group.group->group.baseline), b = bar_of(group.group->group.candidate);
  const bool alike = a == b && group.group->group.baseline.slow.empty();
  if (alike && !a.empty()) return say("", "{0}", {{"0", Sentence{std::string(a), "overlap"}}});
  const auto add = [&](const std::string& name, const ComparedTrace& trace, const GroupSide& side,
                       const std::optional<HostFrame>& host) {
    if (bar_of(side).empty()) return;
    sides.push_back(say("", "{side}: {why}",
                        {{"side", name},
                         {"why", side.slow.empty() ? Sentence{std::string(bar_of(side)), "overlap"}
                                                   : kinds_words(trace, side, host)}}));
  };
  add(words.names.baseline, words.in.baseline, group.group->group.baseline, group.slow_hosts[0]);
  add(words.names.candidate, words.in.candidate, group.group->group.candidate, group.slow_hosts[1]);
  return joined(sides, "; ");
}

Sentence few_steps(const GroupReasons& group, const Change& change) {
  const std::size_t fewest = std::min(change.baseline_steps, change.candidate_steps);
  if (group.group->group.whole_trace || fewest >= kLeastSteps) return {};
  if (std::max(change.baseline_steps, change.candidate_steps) == 1) return say("one_step", " (one step each)");
  return say("steps", " ({baseline} and {candidate} steps: too few to be sure)",
             {{"baseline", change.baseline_steps}, {"candidate", change.candidate_steps}});
}

Sentence share_text(const GroupReasons& group, const Reason& reason) {
  if (!reason.share) return {};
  const auto total = static_cast<double>(group.total.change);
  if (2 * std::abs(total) >= std::max(group.slower, -group.faster)) {
    return say("of_change", " ({share:.0f%})", {{"share", *reason.share}});
  }
  const bool slower = reason.change.change > 0;
  const double all = slower ? group.slower : group.faster;
  return say("of_direction", " ({share:.0f%} of what is {how})",
             {{"share", static_cast<double>(reason.change.change) / all}, {"how", slower ? "slower" : "faster"}});
}

Sentence load_words(const StepGroup& group, const Change& change) {
  if (!group.comparable() || !change.is_by_load()) return {};
  return say("at_load", ", at {share:.1f%} {how} {of} a step",
             {{"share", std::abs(change.load.share())},
              {"how", change.load.share() > 0 ? "more" : "fewer"},
              {"of", load_of(group)}});
}

Sentence transition_words(const GroupReasons& group) {
  std::vector<Sentence> parts;
  for (const TransitionChange& one : group.group->transitions) {
    const bool is_told = std::ranges::find(group.reasons, one.to, &Reason::to) != group.reasons.end();
    if (is_told || one.change.verdict == Verdict::kSame || one.change.verdict == Verdict::kInconclusive) continue;
    parts.push_back(change_text(one.change, period_measure(one.to)));
  }
  if (parts.empty()) return {};
  return say("compare.transition", "Of steps that another kind follows: {changes}", {{"changes", joined(parts, "; ")}});
}

Sentence change_text(const Change& change, const std::string& measure) {
  const double a = change.baseline.mean;
  if (a <= 0 || change.candidate_steps == 0) return say("unknown", "{measure} unknown", {{"measure", measure}});
  const Sentence why =
      !change.judged()
          ? say("", " ({reason})", {{"reason", change.reason}})
          : say("interval",
                " (95 %: {low:+.1fp} .. {high:+.1f%}; means of {baseline_steps} and {candidate_steps} steps)",
                {{"low", change.interval.low / a},
                 {"high", change.interval.high / a},
                 {"baseline_steps", change.baseline_steps},
                 {"candidate_steps", change.candidate_steps}});
  return say("change", "{measure} {change:+.1f%}: {verdict}{why}",
             {{"measure", measure},
              {"change", change.difference() / a},
              {"verdict", to_string(change.verdict)},
              {"why", why}});
}

HostQuestion question_of(const ComparedTrace& trace, const std::vector<std::uint32_t>& long_steps) {
  const bool between = mean_of(trace, long_steps, &DeviceStep::between) > mean_of(trace, long_steps, &DeviceStep::idle);
  return {long_steps, between, std::nullopt};
}

double outside_steps(const ComparedTrace& trace) {
  const DenseDevices devices(trace.events.device_of_stream);
  std::vector<std::vector<Extent>> windows(devices.count);
  for (const DeviceStep& step : trace.work.steps) {
    Extent window{step.first, saturating_add(step.first, step.span)};
    const StepFacts* mark = step.step == 0 ? nullptr : &trace.steps.steps[step.step - 1];
    if (mark != nullptr && mark->ts != kUnknownValue) {
      window.begin = std::min(window.begin, mark->ts);
      window.end = std::max(window.end, saturating_add(mark->ts, duration_or_zero(mark->dur)));
    }
    windows[step.device].push_back(window);
  }
  const std::vector<TimeCover> covers(windows.begin(), windows.end());
  const EventColumns& kernels = trace.events.kernels;
  const auto ts = kernels.int64s("ts"), dur = kernels.int64s("dur");
  const auto stream = kernels.ids("stream_id"), launch = kernels.ids("launch_id");
  double all = 0, outside = 0;
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const TimeCover& cover = covers[devices.of(stream[i])];
    const auto time = static_cast<double>(cover.covered(ts[i], saturating_add(ts[i], duration_or_zero(dur[i]))));
    all += time;
    if (launch[i] == 0 && trace.steps.of_kernel[i] == 0) outside += time;
  }
  return all > 0 ? outside / all : 0;
}

SideNames side_names(std::string_view baseline_devices, std::string_view candidate_devices,
                     std::string_view baseline_label, std::string_view candidate_label) {
  const auto a = model_of(baseline_devices, candidate_devices);
  const auto b = model_of(candidate_devices, baseline_devices);
  if (a && b) return {*a, *b};
  if (auto names = different_parts(baseline_label, candidate_label)) return *std::move(names);
  return {"the baseline", "the candidate"};
}

}  // namespace tracedb
