#include "present/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "present/cells.h"
#include "present/reason_words.h"
#include "present/side_names.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostLines = 60, kMostReasons = 8, kMostGroups = 3, kMostListed = 3;
constexpr double kLittle = 0.01;  // of the change: a rest of which nothing is said
constexpr double kTimes = 1.2;    // from here on, a ratio says more than a percentage

std::string with_capital(std::string text) {
  if (text.starts_with("the ")) text.front() = 'T';
  return text;
}

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

class Writer : PageWriter {
 public:
  // `most`: reasons of the first group.
  Writer(const PageInput& input, std::size_t most)
      : input_(input),
        most_(most),
        listed_(std::min(kMostListed, most)),
        names_(side_names(input.in.baseline.description.devices, input.in.candidate.description.devices,
                          input.in.baseline.description.label, input.in.candidate.description.label)),
        words_{input.in, names_} {}

  Page run() {
    if (input_.in.gate != nullptr) add(BlockKind::kHeadline, to_string(*input_.in.gate));
    if (input_.reasons.empty()) {
      add(BlockKind::kHeadline, "Nothing is compared: the traces have no steps of a kind in common.");
    } else {
      add(BlockKind::kHeadline, headline(input_.reasons.front()));
    }
    verdicts();
    for (std::size_t i = 0; i < std::min(input_.reasons.size(), kMostGroups); ++i) why(input_.reasons[i], i == 0);
    fusions();
    warnings();
    more();
    return take();
  }

 private:
  static const Change& judged(const GroupReasons& group) {
    return group.group->metric(group.by_period ? StepMetric::kPeriod : StepMetric::kSpan);
  }

  // "2.4 times the throughput", "3.1 % longer".
  static std::string difference(double baseline, double candidate) {
    const double ratio = std::max(baseline, candidate) / std::min(baseline, candidate);
    const bool faster = candidate < baseline;
    if (ratio >= kTimes)
      return fmt::format("{:.{}f} times {}", ratio, ratio < 10 ? 2 : 0, faster ? "the throughput" : "as long");
    return fmt::format("{:.1f} % {}", 100 * std::abs(candidate / baseline - 1), faster ? "less" : "longer");
  }

  // "decode"; a kind of steps that no annotation names is just a step.
  static std::string step_of(const GroupReasons& group) {
    const std::string& label = group.group->group.label;
    return group.group->group.whole_trace ? "the trace" : label == "unknown" ? "a step" : label;
  }
  static std::string mark(const GroupComparison& group) {
    return group.group.label == "unknown" ? "step:" : group.group.label + ":";
  }

  // What a time is of: where only one trace has steps, each is compared with the whole of the other.
  std::string unit(const GroupReasons& group, bool of_candidate) const {
    if (!group.group->group.whole_trace) return " a step";
    const bool has_steps = !(of_candidate ? input_.in.candidate : input_.in.baseline).steps.steps.empty();
    const bool other_has = !(of_candidate ? input_.in.baseline : input_.in.candidate).steps.steps.empty();
    return has_steps ? " a step" : other_has ? " in all" : "";
  }

  // What the means are of.
  std::string mean_of(const GroupReasons& group) const {
    if (!group.group->group.whole_trace) return fmt::format("mean of a {}", to_string(input_.in.comparison.normalise));
    const bool steps = unit(group, false) == " a step" || unit(group, true) == " a step";
    return steps ? "mean of a step, and a whole trace" : "of the whole trace";
  }

