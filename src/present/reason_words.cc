#include "present/reason_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/cell_text.h"
#include "report/escape.h"
#include "trace/display_name.h"

namespace tracedb {
namespace {

constexpr std::size_t kLongestName = 40;
constexpr double kManyCalls = 100;  // from here on, fractions of a count say nothing
constexpr double kMostly = 0.95;    // of a change: all but a rest that needs no words

std::string count_text(double n) {
  const double nearest = std::round(n);
  if (std::abs(n - nearest) < 0.05 || n >= kManyCalls)
    return human_text(Cell(static_cast<std::int64_t>(nearest)), Unit::kCount, TimeUnit::kAuto);
  return fmt::format("{:.1f}", n);
}

std::string many(std::int64_t n, std::string_view what) {
  return fmt::format("{} {}{}", human_text(Cell(n), Unit::kCount, TimeUnit::kAuto), what, n == 1 ? "" : "s");
}

double ns(std::int64_t value) { return static_cast<double>(value); }

std::string from_to(const Reason& reason) {
  return fmt::format("{} -> {}", brief_time(reason.change.baseline), brief_time(reason.change.candidate));
}

// "attention (softmax)": the role of the kernels, unless their class says it too (attention_decode), and the class.
std::string what_runs(const Reason& reason) {
  const std::string op = op_words(reason.op);
  return reason.op.starts_with(reason.role) ? op : fmt::format("{} ({})", reason.role, op);
}

// "decode step".
std::string next_step(const Reason& reason) {
  return reason.to == to_string(StepKind::kUnknown) ? "step of another kind" : reason.to + " step";
}

std::string at_place(const std::string& place) { return place.empty() ? "" : " in " + place; }

// " --phase decode"; "" where a trace has no steps.
std::string phase_option(const GroupComparison& group, bool of_candidate) {
  if (group.group.whole_trace) return "";
  return fmt::format(" --phase {}", to_string((of_candidate ? group.group.candidate : group.group.baseline).kind));
}

std::string interval_text(const Reason& reason) {
  if (!reason.interval) return "";
  return fmt::format("; 95 %: {} .. {}", signed_time(reason.interval->low), signed_time(reason.interval->high));
}

// One sentence about each kind of reason.
class Sentence {
 public:
  Sentence(const WordsInput& words, const GroupReasons& group, const Reason& reason)
      : words_(words), group_(*group.group), reason_(reason), change_(reason.change) {}

  std::string take() {
    switch (reason_.cause) {
      case Cause::kBetweenSteps:
        return between();
      case Cause::kRecording:
        return fmt::format("between steps: {}; no change of the program, since {}", from_to(reason_),
                           words_.in.comparison.recording_difference);
      case Cause::kTransition:
        return fmt::format("before the next {}, beside the step itself: {}{}{}{}", next_step(reason_), from_to(reason_),
                           times(), interval_text(reason_), hosts());
      case Cause::kIdle:
        return fmt::format("idle within the step: {}{}{}", from_to(reason_), interval_text(reason_), hosts());
      case Cause::kCommunication:
        return fmt::format("exposed communication{}: {}{}{}", at(), from_to(reason_),
                           kernels("collective", "collectives"), interval_text(reason_));
      case Cause::kCopies:
        return fmt::format("exposed copies{}: {}{}{}", at(), from_to(reason_), kernels("copy", "copies"),
                           interval_text(reason_));
      case Cause::kOperation:
        return operation();
      case Cause::kFusion:
        return fusion();
      case Cause::kConcurrency:
        return fmt::format("kernels that run at once: they save {} in {}, {} in {}", brief_time(-change_.baseline),
                           words_.names.baseline, brief_time(-change_.candidate), words_.names.candidate);
      case Cause::kClocks:
        return clocks();
      case Cause::kLoad:
        return load();
    }
    return "";
  }

 private:
  [[nodiscard]] std::string at() const { return at_place(place_text(words_, reason_)); }

  // Where nothing was recorded, nothing is said.
  [[nodiscard]] std::string hosts() const {
    if (!reason_.host) return "";
    return fmt::format("; host of {} in {} for {:.0f} % of it",
                       change_.change > 0 ? words_.names.candidate : words_.names.baseline, host_words(*reason_.host),
                       100 * reason_.host->share);
  }

