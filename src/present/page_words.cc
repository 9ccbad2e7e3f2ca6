#include "present/page_words.h"

#include <fmt/format.h>

#include <cmath>

#include "present/cells.h"
#include "present/reason_words.h"

namespace tracedb {
Sentence step_headline(const GroupReasons& group, const std::string& step, double usual, double own,
                       const Sentence& why) {
  const std::string& label = group.group->group.label;
  const Sentence how = std::abs(own / usual - 1) < kLeastChange
                           ? say("as_usual", "takes as long as")
                           : say("differs", "is {change:time} {how} than",
                                 {{"change", std::abs(own - usual)}, {"how", own > usual ? "longer" : "shorter"}});
  return say("compare.step",
             "{step} {how} {usual} {kind}step ({measure} {candidate_time:time}, of {n:# other} "
             "{baseline_time:time}).{why}",
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

std::string step_command(const GroupReasons& group, const Reason& reason, const SectionInput& in) {
  std::string text = next_command(group, reason, in, "$T", fmt::format("$T --step {}", in.comparison.step.value_or(0)));
  if (const std::size_t twice = text.find("$T $T"); twice != std::string::npos) text.erase(twice, 3);
  return text;
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

Sentence other_work_text(const GroupComparison& group, const Figure& kind, const Change& judged, const SideNames& names,
                         const Figure& unit) {
  if (group.other_work.cycles)
    return say("compare.other_cycles",
               "{kind}{work}. Not compared (--allow-different-work compares the numbers as they are).",
               {kind, {"work", group.other_work.text}});
  return say("compare.other_work",
             "{kind}{work}. Not compared: {baseline} takes {baseline_time:time}{unit}, {candidate} "
             "{candidate_time:time} (--allow-different-work compares them).",
             {kind,
              {"work", group.other_work.text},
              {"baseline", names.baseline},
              {"baseline_time", judged.baseline.mean},
              unit,
              {"candidate", names.candidate},
              {"candidate_time", judged.candidate.mean}});
}

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

}  // namespace tracedb