  std::string headline(const GroupReasons& group) const {
    const Change& change = judged(group);
    const double a = change.baseline.median, b = change.candidate.median;
    const std::string& label = group.group->group.label;
    std::string text = label == "unknown" ? "" : label + ": ";
    if (a <= 0 || b <= 0) return text + fmt::format("{} and {}{}.", brief_time(a), brief_time(b), unit(group, true));
    if (!has_reasons(group) && std::abs(b / a - 1) < kLeastChange) {
      return text + fmt::format("nothing changed: {}{} in both ({}).", brief_time(a), unit(group, false),
                                signed_percent(b / a - 1));
    }
    if (unit(group, false) != unit(group, true)) {
      const bool whole = unit(group, false) != " a step";  // of the baseline
      return text + fmt::format("{} needs {}{}, {} {}{}, since it has no steps to compare.",
                                whole ? names_.candidate : names_.baseline, brief_time(whole ? b : a), " a step",
                                whole ? names_.baseline : names_.candidate, brief_time(whole ? a : b), " in all");
    }
    text += fmt::format("{} needs {}{} where {} needs {}: {}{}.", names_.candidate, brief_time(b), unit(group, true),
                        names_.baseline, brief_time(a), difference(a, b), few_steps(group, change));
    return text + why_sentence(group);
  }

  // One step says how long that one took.
  static std::string few_steps(const GroupReasons& group, const Change& change) {
    if (group.group->group.whole_trace || std::min(change.baseline_steps, change.candidate_steps) > 1) return "";
    if (change.baseline_steps == change.candidate_steps) return " (one step each)";
    return fmt::format(" ({} and {} steps)", change.baseline_steps, change.candidate_steps);
  }

  // Beside how the traces were recorded.
  static bool has_reasons(const GroupReasons& group) {
    return std::any_of(group.reasons.begin(), group.reasons.end(),
                       [](const Reason& reason) { return reason.cause != Cause::kRecording; });
  }
  // Of the change of its steps.
  static bool explains(const GroupReasons& group) {
    return std::any_of(group.reasons.begin(), group.reasons.end(),
                       [](const Reason& reason) { return reason.is_part(); });
  }

  // Whether it is the candidate that takes longer, with what lies before steps of other kinds.
  static bool candidate_takes_longer(const GroupReasons& group) {
    const auto mean = [](auto a, auto b) { return (static_cast<double>(a) + static_cast<double>(b)) / 2; };
    const GroupComparison& own = *group.group;
    double change =
        static_cast<double>(group.total.change) * mean(own.baseline.device_steps, own.candidate.device_steps);
    for (const Reason& reason : group.reasons) {
      if (reason.cause != Cause::kTransition) continue;
      change += static_cast<double>(reason.change.change) * mean(reason.baseline_n, reason.candidate_n);
    }
    return change > 0;
  }

  // About the side that takes longer: its largest reason, and the largest of the others, which may speak for it.
  std::string why_sentence(const GroupReasons& group) const {
    const bool of_candidate = candidate_takes_longer(group);
    const Reason *most = nullptr, *second = nullptr;
    for (const Reason& reason : group.reasons) {
      if (reason.cause == Cause::kRecording) continue;
      if (most == nullptr && (reason.change.change > 0) == of_candidate) {
        most = &reason;
      } else if (second == nullptr || std::abs(reason.change.change) > std::abs(second->change.change)) {
        second = &reason;
      }
    }
    if (most == nullptr) return "";
    const std::string& name = of_candidate ? names_.candidate : names_.baseline;
    const auto clause = [&](const Reason& reason) { return reason_clause(words_, group, reason, of_candidate); };
    const std::string first = clause(*most);
    std::string text = first.starts_with("its ") ? fmt::format(" {}'s {}", with_capital(name), first.substr(4))
                       : first.starts_with("all its ")
                           ? fmt::format(" All kernels of {} take{}", name,
                                         first.substr(std::string_view("all its kernels take").size()))
                           : fmt::format(" {} {}", with_capital(name), first);
    if (second != nullptr) {
      const std::string other = clause(*second);
      text += fmt::format("; {}{}", other.find("its ") < 5 ? "" : "it ", other);
    }
    return text + ".";
  }