  [[nodiscard]] static std::string waits(const HostWaits& waits, const std::string& name) {
    if (!waits.bound()) return "";
    return fmt::format("; {} waits for its host in {}: {}", name, many(waits.gaps, "gap"),
                       waits.calls > 0
                           ? many(waits.calls, "recorded call") + (waits.calls == 1 ? " adds to that" : " add to that")
                           : "no call is recorded there");
  }

  [[nodiscard]] std::string between() const {
    return fmt::format("between steps: {}{}{}{}{}", from_to(reason_), interval_text(reason_), hosts(),
                       waits(group_.baseline.waits, words_.names.baseline),
                       waits(group_.candidate.waits, words_.names.candidate));
  }

  // Of transitions: how many the means are of.
  [[nodiscard]] std::string times() const {
    return fmt::format(" (mean of {} and {})", count_text(reason_.baseline_n),
                       many(std::llround(reason_.candidate_n), "gap"));
  }

  // " (48 -> 96 kernels, +0.43 ms of it by count)".
  [[nodiscard]] std::string kernels(std::string_view one, std::string_view several) const {
    const std::string a = count_text(reason_.baseline_n), b = count_text(reason_.candidate_n);
    const std::string_view what = b == "1" ? one : several;
    return a == b ? fmt::format(" ({} {})", a, what) : fmt::format(" ({} -> {} {}{})", a, b, what, by_count());
  }

  [[nodiscard]] std::string by_count() const {
    const double count = ns(change_.count_effect), all = ns(change_.change);
    if (count == 0 || count / all < 1 - kMostly) return "";
    return count / all > kMostly ? ", by count alone" : fmt::format(", {} of it by count", signed_time(count));
  }

  [[nodiscard]] std::string operation() const {
    std::string text = what_runs(reason_);
    if (change_.baseline <= 0 || change_.candidate <= 0) {
      const bool gone = change_.candidate <= 0;
      return fmt::format("{}{} {}: {}{}", text, at(), gone ? "is gone" : "is new", from_to(reason_),
                         kernels("kernel", "kernels"));
    }
    const Place& place = reason_.place;
    text += fmt::format("{} {}", at(), change_.change > 0 ? "slower" : "faster");
    if (place.kind == PlaceKind::kLayers && place.layers.empty()) {
      text += fmt::format(" in {} of {} layers", place.moved, place.compared);
    }
    text += fmt::format(": {}{}{}", from_to(reason_), kernels("kernel", "kernels"), interval_text(reason_));
    return text + roles() + pair();
  }

  // "; gate_up +1.17 ms, down +701 us": where one role does not say it all.
  [[nodiscard]] std::string roles() const {
    if (!reason_.role.empty()) return "";
    std::string text;
    for (const RoleChange& role : reason_.roles)
      text += fmt::format("{}{} {}", text.empty() ? "; " : ", ", to_string(role.role), signed_time(role.change));
    return text;
  }

  [[nodiscard]] std::string pair() const {
    if (!reason_.pair) return "";
    const ChangedPair& own = *reason_.pair;
    if (own.baseline == own.candidate) return fmt::format("; same kernel: {}", brief_name(own.baseline, words_.in));
    const std::vector<KernelNameEntry>& entries = words_.in.kernel_names.entries();
    const std::vector<std::string> names =
        display_names(std::vector{entries[own.baseline].name, entries[own.candidate].name});
    return fmt::format("; {} -> {}", shorten_middle(names[0], kLongestName), shorten_middle(names[1], kLongestName));
  }

  [[nodiscard]] std::string fusion() const {
    const bool by_candidate = reason_.candidate_n < reason_.baseline_n;
    const std::string& fuses = by_candidate ? words_.names.candidate : words_.names.baseline;
    const std::string fused = count_text(std::min(reason_.baseline_n, reason_.candidate_n));
    const std::string parts = count_text(std::max(reason_.baseline_n, reason_.candidate_n));
    return fmt::format("fusion: {} does {} in {} instead of {} kernels{}: {}", fuses, op_words(reason_.op), fused,
                       parts, at(), from_to(reason_));
  }

  [[nodiscard]] std::string clocks() const {
    for (const ClockChange& clock : words_.in.comparison.same.clocks) {
      if (clock.group != group_.group.label) continue;
      return fmt::format(
          "clocks or power: {} of {} identical kernels take {:.3f} times as long (quartiles {:.3f} and "
          "{:.3f}); all kernels: {}",
          clock.holding, clock.kernels, clock.ratio, clock.low_quartile, clock.high_quartile, from_to(reason_));
    }
    return "";
  }

