#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "present/cells.h"
#include "present/gate.h"
#include "present/words.h"
#include "report/escape.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostLines = 60, kMostReasons = 8, kMostGroups = 3, kMostVerdicts = 4, kMostListed = 3;
constexpr std::size_t kMostPaths = 3, kLongestShape = 60;
constexpr double kLittle = 0.01;  // of the change: a rest of which nothing is said
constexpr std::string_view kUnchanged =
    "{kind}time unchanged: {baseline_time:time}{unit} in both ({change:+.1f%}{load}).";
constexpr std::string_view kUncertain =
    "{kind}no change beyond how steps differ: {baseline_time:time}{unit} in both ({change:+.1f%}{load}; 95 %: "
    "{low:+.1fp} .. {high:+.1f%}).";
constexpr std::string_view kLittleChanged =
    "{kind}little changed: {change:+.1f%} on {baseline_time:time}{unit}{load}, more than steps vary by chance, but "
    "below {least:.0f%}.";
constexpr std::string_view kAlike =
    "{kind}{baseline_time:time}{unit} in both ({change:+.1f%}{load}), inconclusive: {reason}.";

// "step 7 is 37.7 ms longer than the usual decode step (period 56.6 ms, of 29 others 18.9 ms)." and why. Of a
// comparison of one step (Comparison::step), which is named `step`; times in ns.
Sentence step_headline(const GroupReasons& group, const std::string& step, double usual, double own,
                       const Sentence& why) {
  const std::string& label = group.group->group.label;
  const Sentence how = std::abs(own / usual - 1) < kLeastChange
                           ? say("as_usual", "takes as long as")
                           : say("differs", "is {change:time} {how} than",
                                 {{"change", std::abs(own - usual)}, {"how", own > usual ? "longer" : "shorter"}});
  return say(
      "compare.step",
      "{step} {how} {usual} {kind}step ({measure} {candidate_time:time}, of {n:# other} {baseline_time:time}).{why}",
      {{"step", step},
       {"how", how},
       {"usual", group.group->baseline.steps < 3 ? "the other" : "the usual"},
       {"kind", label == "unknown" ? "" : label + " "},
       {"measure", group.by_period ? "period" : "span"},
       {"candidate_time", own},
       {"n", group.group->baseline.steps},
       {"baseline_time", usual},
       {"why", why}});
}

// Instead of a ratio, where the traces did other work. `judged`: the time of a step; `kind`: as the headline has it;
// `units`: what the time of each side is of.
Sentence other_work_text(const GroupComparison& group, const Figure& kind, const Change& judged, const SideNames& names,
                         const std::array<std::string, 2>& units) {
  if (group.other_work.cycles)
    return say("compare.other_cycles",
               "{kind}{work}. Not compared (--allow-different-work compares the numbers as they are).",
               {kind, {"work", group.other_work.text}});
  return say("compare.other_work",
             "{kind}{work}. Not compared: {baseline} takes {baseline_time:time}{baseline_unit}, {candidate} "
             "{candidate_time:time}{candidate_unit} (--allow-different-work compares them).",
             {kind,
              {"work", group.other_work.text},
              {"baseline", names.baseline},
              {"baseline_time", judged.baseline.mean},
              {"baseline_unit", units[0]},
              {"candidate", names.candidate},
              {"candidate_time", judged.candidate.mean},
              {"candidate_unit", units[1]}});
}

// Before the headline, where names of kernels are unreliable: times still hold, what is said of kernels does not.
Sentence names_out_of_step_text(const SectionInput& in, const SideNames& names) {
  const auto share = [](const ComparedTrace& trace) {
    const auto all = static_cast<double>(trace.work.kernel_time);
    return all > 0 ? static_cast<double>(trace.description.names_out_of_step.time) / all : 0;
  };
  const double a = share(in.baseline), b = share(in.candidate);
  return say("compare.names_out_of_step",
             "No reason is by kernel: {share:.1f%} of the kernel time of {name} is under the name of another kernel.",
             {{"share", std::max(a, b)}, {"name", b > a ? names.candidate : names.baseline}});
}