  void verdicts() {
    if (input_.reasons.empty()) return;
    add(BlockKind::kHeading, "Verdict");
    std::size_t said = 0;
    for (const GroupReasons& group : input_.reasons) {
      if (++said > 4) break;
      add(BlockKind::kItem, verdict(group), mark(*group.group));
    }
    if (input_.reasons.size() > 4)
      add(BlockKind::kItem, fmt::format("{} more kinds of steps: --section verdict", input_.reasons.size() - 4));
  }

  std::string verdict(const GroupReasons& group) const {
    const GroupComparison& own = *group.group;
    std::string text = change_text(judged(group), group.by_period ? "period" : own.group.whole_trace ? "time" : "span");
    if (group.by_period) text += fmt::format("; {}", change_text(own.metric(StepMetric::kSpan), "span"));
    for (const TransitionChange& transition : own.transitions) {
      text += fmt::format("; {}", change_text(transition.change, period_measure(transition.to)));
    }
    for (const Tally& tally : own.tallies) {
      if (tally.what != "operations") text += fmt::format("; {}", to_string(tally));
    }
    return text;
  }

  static std::string change_text(const Change& change, const std::string& measure) {
    const double a = change.baseline.median;
    if (a <= 0 || change.candidate_steps == 0) return measure + " unknown";
    std::string text =
        fmt::format("{} {}: {}", measure, signed_percent(change.difference() / a), to_string(change.verdict));
    if (!change.reason.empty()) return text + fmt::format(" ({})", change.reason);
    return text + fmt::format(" (95 %: {:+.1f} .. {:+.1f} %; {} and {} steps)", 100 * change.interval.low / a,
                              100 * change.interval.high / a, change.baseline_steps, change.candidate_steps);
  }

  void why(const GroupReasons& group, bool first) {
    const double change = static_cast<double>(group.total.change);
    const std::string direction = change > 0 ? "more" : "less";
    if (group.reasons.empty()) {
      if (first || group.unsteady.empty()) return rest(group, 0);
    }
    if (!explains(group)) {
      add(BlockKind::kHeading, fmt::format("What differs beside {}", step_of(group)));
    } else {
      add(BlockKind::kHeading,
          fmt::format("Why {} takes {} {}: {} {} -> {} ({})", step_of(group), brief_time(std::abs(change)), direction,
                      group.by_period ? "period" : "span", brief_time(group.total.baseline),
                      brief_time(group.total.candidate), mean_of(group)));
    }
    const std::size_t most = first ? most_ : (most_ + 1) / 2;
    std::size_t number = 0;
    for (const Reason& reason : group.reasons) {
      if (++number > most) break;
      reason_item(group, reason, number);
    }
    rest(group, group.reasons.size() - std::min(group.reasons.size(), most));
  }

  void reason_item(const GroupReasons& group, const Reason& reason, std::size_t number) {
    std::string text = signed_time(static_cast<double>(reason.change.change));
    text += share_text(group, reason);
    text += fmt::format("{} {}", reason.opposing ? " against it:" : "", reason_text(words_, group, reason));
    add(BlockKind::kItem, text, fmt::format("{}.", number));
    const std::string next = next_command(group, reason, input_.in, "$A", "$B");
    if (commands_.insert(next).second) add(BlockKind::kCommand, next, "   ");
  }

  // Of the change; where what got slower and what got faster nearly cancel, of its own direction.
  static std::string share_text(const GroupReasons& group, const Reason& reason) {
    if (!reason.share) return "";
    const auto total = static_cast<double>(group.total.change);
    if (2 * std::abs(total) >= std::max(group.slower, -group.faster))
      return fmt::format(" ({:.0f} %)", 100 * *reason.share);
    const bool slower = reason.change.change > 0;
    const double all = slower ? group.slower : group.faster;
    return fmt::format(" ({:.0f} % of what is {})", 100 * static_cast<double>(reason.change.change) / all,
                       slower ? "slower" : "faster");
  }