  [[nodiscard]] std::string load() const {
    return fmt::format(
        "other load: {}: what kernels take that changed as it did, {}; other causes cannot be told from it",
        load_change(), from_to(reason_));
  }

 public:
  [[nodiscard]] std::string load_change() const {
    const GroupSide& a = group_.group.baseline;
    const GroupSide& b = group_.group.candidate;
    const bool requests = a.kind == StepKind::kDecode;
    const auto mean = [](std::int64_t sum, const GroupSide& side) {
      return ns(sum) / static_cast<double>(side.device_steps.size());
    };
    return fmt::format("{} -> {} {} a step", count_text(mean(requests ? a.requests : a.tokens, a)),
                       count_text(mean(requests ? b.requests : b.tokens, b)), requests ? "requests" : "tokens");
  }

 private:
  const WordsInput& words_;
  const GroupComparison& group_;
  const Reason& reason_;
  const LedgerChange& change_;
};

}  // namespace

std::string host_words(const HostFrame& host) {
  constexpr std::size_t kLongestPlace = 60;
  const std::size_t slash = host.frame.rfind('/', host.frame.find('('));
  return fmt::format(
      "`{}`", shorten_middle(slash == std::string::npos ? host.frame : host.frame.substr(slash + 1), kLongestPlace));
}

std::string op_words(std::string_view op) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kWords = {
      {{"attention_prefill", "prefill attention"},
       {"attention_decode", "decode attention"},
       {"dense_gemm", "GEMM"},
       {"moe_gemm", "MoE GEMM"},
       {"moe_routing", "MoE routing"},
       {"moe_finalize", "MoE finalize"},
       {"kv_cache", "KV cache"},
       {"ssm", "SSM"},
       {"triton_fused", "compiled Triton"}}};
  std::string text;
  for (std::size_t begin = 0; begin <= op.size();) {
    const std::size_t end = std::min(op.find('+', begin), op.size());
    const std::string_view part = op.substr(begin, end - begin);
    const auto* found =
        std::find_if(kWords.begin(), kWords.end(), [&](const auto& words) { return words.first == part; });
    text += text.empty() ? "" : "+";
    text += found == kWords.end() ? part : found->second;
    begin = end + 1;
  }
  return text;
}

std::string brief_name(NameId name, const SectionInput& in) {
  return shorten_middle(display_name(in.kernel_names.entries()[name].name), kLongestName);
}

std::string place_text(const WordsInput& words, const Reason& reason) {
  if (reason.place.kind == PlaceKind::kStepHead) return "the head of the step";
  if (reason.place.kind == PlaceKind::kStepTail) return "the tail of the step";
  if (reason.place.layers.empty()) return "";
  return fmt::format("layer{} {}", reason.place.layers.size() > 1 ? "s" : "",
                     layers_label(reason.place.layers, words.in.baseline.layers.stacks));
}

std::string reason_text(const WordsInput& words, const GroupReasons& group, const Reason& reason) {
  return Sentence(words, group, reason).take();
}

// Why the device waits: " (host in `llama.py(374): forward`; part of it is the recording of python stacks: 1,357 calls
// a gap)". How large a part is not known: calls take time without being recorded, too.
std::string host_clause(const WordsInput& words, const GroupReasons& group, const Reason& reason, bool of_candidate) {
  const HostWaits& waits = of_candidate ? group.group->candidate.waits : group.group->baseline.waits;
  const std::optional<HostFrame>& host = reason.host;
  const Recording& recording = (of_candidate ? words.in.candidate : words.in.baseline).recorded.recording;
  std::string text;
  if (host) text = fmt::format("host in {}", host_words(*host));
  if (waits.bound() && waits.calls > 0) {
    text += fmt::format("{}part of it is the recording of {}: {} calls a gap", host ? "; " : "", to_string(recording),
                        count_text(waits.calls_per_gap()));
  }
  return text.empty() ? "" : fmt::format(" ({})", text);
}