Sentence fusion_text(const WordsInput& words, const GroupComparison& group, const Fusion& fusion) {
  const bool by_candidate = fusion.by == FusedBy::kCandidate;
  double parts = 0, own = 0;
  std::string names;
  for (const FusionKernel& part : fusion.parts) {
    parts += by_candidate ? group.baseline_per_unit(part.time) : group.candidate_per_unit(part.time);
    names += (names.empty() ? "" : " + ") + brief_name(part.name, words.in);
  }
  own = by_candidate ? group.candidate_per_unit(fusion.fused.time) : group.baseline_per_unit(fusion.fused.time);
  return say("compare.fusion",
             "{who} runs {fused} ({time:time}) for {parts} ({parts_time:time}); confidence {confidence:.0f%}",
             {{"who", by_candidate ? words.names.candidate : words.names.baseline},
              {"fused", brief_name(fusion.fused.name, words.in)},
              {"time", own},
              {"parts", names},
              {"parts_time", parts},
              {"confidence", fusion.confidence}});
}

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
    if (input_.in.gate != nullptr) add_headline(to_string(*input_.in.gate));
    if (input_.reasons.empty()) {
      const TraceDescription& a = input_.in.baseline.description;
      const TraceDescription& empty = a.without_device.empty() ? input_.in.candidate.description : a;
      add_headline(empty.without_device.empty()
                       ? say("compare.nothing", "Nothing is compared: the traces have no steps of a kind in common.")
                       : say("compare.without_device", "Nothing is compared: {trace}: {why}.",
                             {{"trace", empty.label}, {"why", empty.without_device}}));
    } else {
      if (!input_.reasons.front().group->permission.may(Claim::kKernels)) {
        add_headline(of(input_.reasons.front(), names_out_of_step_text(input_.in, names_)));
      }
      add_headline(of(input_.reasons.front(), headline(input_.reasons.front())));
      beside_headline(input_.reasons.front());
    }
    if (!one_step()) verdicts();
    for (std::size_t i = 0; i < std::min(input_.reasons.size(), kMostGroups); ++i) why(input_.reasons[i], i == 0);
    fusions();
    roofline();
    memory();
    findings();
    warnings();
    more();
    return take();
  }

 private:
  // The mark or the heading says of which kind of steps a sentence is.
  static Sentence of(const GroupReasons& group, Sentence sentence) { return of(*group.group, std::move(sentence)); }
  static Sentence of(const GroupComparison& group, Sentence sentence) {
    return with(std::move(sentence), {"phase", group.group.label});
  }

  [[nodiscard]] const std::optional<std::uint32_t>& one_step() const { return input_.in.comparison.step; }

  static const Change& judged(const GroupReasons& group) {
    return group.group->metric(group.by_period ? StepMetric::kPeriod : StepMetric::kSpan);
  }

  // "decode"; a kind of steps that no annotation names is just a step.
  std::string step_of(const GroupReasons& group) const {
    if (one_step()) return names_.candidate;
    const std::string& label = group.group->group.label;
    return group.group->group.whole_trace ? "the trace"
           : label == "unknown"           ? fmt::format("a {}", to_string(input_.in.comparison.normalise))
           : label == "unit"              ? "a unit"
                                          : label;
  }
  static std::string mark(const GroupComparison& group) { return fmt::format("{}:", group.group.said()); }

  // What a time is of: where only one trace has steps, each is compared with the whole of the other.
  std::string unit(const GroupReasons& group, bool of_candidate) const {
    if (!group.group->group.whole_trace) return " a step";
    const bool has_steps = !(of_candidate ? input_.in.candidate : input_.in.baseline).steps.steps.empty();
    const bool other_has = !(of_candidate ? input_.in.baseline : input_.in.candidate).steps.steps.empty();
    return has_steps ? " a step" : other_has ? " in all" : "";
  }

  bool is_of_one_unit(const GroupReasons& group) const { return unit(group, false) == unit(group, true); }

  // What the means are of.
  std::string mean_of(const GroupReasons& group) const {
    if (one_step()) return fmt::format("mean of {} others", group.group->baseline.steps);
    if (!group.group->group.whole_trace && input_.in.comparison.normalise == Normalise::kStep) {
      if (group.group->baseline.steps == 1 && group.group->candidate.steps == 1) return "one regular step each";
      return fmt::format("means of {} and {} regular steps", group.group->baseline.steps, group.group->candidate.steps);
    }
    if (!group.group->group.whole_trace) return fmt::format("mean of a {}", to_string(input_.in.comparison.normalise));
    return "of the whole trace";
  }

  Sentence headline(const GroupReasons& group) const {
    const Change& change = judged(group);
    const double a = change.baseline.mean, b = change.candidate.mean;
    const std::string& label = group.group->group.label;
    const std::string measure = group.by_period ? "" : " of device span";  // it may leave out much of a step
    const Figure kind{"kind", label == "unknown" ? "" : label + ": "}, unit{"unit", measure + this->unit(group, true)},
        load{"load", load_words(group.group->group, change)};
    if (!group.group->other_work.text.empty()) {
      const std::string own = measure + this->unit(group, false), other = measure + this->unit(group, true);
      return other_work_text(*group.group, kind, change, names_, {own, own == other ? "" : other});
    }
    if (Sentence bar = no_usual_step(words_, group); !bar.text.empty()) {
      return say("compare.no_usual_step", "{kind}no usual step to compare: {why}.", {kind, {"why", std::move(bar)}});
    }
    if (one_step() && a > 0 && b > 0) return step_headline(group, names_.candidate, a, b, why_sentence(group));
    if (a <= 0 || b <= 0) {
      return say("compare.times", "{kind}{baseline_time:time} and {candidate_time:time}{unit}.",
                 {kind, {"baseline_time", a}, {"candidate_time", b}, unit});
    }
    if (!has_reasons(group) && std::abs(b / a - 1) < kLeastChange) return unchanged(change, kind, unit, load);
    if (!is_of_one_unit(group)) {
      const bool whole = this->unit(group, false) != " a step";  // of the baseline
      return say("compare.step_and_whole",
                 "{kind}{stepping} needs {step_time:time} of device span a step, {whole} {whole_time:time} in all, "
                 "since it has no "
                 "steps to compare.",
                 {kind,
                  {"stepping", whole ? names_.candidate : names_.baseline},
                  {"step_time", whole ? b : a},
                  {"whole", whole ? names_.baseline : names_.candidate},
                  {"whole_time", whole ? a : b}});
    }
    Sentence out = say("compare.headline",
                       "{kind}{candidate} needs {candidate_time:time}{unit} where {baseline} needs "
                       "{baseline_time:time}: {difference}{load}{chance}{few_steps}.{why}",
                       {kind,
                        {"candidate", names_.candidate},
                        {"candidate_time", b},
                        unit,
                        {"baseline", names_.baseline},
                        {"baseline_time", a},
                        {"difference", difference(a, b, group.by_period)},
                        load,
                        {"chance", chance_of(change)},
                        {"few_steps", few_steps(group, change)},
                        {"why", why_sentence(group)}});
    if (out.text.starts_with("the ")) out.text[0] = 'T';
    return out;
  }

  // What the time of the headline leaves out.
  void beside_headline(const GroupReasons& group) {
    const Change& span = group.group->metric(StepMetric::kSpan);
    if (group.by_period && span.verdict == Verdict::kWorse && judged(group).verdict != Verdict::kWorse)
      add_item(
          of(group, say("compare.span_worse", "Of the device alone: {span}", {{"span", change_text(span, "span")}})),
          kBullet);
    if (Sentence others = transition_words(group); !others.text.empty())
      add_item(of(group, std::move(others)), kBullet);
    if (group.group->is_host_told()) add_item(of(group, host_steps(names_, *group.group, unit(group, true))), kBullet);
  }

  static bool may_be_chance(const Change& change) {
    const auto [low, high] = change.measured();
    return change.judged() && !change.either_by_load && low <= 0 && high >= 0;
  }
  [[nodiscard]] Sentence unchanged(const Change& change, const Figure& kind, const Figure& unit,
                                   const Figure& load) const {
    const double a = change.baseline.mean;
    const Figure time{"baseline_time", a}, share{"change", change.candidate.mean / a - 1};
    if (!change.judged() || change.either_by_load)
      return say("compare.alike", kAlike, {kind, time, unit, share, load, {"reason", change.reason}});
    const auto [low, high] = change.interval;
    if (may_be_chance(change) && change.wide)
      return say("compare.uncertain", kUncertain,
                 {kind, time, unit, share, load, {"low", low / a}, {"high", high / a}});
    if (may_be_chance(change)) return say("compare.unchanged", kUnchanged, {kind, time, unit, share, load});
    return say("compare.little", kLittleChanged, {kind, time, unit, share, load, {"least", kLeastChange}});
  }
  static std::string_view chance_of(const Change& change) {
    return may_be_chance(change) && change.interval.low < change.interval.high ? ", which may be chance" : "";
  }

  // Beside how the traces were recorded.
  static bool has_reasons(const GroupReasons& group) {
    return std::ranges::any_of(group.reasons, [](const Reason& reason) { return reason.cause != Cause::kRecording; });
  }
  // Of the change of its steps.
  static bool explains(const GroupReasons& group) {
    return std::ranges::any_of(group.reasons, [](const Reason& reason) { return reason.is_part(); });
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
  Sentence why_sentence(const GroupReasons& group) const {
    bool of_candidate = candidate_takes_longer(group);
    const Reason *most = nullptr, *second = nullptr;
    for (const Reason& reason : group.reasons) {
      if (reason.cause == Cause::kRecording) continue;
      if (most == nullptr && (reason.change.change > 0) == of_candidate) {
        most = &reason;
      } else if (second == nullptr || std::abs(reason.change.change) > std::abs(second->change.change)) {
        second = &reason;
      }
    }
    if (most == nullptr && second != nullptr) {  // all that differs is against the change
      most = std::exchange(second, nullptr);
      of_candidate = !of_candidate;
    }
    // Steps are as they were; reasons may be of a token, or of all steps.
    if (input_.in.comparison.normalise == Normalise::kToken && group.total.baseline > 0)
      return say("", " A token takes {token:time} instead of {baseline_token:time}.",
                 {{"token", static_cast<double>(group.total.candidate)},
                  {"baseline_token", static_cast<double>(group.total.baseline)}});
    if (most == nullptr || input_.in.comparison.normalise != Normalise::kStep) return {};
    const std::string& name = of_candidate ? names_.candidate : names_.baseline;
    const Sentence then = second == nullptr ? Sentence{} : other_clause(group, *second, of_candidate);
    Sentence first = reason_clause(words_, group, *most, of_candidate);
    const auto told = [&](std::string_view begin, std::string_view text) {
      first.text.erase(0, begin.size());
      Sentence out = say("", text, {{"who", name}, {"most", first}, {"then", then}});
      if (out.text.starts_with(" the ")) out.text[1] = 'T';
      return out;
    };
    constexpr std::string_view kIts = "its ", kAll = "all its kernels take";
    if (first.text.starts_with(kIts)) return told(kIts, " {who}'s {most}{then}.");
    if (first.text.starts_with(kAll)) return told(kAll, " All kernels of {who} take{most}{then}.");
    return told("", " {who} {most}{then}.");
  }

  Sentence other_clause(const GroupReasons& group, const Reason& reason, bool of_candidate) const {
    Sentence clause = reason_clause(words_, group, reason, of_candidate);
    const bool of_its_own = clause.text.starts_with("its ") || clause.text.starts_with("all its ");
    clause.text.insert(0, of_its_own ? "; " : "; it ");
    return clause;
  }

  void verdicts() {
    if (input_.reasons.empty()) return;
    add_heading(fmt::format("Verdict ({})", kOneRun));
    for (std::size_t i = 0; i < std::min(input_.reasons.size(), kMostVerdicts); ++i) {
      const GroupReasons& group = input_.reasons[i];
      add_item(of(group, verdict(group)), mark(*group.group));
    }
    add_more("compare.more_kinds", "{n} more kinds of steps: --section verdict", input_.reasons.size(), kMostVerdicts);
  }

  Sentence verdict(const GroupReasons& group) const {
    const GroupComparison& own = *group.group;
    if (!own.other_work.text.empty()) {
      return say("compare.no_verdict", "none ({reason})", {{"reason", own.permission.why_not(Claim::kRatio)}});
    }
    const std::string measure = group.by_period ? "period" : own.group.whole_trace ? "time" : "span";
    std::vector<Sentence> parts = {is_of_one_unit(group)
                                       ? change_text(judged(group), measure)
                                       : say("no_change", "{measure} inconclusive ({reason})",
                                             {{"measure", measure}, {"reason", judged(group).reason}})};
    if (group.by_period) parts.push_back(change_text(own.metric(StepMetric::kSpan), "span"));
    for (const TransitionChange& transition : own.transitions) {
      parts.push_back(change_text(transition.change, period_measure(transition.to)));
    }
    const auto left_out = [&](const std::string& name, Sentence steps) {
      if (steps.text.empty()) return;
      parts.push_back(say("left_out", "{side} without {steps}", {{"side", name}, {"steps", std::move(steps)}}));
    };
    left_out(names_.baseline, left_out_words(input_.in.baseline, own.group.baseline));
    left_out(names_.candidate, left_out_words(input_.in.candidate, own.group.candidate));
    for (const Tally& tally : own.tallies) {
      if (tally.what != "operations" && is_of_one_unit(group)) parts.push_back(tally_sentence(tally));
    }
    return say("compare.verdict", "{of}", {{"of", joined(parts, "; ")}});
  }

  void why(const GroupReasons& group, bool first) {
    // Of a step against a whole trace, next to nothing is a change.
    if (!group.group->other_work.text.empty() || unit(group, false) != unit(group, true)) return;
    const double change = static_cast<double>(group.total.change);
    const bool told = group.group->permission.may(Claim::kRatio);
    if (!told && group.reasons.empty()) return;
    if (group.reasons.empty()) {
      if (first || group.unsteady.empty()) return rest(group, 0);
    }
    if (!explains(group)) {
      add_heading(of(group, say("compare.beside", "What differs beside {step}", {{"step", step_of(group)}})));
    } else {
      const Figure step{"step", step_of(group)}, measure{"measure", group.by_period ? "period" : "span"};
      const Figure time{"candidate", group.total.candidate}, means{"mean_of", mean_of(group)};
      add_heading(
          of(group, change == 0
                        ? say("compare.within",
                              "What differs within {step}, which takes as long: {measure} {candidate:time} ({mean_of})",
                              {step, measure, time, means})
                        : say("compare.why",
                              "Why {step} takes {change:time} {how}: {measure} {baseline:time} -> {candidate:time} "
                              "({mean_of})",
                              {step,
                               {"change", std::abs(change)},
                               {"how", change > 0 ? "more" : "less"},
                               measure,
                               {"baseline", group.total.baseline},
                               time,
                               means})));
    }
    const std::size_t most = first ? most_ : (most_ + 1) / 2;
    std::size_t number = 0;
    for (const Reason& reason : group.reasons) {
      if (++number > most) break;
      reason_item(group, reason, number);
    }
    if (told) rest(group, group.reasons.size() - std::min(group.reasons.size(), most));
  }

  void reason_item(const GroupReasons& group, const Reason& reason, std::size_t number) {
    const Sentence text = say("compare.reason", "{change:+time}{share}{against} {reason}{path}",
                              {{"change", reason.change.change},
                               {"share", share_text(group, reason)},
                               {"against", reason.opposing ? " against it:" : ""},
                               {"reason", reason_text(words_, group, reason)},
                               {"path", number > kMostPaths ? Sentence{} : path_text(reason)}});
    add_item(of(group, with(text, {"number", number})), fmt::format("{}.", number));
    add_below(next_step_of(group, reason, input_.in));
  }

  void rest(const GroupReasons& group, std::size_t unsaid) {
    // Next to nothing needs no words.
    const double little = kLittle * std::abs(static_cast<double>(group.total.change));
    if (std::abs(static_cast<double>(group.rest)) <= little && unsaid == 0 && group.unsteady.empty()) return;
    const Sentence more =
        unsaid == 0 ? Sentence{} : say("more", "{n:# more reason}: --section reasons; ", {{"n", unsaid}});
    Sentence unsteady;
    if (!group.unsteady.empty()) {
      const Reason& most = group.unsteady.front();
      unsteady = say("unsteady", "; of that {change:+time} varies from step to step: {reason}",
                     {{"change", most.change.change}, {"reason", reason_text(words_, group, most)}});
    }
    add_item(of(group, say("compare.rest", "{more}{rest:+time} in smaller rows and noise{unsteady}",
                           {{"more", more}, {"rest", group.rest}, {"unsteady", unsteady}})),
             group.reasons.empty() ? mark(*group.group) : "rest:");
  }

  void fusions() {
    std::size_t said = 0, all = 0;
    for (const GroupReasons& group : input_.reasons) {
      if (!group.group->other_work.text.empty()) continue;
      for (const Fusion& fusion : group.group->fusions) {
        if (all++ == 0) add_heading("Fusions");
        if (said < listed_) {
          ++said;
          add_item(of(group, fusion_text(words_, *group.group, fusion)), mark(*group.group));
        }
      }
    }
    add_more("compare.more_fusions", "{n} more: --section fusion", all, said);
  }

  // The operator of one shape whose change weighs most on another device. A share above the roof is none to judge by,
  // a short call shows its launch, and far below its roof it is not the device's peak that tells.
  void roofline() {
    const bool one_device = input_.in.baseline.description.devices == input_.in.candidate.description.devices;
    if (input_.in.shapes == nullptr || one_device) return;
    constexpr double kShort = 5000;  // ns
    constexpr double kLeastShare = 0.25, kMostShare = 1.05;
    const auto is_judged = [](const ShapeChange::Side& side) {
      return side.busy >= kShort && side.share() && *side.share() <= kMostShare;
    };
    const auto most = std::ranges::find_if(*input_.in.shapes, [&](const ShapeChange& one) {
      return is_judged(one.baseline) && is_judged(one.candidate) && one.best_share() >= kLeastShare;
    });
    if (most == input_.in.shapes->end() || std::abs(most->change()) < kLeastChange * most->baseline.busy) return;
    const double hardware = most->hardware().value();
    add_heading("Against the peaks of the devices");
    add_item(
        say("compare.roofline",
            "{operator} {shape}: {baseline_share:.1f%} of {baseline}'s roof, {candidate_share:.1f%} of {candidate}'s; "
            "{change:+time} a call, of that {hardware:+time} by the roofs and {efficiency:+time} by their use",
            {{"operator", most->operator_name},
             {"shape", shorten_middle(most->shape, kLongestShape)},
             {"baseline_share", *most->baseline.share()},
             {"baseline", names_.baseline},
             {"candidate_share", *most->candidate.share()},
             {"candidate", names_.candidate},
             {"change", most->change()},
             {"hardware", hardware},
             {"efficiency", most->change() - hardware}}),
        kBullet);
    add_below({"compare", {"$A", "$B"}, {{"section", "roofline"}}});
  }

  // The peak that changed most, where that is more than a percent, and worth a thought.
  void memory() {
    if (input_.in.memory == nullptr) return;
    const auto change = [](const MemoryChange& own) { return own.candidate - own.baseline; };
    const MemoryChange* most = nullptr;
    for (const MemoryChange& own : *input_.in.memory) {
      constexpr std::int64_t kLeast = 1'000'000;
      const bool told =
          own.operator_name.empty() && std::abs(change(own)) >= kLeast && std::abs(change(own)) * 100 > own.baseline;
      if (told && (most == nullptr || std::abs(change(own)) > std::abs(change(*most)))) most = &own;
    }
    if (most == nullptr) return;
    Sentence by;
    // Behind the peak of a device come its operators, the largest change first.
    const MemoryChange* next = most + 1;
    if (next != &*input_.in.memory->end() && next->device == most->device &&
        next->operator_name != "[addresses not recorded]" && (change(*next) > 0) == (change(*most) > 0)) {
      by = say("memory.by", "; {operator} alone {change:+bytes}",
               {{"change", change(*next)}, {"operator", next->operator_name}});
    }
    add_heading("Memory");
    add_item(say("compare.memory", "{device}: peak {baseline:bytes} -> {candidate:bytes} ({change:+bytes}){by}{at}",
                 {{"device", most->device},
                  {"baseline", most->baseline},
                  {"candidate", most->candidate},
                  {"change", change(*most)},
                  {"by", by},
                  {"at", most->step ? say("memory.at", "; the higher one in step {step:count}", {{"step", *most->step}})
                                    : Sentence{}}}),
             kBullet);
    add_below({"compare", {"$A", "$B"}, {{"section", "memory"}}});
  }

  void findings() {
    if (input_.in.candidate_findings == nullptr) return;
    const std::vector<TraceFinding>&baseline = *input_.in.baseline_findings, &candidate = *input_.in.candidate_findings;
    for (const TraceFinding& own : candidate) finding(own, baseline, true);
    for (const TraceFinding& own : baseline) finding(own, candidate, false);
  }

  // Where it stands out on this side alone, or much more than on the other.
  void finding(const TraceFinding& own, const std::vector<TraceFinding>& others, bool of_candidate) {
    constexpr double kMuchMore = 5;  // percent points
    const auto other = std::ranges::find(others, own.name, &TraceFinding::name);
    const bool known = other != others.end();
    if (!own.stands_out || (known && other->stands_out && own.share_pct - other->share_pct < kMuchMore)) return;
    if (!std::exchange(any_finding_, true)) add_heading("Findings");
    const std::string &side = of_candidate ? names_.candidate : names_.baseline,
                      &there = of_candidate ? names_.baseline : names_.candidate;
    add_item(with(say("finding." + own.name, "{side}: {finding}{other}",
                      {{"side", side},
                       {"finding", own.text},
                       {"other", known ? say("", "; {name}: {other_share:.1f%}",
                                             {{"name", there}, {"other_share", other->share_pct / 100}})
                                       : Sentence{}}}),
                  {"share", own.share_pct / 100}),
             kBullet);
    add_below({"findings", {of_candidate ? "$B" : "$A"}});
  }

  void warnings() {
    std::size_t said = 0;
    const std::vector<CompareWarning>& all = input_.in.comparison.warnings;
    for (const CompareWarning& warning : all) {
      if (said == listed_) break;
      if (said++ == 0) add_heading("Warnings");
      const std::string side = warning.side == "baseline"    ? names_.baseline + ": "
                               : warning.side == "candidate" ? names_.candidate + ": "
                                                             : "";
      add_item(with(say("warning." + warning.code, "{side}{text}", {{"side", side}, {"text", warning.text}}),
                    {"severity", warning.severity}),
               warning.severity + ":");
    }
    add_more("compare.more_warnings", "{n} more: --section warnings", all.size(), said);
  }

  void more() {
    if (one_step()) {
      add_heading("More");
      add_command(fmt::format("T={}", shell_word(input_.candidate)));
      add_command(NextStep{"compare", {"$T"}, {{"step", std::to_string(*one_step())}, {"section", "ledger"}}});
      return;
    }
    add_heading(say("compare.sides", "More (A, the baseline: {baseline}; B: {candidate})",
                    {{"baseline", input_.in.baseline.description.devices},
                     {"candidate", input_.in.candidate.description.devices}}));
    add_command(fmt::format("A={}", shell_word(input_.baseline)));
    add_command(fmt::format("B={}", shell_word(input_.candidate)));
    for (const char* section : {"ledger", "all"})
      add_command(NextStep{"compare", {"$A", "$B"}, {{"section", section}}});
  }

  const PageInput& input_;
  std::size_t most_, listed_;  // reasons of the first group; fusions and warnings
  bool any_finding_ = false;
  SideNames names_;
  WordsInput words_;
};

}  // namespace

Page compare_page(const PageInput& input, std::size_t width) {
  Page page =
      fitting_page(kMostReasons, kMostLines, width, [&](std::size_t most) { return Writer(input, most).run(); });
  quote_sides(page, input.baseline + input.candidate);
  return page;
}

}  // namespace tracedb