  void rest(const GroupReasons& group, std::size_t unsaid) {
    // Next to nothing needs no words.
    const double little = kLittle * std::abs(static_cast<double>(group.total.change));
    if (std::abs(static_cast<double>(group.rest)) <= little && unsaid == 0 && group.unsteady.empty()) return;
    std::string text = fmt::format("{} in rows that are small or noise", signed_time(static_cast<double>(group.rest)));
    if (unsaid > 0) text = fmt::format("{} more reason{}: --section reasons; {}", unsaid, unsaid > 1 ? "s" : "", text);
    if (!group.unsteady.empty()) {
      const Reason& most = group.unsteady.front();
      text += fmt::format("; of that {} varies from step to step: {}",
                          signed_time(static_cast<double>(most.change.change)), reason_text(words_, group, most));
    }
    add(BlockKind::kItem, text, "rest:");
  }

  void fusions() {
    std::size_t said = 0, all = 0;
    for (const GroupReasons& group : input_.reasons) {
      for (const Fusion& fusion : group.group->fusions) {
        if (all++ == 0) add(BlockKind::kHeading, "Fusions");
        if (said < listed_) {
          ++said;
          add(BlockKind::kItem, fusion_text(*group.group, fusion), mark(*group.group));
        }
      }
    }
    if (all > said) add(BlockKind::kItem, fmt::format("{} more: --section fusion", all - said));
  }

  std::string fusion_text(const GroupComparison& group, const Fusion& fusion) const {
    const bool by_candidate = fusion.by == FusedBy::kCandidate;
    double parts = 0, own = 0;
    std::string names;
    for (const FusionKernel& part : fusion.parts) {
      parts += by_candidate ? group.baseline_per_unit(part.time) : group.candidate_per_unit(part.time);
      names += (names.empty() ? "" : " + ") + brief_name(part.name, input_.in);
    }
    own = by_candidate ? group.candidate_per_unit(fusion.fused.time) : group.baseline_per_unit(fusion.fused.time);
    return fmt::format("{} runs {} ({}) for {} ({}); confidence {:.0f} %",
                       by_candidate ? names_.candidate : names_.baseline, brief_name(fusion.fused.name, input_.in),
                       brief_time(own), names, brief_time(parts), 100 * fusion.confidence);
  }

  void warnings() {
    std::size_t said = 0;
    const std::vector<CompareWarning>& all = input_.in.comparison.warnings;
    for (const CompareWarning& warning : all) {
      if (said == listed_) break;
      if (said++ == 0) add(BlockKind::kHeading, "Warnings");
      const std::string side = warning.side == "baseline"    ? names_.baseline + ": "
                               : warning.side == "candidate" ? names_.candidate + ": "
                                                             : "";
      add(BlockKind::kItem, side + warning.text, warning.severity + ":");
    }
    if (all.size() > said) add(BlockKind::kItem, fmt::format("{} more: --section warnings", all.size() - said));
  }

  void more() {
    add(BlockKind::kHeading, fmt::format("More (A, the baseline: {}; B: {})", input_.in.baseline.description.devices,
                                         input_.in.candidate.description.devices));
    add(BlockKind::kCommand, fmt::format("A={}", shell_word(input_.baseline)));
    add(BlockKind::kCommand, fmt::format("B={}", shell_word(input_.candidate)));
    add(BlockKind::kCommand, "trace-query compare $A $B --section ledger");
    add(BlockKind::kCommand, "trace-query compare $A $B --section all");
  }

  const PageInput& input_;
  std::size_t most_, listed_;  // reasons of the first group; fusions and warnings
  std::set<std::string> commands_;
  SideNames names_;
  WordsInput words_;
};

}  // namespace

Page compare_page(const PageInput& input, std::size_t width) {
  for (std::size_t most = kMostReasons; most > 1; --most) {
    Page page = Writer(input, most).run();
    const std::string text = page_text(page, width);
    if (static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) <= kMostLines) return page;
  }
  return Writer(input, 1).run();
}

}  // namespace tracedb