// "idles 25.6 ms between steps (host in ...)"; what is next to nothing in the other trace is said as it is.
std::string between_clause(const WordsInput& words, const GroupReasons& group, const Reason& reason,
                           bool of_candidate) {
  const bool longer = (reason.change.change > 0) == of_candidate;
  const double own = of_candidate ? reason.change.candidate : reason.change.baseline;
  const double other = of_candidate ? reason.change.baseline : reason.change.candidate;
  const std::string host = longer ? host_clause(words, group, reason, of_candidate) : "";
  if (longer && other >= 0 && other < 0.05 * own) return fmt::format("idles {} between steps{}", brief_time(own), host);
  return fmt::format("takes {} {} between steps{}", brief_time(std::abs(ns(reason.change.change))),
                     longer ? "more" : "less", host);
}

std::string fusion_clause(const Reason& reason, bool of_candidate, const std::string& size, bool longer) {
  const double n = of_candidate ? reason.candidate_n : reason.baseline_n;
  const double others = of_candidate ? reason.baseline_n : reason.candidate_n;
  return fmt::format("its {} in {} instead of {} kernels is {} {}", op_words(reason.op), count_text(n),
                     count_text(others), size, longer ? "slower" : "faster");
}

std::string reason_clause(const WordsInput& words, const GroupReasons& group, const Reason& reason, bool of_candidate) {
  const bool longer = (reason.change.change > 0) == of_candidate;
  const std::string size = brief_time(std::abs(ns(reason.change.change)));
  const std::string_view more = longer ? "more" : "less";
  const std::string_view waits = longer ? "longer" : "less";
  const std::string at = at_place(place_text(words, reason));
  switch (reason.cause) {
    case Cause::kBetweenSteps:
      return between_clause(words, group, reason, of_candidate);
    case Cause::kRecording:
      return "";
    case Cause::kTransition:
      return fmt::format("idles {} {} before the next {}{}", size, waits, next_step(reason),
                         longer && reason.host ? fmt::format(" (host in {})", host_words(*reason.host)) : "");
    case Cause::kIdle:
      return fmt::format("idles {} {} within the step{}", size, waits,
                         longer && reason.host ? fmt::format(" (host in {})", host_words(*reason.host)) : "");
    case Cause::kCommunication:
      return fmt::format("waits {} {} for communication{}", size, waits, at);
    case Cause::kCopies:
      return fmt::format("waits {} {} for copies{}", size, waits, at);
    case Cause::kOperation:
      return fmt::format("its {} kernels{} are {} {}", what_runs(reason), at, size, longer ? "slower" : "faster");
    case Cause::kFusion:
      return fusion_clause(reason, of_candidate, size, longer);
    case Cause::kConcurrency:
      return fmt::format("runs {} kernels at once ({})", longer ? "fewer" : "more", size);
    case Cause::kClocks:
      return fmt::format("all its kernels take {} {}: clocks or power", size, more);
    case Cause::kLoad:
      return fmt::format("has another load ({}), under which its kernels take {} {}",
                         Sentence(words, group, reason).load_change(), size, more);
  }
  return "";
}

std::string next_command(const GroupReasons& group, const Reason& reason, const SectionInput& in,
                         const std::string& baseline, const std::string& candidate) {
  const bool of_candidate = reason.change.change > 0;  // the side that takes longer
  const std::string& side = of_candidate ? candidate : baseline;
  const std::string phase = phase_option(*group.group, of_candidate);
  const std::string both = phase_option(*group.group, group.group->group.baseline.kind == StepKind::kUnknown);
  const auto one = [&](std::string_view report) { return fmt::format("trace-query {} {}{}", report, side, phase); };
  const auto pair = [&](std::string_view section) {
    return fmt::format("trace-query compare {} {} --section {}{}", baseline, candidate, section, both);
  };
  switch (reason.cause) {
    case Cause::kBetweenSteps:
    case Cause::kRecording:
    case Cause::kTransition:
    case Cause::kIdle:
      return one("gaps");
    case Cause::kCommunication:
      return one("comms");
    case Cause::kCopies:
      return one("memcpys");
    case Cause::kOperation:
      return pair(reason.place.kind == PlaceKind::kLayers && !reason.place.layers.empty() ? "ledger --by layer,op"
                                                                                          : "kernels");
    case Cause::kFusion:
      return pair("fusion");
    case Cause::kConcurrency:
      return one("timeline");
    case Cause::kClocks:
      return pair("same-kernels");
    case Cause::kLoad:
      return pair(
          fmt::format("ledger --normalise {}", in.comparison.normalise == Normalise::kToken ? "step" : "token"));
  }
  return "";
}

}  // namespace tracedb
