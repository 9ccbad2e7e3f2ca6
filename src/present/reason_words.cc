#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text/amounts.h"
#include "present/words.h"
#include "report/escape.h"
#include "trace/display_name.h"

namespace tracedb {
namespace {

constexpr std::size_t kLongestName = 40;
constexpr double kMostly = 0.95;  // of a change: all but a rest that needs no words

// Whether more or fewer kernels are all of it, each as long as before.
bool is_by_count(const LedgerChange& change) {
  const auto all = static_cast<double>(change.change);
  return all != 0 && std::abs(static_cast<double>(change.count_effect) / all - 1) < 1 - kMostly;
}
constexpr double kSure = 0.7;  // confidence of a fusion from which on it needs no doubt

double ns(std::int64_t value) { return static_cast<double>(value); }

// "attention (softmax)": the role of the kernels, unless their class says it too (attention_decode), and the class;
// "bmm (GEMM)" of members of a class.
std::string what_runs(const Reason& reason) {
  const std::string op = reason.op.empty() ? "all kernels" : op_words(reason.op);
  if (!reason.member.empty()) return fmt::format("{} ({})", reason.member, op);
  return reason.op.starts_with(reason.role) ? op : fmt::format("{} ({})", reason.role, op);
}

// Where times and numbers are those of other roles, too.
std::string what_has_figures(const Reason& reason) {
  return reason.member.empty() && !reason.op.empty() && !reason.role_alone ? op_words(reason.op) : what_runs(reason);
}

// "decode step".
std::string next_step(const Reason& reason) {
  return reason.to == to_string(StepKind::kUnknown) ? "step of another kind" : reason.to + " step";
}

// " in layers 12..14".
Sentence at_place(const WordsInput& words, const Reason& reason) {
  const std::string place = place_text(words, reason);
  return place.empty() ? Sentence{} : say("", " in {place}", {{"place", place}});
}

Sentence interval_text(const Reason& reason) {
  if (!reason.interval) return {};
  return say("interval", "; 95 %: {low:+time} .. {high:+time}",
             {{"low", reason.interval->low}, {"high", reason.interval->high}});
}

Sentence perhaps(const Reason& reason) {
  if (reason.confidence >= kSure) return {};
  return say("perhaps", " (perhaps: confidence {confidence:.0f%})", {{"confidence", reason.confidence}});
}

Sentence load_change(const StepGroup& group) {
  return say(
      "load", "{baseline:count} -> {candidate:count} {of} a step",
      {{"baseline", mean_load(group.baseline)}, {"candidate", mean_load(group.candidate)}, {"of", load_of(group)}});
}

// A trace without steps has nothing between them.
std::string_view within(const GroupComparison& group) { return group.group.whole_trace ? "" : " within the step"; }

// One sentence about each kind of reason.
class ReasonWords {
 public:
  ReasonWords(const WordsInput& words, const GroupReasons& group, const Reason& reason)
      : words_(words), group_(*group.group), reason_(reason), change_(reason.change) {}

  Sentence take() {
    const auto told = [&](std::string_view text, std::initializer_list<Figure> figures) {
      return say(fmt::format("reason.{}", to_string(reason_.cause)), text, figures);
    };
    switch (reason_.cause) {
      case Cause::kBetweenSteps:
        return told("between steps: {times}{interval}{host}{baseline_waits}{candidate_waits}",
                    {times_,
                     interval_,
                     host_,
                     {"baseline_waits", waits(group_.baseline.waits, words_.names.baseline)},
                     {"candidate_waits", waits(group_.candidate.waits, words_.names.candidate)}});
      case Cause::kRecording:
        return told("between steps: {times}; no change of the program, since {recording}",
                    {times_, {"recording", words_.in.comparison.recording_difference}});
      case Cause::kTransition:
        return told(
            "before the next {next}, beside the step itself: {times} (mean of {baseline_n:count} and "
            "{candidate_n:# gap}){interval}{host}",
            {{"next", next_step(reason_)},
             times_,
             {"baseline_n", reason_.baseline_n},
             {"candidate_n", std::llround(reason_.candidate_n)},
             interval_,
             host_});
      case Cause::kRareSteps:
        return told(
            "rare long steps, beside the regular ones: {baseline_n:count} of {baseline_steps:count} -> "
            "{candidate_n:count} of {candidate_steps:count}, which add {times} a step{host}",
            {{"baseline_n", reason_.baseline_n},
             {"baseline_steps", static_cast<double>(group_.baseline.steps) + reason_.baseline_n},
             {"candidate_n", reason_.candidate_n},
             {"candidate_steps", static_cast<double>(group_.candidate.steps) + reason_.candidate_n},
             times_,
             host_});
      case Cause::kNoStep:
        return told("work of no step, while no step's runs: {times}{interval}", {times_, interval_});
      case Cause::kIdle:
        return told(fmt::format("idle{}: {{times}}{{interval}}{{host}}", within(group_)), {times_, interval_, host_});
      case Cause::kCommunication:
        return told("exposed communication{at}: {times}{kernels}{interval}",
                    {at_, times_, {"kernels", kernels("collective|collectives")}, interval_});
      case Cause::kCopies:
        return told("exposed copies{at}: {times}{kernels}{interval}",
                    {at_, times_, {"kernels", kernels("copy|copies")}, interval_});
      case Cause::kOperation:
        return operation(told);
      case Cause::kFusion:
        return told("fusion{perhaps}: {who} does {what} in {fused:count} instead of {parts:count} kernels{at}: {times}",
                    {{"perhaps", perhaps(reason_)},
                     {"who", reason_.candidate_n < reason_.baseline_n ? words_.names.candidate : words_.names.baseline},
                     {"what", op_words(reason_.op)},
                     {"fused", std::min(reason_.baseline_n, reason_.candidate_n)},
                     {"parts", std::max(reason_.baseline_n, reason_.candidate_n)},
                     at_,
                     times_});
      case Cause::kConcurrency:
        return told(
            "kernels that run at once: they save {saved_a:time} in {baseline}, {saved_b:time} in {candidate}{interval}",
            {{"saved_a", -change_.baseline},
             {"baseline", words_.names.baseline},
             {"saved_b", -change_.candidate},
             {"candidate", words_.names.candidate},
             interval_});
      case Cause::kOtherSteps:
        return told(
            "steps overlap on the device: work of others in its time, less its own in theirs, {times}{interval}",
            {times_, interval_});
      case Cause::kClocks:
        return clocks(told);
      case Cause::kLoad:
        return told(
            "other load: {load}: what kernels take that changed as it did, {times}; other causes cannot be told from "
            "it",
            {{"load", load_change(group_.group)}, times_});
    }
    return {};
  }

 private:
  [[nodiscard]] Sentence from_to() const {
    return say("", "{baseline:time} -> {candidate:time}",
               {{"baseline", change_.baseline}, {"candidate", change_.candidate}});
  }

  // Where nothing was recorded, nothing is said.
  [[nodiscard]] Sentence hosts() const {
    if (!reason_.host) return {};
    return say("host", fmt::format("; {} of {{who}} in {{frame}} for {{share:.0f%}} of it", waiting_word()),
               {{"who", change_.change > 0 ? words_.names.candidate : words_.names.baseline},
                {"frame", host_words(*reason_.host)},
                {"share", reason_.host->share}});
  }

  [[nodiscard]] static Sentence waits(const HostWaits& waits, const std::string& name) {
    if (!waits.bound()) return {};
    const Sentence calls =
        waits.calls > 0 ? say("", "{calls:# recorded call adds|recorded calls add} to that", {{"calls", waits.calls}})
                        : Sentence{"no call is recorded there"};
    return say("waits", "; {who} waits for its host in {gaps:# gap}: {calls}",
               {{"who", name}, {"gaps", waits.gaps}, {"calls", calls}});
  }

  // " (48 -> 96 kernels, +0.43 ms of it by count)".
  [[nodiscard]] Sentence kernels(std::string_view nouns) const {
    const Figure a{"baseline", reason_.baseline_n}, b{"candidate", reason_.candidate_n};
    const std::string counted = fmt::format("{{candidate:# {}}}", nouns);
    const Sentence after = say("", counted, {b});
    const std::string same = say("", fmt::format("{{baseline:# {}}}", nouns), {a}).text;
    if (same == after.text) return say("count", fmt::format(" ({})", counted), {b});
    return say("counts", fmt::format(" ({{baseline:count}} -> {}{{by_count}})", counted),
               {a, b, {"by_count", by_count()}});
  }

  [[nodiscard]] Sentence by_count() const {
    const double count = ns(change_.count_effect), all = ns(change_.change);
    const double more = reason_.candidate_n - reason_.baseline_n;
    // Copies are of all sizes, and what more kernels bring takes time: else the names, not the number, differ.
    if (reason_.cause == Cause::kCopies || count * more <= 0 || count / all < 1 - kMostly) return {};
    if (is_by_count(change_)) return {", by count alone", "by_count_alone"};
    if (count > 0 ? count > all : count < all) {
      return say("by_both", ", {effect:+time} by count and {other:+time} by time",
                 {{"effect", count}, {"other", all - count}});
    }
    return say("by_count", ", {effect:+time} of it by count", {{"effect", count}});
  }

  [[nodiscard]] Sentence operation(const auto& told) const {
    const Figure what{"what", what_has_figures(reason_)}, kernels{"kernels", this->kernels("kernel|kernels")};
    if (change_.baseline <= 0 || change_.candidate <= 0) {
      return told("{what}{at} is {how}: {times}{kernels}",
                  {what, at_, {"how", change_.candidate <= 0 ? "gone" : "new"}, times_, kernels});
    }
    const bool longer = change_.change > 0;
    const bool more_kernels = by_count().id == "by_count_alone" &&
                              words_.in.comparison.normalise != Normalise::kToken;  // per token any number
    const Place& place = reason_.place;
    const Sentence layers =
        place.kind == PlaceKind::kLayers && place.layers.empty()
            ? say("layers", " in {moved} of {compared} layers", {{"moved", place.moved}, {"compared", place.compared}})
            : Sentence{};
    return told("{what}{at} {how}{layers}: {times}{kernels}{companions}{interval}{roles}{pair}",
                {what,
                 at_,
                 {"how", more_kernels ? longer ? "runs more kernels" : "runs fewer kernels"
                         : longer     ? "slower"
                                      : "faster"},
                 {"layers", layers},
                 times_,
                 kernels,
                 {"companions", companions()},
                 interval_,
                 {"roles", roles()},
                 {"pair", pair()}});
  }

  // "; of them 160 -> 0 that end another's work": ops and kernels count those as the classes that they are.
  [[nodiscard]] Sentence companions() const {
    const GroupComparison& group = group_;
    const KernelNameTable& names = words_.in.kernel_names;
    const auto count = [&](const GroupWork& side) {
      std::int64_t n = 0;
      for (const WorkCell& cell : side.cells) {
        const bool same = names.op_name(group.levels.op_of(cell.name, names)) == reason_.op;
        if (same && cell.work == Work::kCompute && names.entries()[cell.name].host) n += cell.sum.n;
      }
      return n;
    };
    if (!reason_.whole_row) return {};
    const double a = group.baseline_per_unit(count(group.baseline)),
                 b = group.candidate_per_unit(count(group.candidate));
    if (a + b <= 0) return {};
    const Figure candidate{"candidate", b};
    if (a == b) return say("companions", "; {candidate:count} of them end another's work", {candidate});
    return say("companions", "; {baseline:count} -> {candidate:count} of them end another's work",
               {{"baseline", a}, candidate});
  }

  // "; gate_up +1.17 ms, down +701 us": where one role does not say it all.
  [[nodiscard]] Sentence roles() const {
    std::vector<Sentence> parts;
    for (const RoleChange& role : reason_.role_alone ? std::vector<RoleChange>() : reason_.roles) {
      parts.push_back(say("role", "{role} {change:+time}", {{"role", to_string(role.role)}, {"change", role.change}}));
    }
    return parts.empty() ? Sentence{} : say("", "; {of}", {{"of", joined(parts, ", ")}});
  }

  [[nodiscard]] Sentence pair() const {
    if (!reason_.pair) return {};
    const ChangedPair& own = *reason_.pair;
    if (own.baseline == own.candidate) {
      return say("same_kernel", "; same kernel: {name}", {{"name", brief_name(own.baseline, words_.in)}});
    }
    const std::vector<KernelNameEntry>& entries = words_.in.kernel_names.entries();
    const std::vector<std::string> names =
        display_names(std::vector{entries[own.baseline].name, entries[own.candidate].name});
    return say(
        "pair", "; {baseline} -> {candidate}",
        {{"baseline", shorten_middle(names[0], kLongestName)}, {"candidate", shorten_middle(names[1], kLongestName)}});
  }

  [[nodiscard]] Sentence clocks(const auto& told) const {
    for (const ClockChange& clock : words_.in.comparison.same.clocks) {
      if (clock.group != group_.group.label) continue;
      return told(
          "{cause}: {holding} of {kernels} identical kernels take {ratio:.3f} times as long (quartiles "
          "{low:.3f} and {high:.3f}); all kernels: {times}{interval}",
          {{"cause", words_.in.comparison.same.cause},
           {"holding", clock.holding},
           {"kernels", clock.kernels},
           {"ratio", clock.ratio},
           {"low", clock.low_quartile},
           {"high", clock.high_quartile},
           times_,
           interval_});
    }
    return {};
  }

  const WordsInput& words_;
  const GroupComparison& group_;
  const Reason& reason_;
  const LedgerChange& change_;
  const Figure at_{"at", at_place(words_, reason_)}, times_{"times", from_to()},
      interval_{"interval", interval_text(reason_)}, host_{"host", hosts()};
};

// None where a trace has no steps, or none of a known kind.
void add_phase(NextStep& step, const GroupComparison& group, const SectionInput& in, bool of_candidate) {
  if (group.group.whole_trace || only_unknown((of_candidate ? in.candidate : in.baseline).steps)) return;
  const StepKind kind = (of_candidate ? group.group.candidate : group.group.baseline).kind;
  step.options.emplace_back("phase", to_string(kind));
}

}  // namespace

std::string host_words(const HostFrame& host) {
  constexpr std::size_t kLongestPlace = 60;
  const std::size_t slash = host.frame.rfind('/', host.frame.find('('));
  return fmt::format(
      "`{}`", shorten_middle(slash == std::string::npos ? host.frame : host.frame.substr(slash + 1), kLongestPlace));
}

const char* waiting_word() { return CycleWords::active() ? "tile" : "host"; }

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
  for (const std::string_view part : op_parts(op)) {
    const auto* found = std::ranges::find_if(kWords, [&](const auto& words) { return words.first == part; });
    text += text.empty() ? "" : "+";
    text += found == kWords.end() ? part : found->second;
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

Sentence reason_text(const WordsInput& words, const GroupReasons& group, const Reason& reason) {
  return ReasonWords(words, group, reason).take();
}

Sentence path_text(const Reason& reason) {
  if (!reason.path) return {};
  const PathWithout& path = *reason.path;
  constexpr double kSameLength = 0.005;  // of a length: what is printed as the same
  const Figure without{"without", path.without}, inferred{"inferred", path.is_inferred ? " (partly inferred)" : ""};
  if (std::abs(path.without - path.length) < kSameLength * path.length)
    return say("path_alike", "; without it the critical path would still take about {without:time}{inferred}",
               {without, inferred});
  return say("path", "; without it the critical path would take about {without:time}, not {length:time}{inferred}",
             {without, {"length", path.length}, inferred});
}

// Why the device waits: " (host in `llama.py(374): forward`; part of it is the recording of python stacks: 1,357 calls
// a gap)". How large a part is not known: calls take time without being recorded, too. As many calls as in the gaps of
// the other side explain no change.
Sentence host_clause(const WordsInput& words, const GroupReasons& group, const Reason& reason, bool of_candidate) {
  const GroupWork &own = of_candidate ? group.group->candidate : group.group->baseline,
                  &other = of_candidate ? group.group->baseline : group.group->candidate;
  const HostWaits& waits = own.waits;
  const Recording& recording = (of_candidate ? words.in.candidate : words.in.baseline).recorded.recording;
  std::vector<Sentence> parts;
  if (reason.host)
    parts.push_back(say("host", fmt::format("{} in {{frame}}", waiting_word()), {{"frame", host_words(*reason.host)}}));
  const double more = waits.calls_per_gap() - other.waits.calls_per_gap();
  if (reason.cause == Cause::kBetweenSteps && waits.bound() && more > 0 &&
      are_slowing(more, std::abs(ns(reason.change.change)))) {
    parts.push_back(say("slowed", "part of it is the recording of {recording}: {calls:count} calls a gap",
                        {{"recording", to_string(recording)}, {"calls", waits.calls_per_gap()}}));
  }
  return parts.empty() ? Sentence{} : say("", " ({why})", {{"why", joined(parts, "; ")}});
}

std::string_view which_rare(bool longer, bool others_too) {
  return !longer ? "fewer or shorter " : others_too ? "more or longer " : "";
}

Sentence reason_clause(const WordsInput& words, const GroupReasons& group, const Reason& reason, bool of_candidate) {
  const bool longer = (reason.change.change > 0) == of_candidate;
  const Figure size{"change", std::abs(ns(reason.change.change))}, more{"how", longer ? "more" : "less"},
      waits{"how", longer ? "longer" : "less"}, slower{"how", longer ? "slower" : "faster"},
      at{"at", at_place(words, reason)},
      host{"host", longer ? host_clause(words, group, reason, of_candidate) : Sentence{}};
  const double own_n = of_candidate ? reason.candidate_n : reason.baseline_n;
  const double other_n = of_candidate ? reason.baseline_n : reason.candidate_n;
  const auto told = [&](std::string_view text, std::initializer_list<Figure> figures) {
    return say(fmt::format("clause.{}", to_string(reason.cause)), text, figures);
  };
  switch (reason.cause) {
    case Cause::kBetweenSteps: {
      // What is next to nothing in the other trace is said as it is.
      const double own = of_candidate ? reason.change.candidate : reason.change.baseline;
      const double other = of_candidate ? reason.change.baseline : reason.change.candidate;
      if (longer && other >= 0 && other < 0.05 * own) {
        return told("idles {time:time} between steps{host}", {{"time", own}, host});
      }
      return told("takes {change:time} {how} between steps{host}", {size, more, host});
    }
    case Cause::kRecording:
      return {};
    case Cause::kTransition:
      return told("idles {change:time} {how} before the next {next}{host}",
                  {size, waits, {"next", next_step(reason)}, host});
    case Cause::kRareSteps:
      return told("has {which}rare long steps: {change:time} {how} a step",
                  {{"which", which_rare(longer, other_n > 0)}, size, more});
    case Cause::kNoStep:
      return told("spends {change:time} {how} in work of no step", {size, more});
    case Cause::kIdle:
      return told(fmt::format("idles {{change:time}} {{how}}{}{{host}}", within(*group.group)), {size, waits, host});
    case Cause::kCommunication:
      return told("waits {change:time} {how} for communication{at}", {size, waits, at});
    case Cause::kCopies:
      return told("waits {change:time} {how} for copies{at}", {size, waits, at});
    case Cause::kOperation:
      if (reason.op.empty()) return told("all its kernels take {change:time} {how}", {size, more});
      if (is_by_count(reason.change) && own_n != other_n) {
        return told("runs {n:count} instead of {other_n:count} {what} kernels{at} ({change:time} {how})",
                    {{"n", own_n}, {"other_n", other_n}, {"what", what_has_figures(reason)}, at, size, more});
      }
      return told("its {what} kernels{at} are {change:time} {how}", {{"what", what_runs(reason)}, at, size, slower});
    case Cause::kFusion:
      return told("its {what} in {n:count} instead of {other_n:count} kernels{perhaps} is {change:time} {how}",
                  {{"what", op_words(reason.op)},
                   {"n", own_n},
                   {"other_n", other_n},
                   {"perhaps", perhaps(reason)},
                   size,
                   slower});
    case Cause::kConcurrency:
      return told("its kernels overlap for {change:time} {how}", {size, {"how", longer ? "less" : "more"}});
    case Cause::kOtherSteps:
      return told("has {change:time} {how} work of other steps in its time", {size, more});
    case Cause::kClocks:
      return told("all its kernels take {change:time} {how}: {cause}",
                  {size, more, {"cause", words.in.comparison.same.cause}});
    case Cause::kLoad:
      return told("has another load ({load}), and its kernels take {change:time} {how}, for that or another cause",
                  {{"load", load_change(group.group->group)}, size, more});
  }
  return {};
}

Sentence tally_sentence(const Tally& tally) {
  const std::size_t same = tally.parts - tally.slower - tally.faster;
  const bool slower = tally.slower != tally.faster ? tally.slower > tally.faster : tally.median > 0;
  const std::size_t most = std::max(slower ? tally.slower : tally.faster, same);
  const bool mostly = 2 * most > tally.parts;
  const std::string word = most == same ? "the same" : slower ? "slower" : "faster";
  const Sentence how =
      mostly ? Sentence{word, word} : say("both", "slower, {faster} faster", {{"faster", tally.faster}});
  return say("tally", "{n} of {parts} {what} {how}, median {median:+.1f%}",
             {{"n", mostly ? most : tally.slower},
              {"parts", tally.parts},
              {"what", tally.what},
              {"how", how},
              {"median", tally.median}});
}

bool only_unknown(const StepSet& steps) {
  return std::ranges::all_of(steps.steps, [](const StepFacts& step) { return step.info.kind == StepKind::kUnknown; });
}

NextStep next_step_of(const GroupReasons& group, const Reason& reason, const SectionInput& in) {
  const bool of_candidate = reason.change.change > 0;  // the side that takes longer
  const std::optional<std::int64_t> step = in.comparison.step;
  using Options = std::vector<std::pair<std::string, std::string>>;
  const auto made = [&](std::string command, std::vector<std::string> sides, bool names_step, Options options,
                        bool phase_of_candidate) {
    NextStep out{std::move(command), std::move(sides)};
    if (step) out.sides = {"$T"};
    if (step && names_step) out.options.emplace_back("step", std::to_string(*step));
    out.options.insert(out.options.end(), options.begin(), options.end());
    add_phase(out, *group.group, in, phase_of_candidate);
    return out;
  };
  const auto one = [&](std::string report) {
    return made(std::move(report), {of_candidate ? "$B" : "$A"}, of_candidate, {}, of_candidate);
  };
  const auto pair = [&](std::string section, Options options = {}) {
    options.insert(options.begin(), {"section", std::move(section)});
    return made("compare", {"$A", "$B"}, true, std::move(options),
                group.group->group.baseline.kind == StepKind::kUnknown);
  };
  switch (reason.cause) {
    case Cause::kBetweenSteps:
    case Cause::kRecording:
    case Cause::kTransition:
    case Cause::kIdle:
      return one("gaps");
    case Cause::kCommunication: {
      // Which tells the wait for a device that is late from what communication takes.
      const ComparedTrace& trace = of_candidate ? in.candidate : in.baseline;
      if (!step && std::ranges::any_of(trace.work.steps, [](const DeviceStep& each) { return each.device > 0; }))
        return NextStep{"ranks", {of_candidate ? "$B" : "$A"}};
      return one("comms");
    }
    case Cause::kCopies:
      return one("memcpys");
    case Cause::kOperation:
      if (reason.place.kind != PlaceKind::kLayers || reason.place.layers.empty()) return pair("kernels");
      return pair("ledger", {{"by", "layer,op"}});
    case Cause::kFusion:
      return pair("fusion");
    case Cause::kRareSteps:
    case Cause::kNoStep:
    case Cause::kOtherSteps: {
      NextStep steps = one("steps");
      std::erase_if(steps.options, [](const auto& option) { return option.first == "phase"; });  // of all kinds
      return steps;
    }
    case Cause::kConcurrency:
      return one("timeline");
    case Cause::kClocks:
      return pair("same-kernels");
    case Cause::kLoad:
      return pair("ledger", {{"normalise", "token"}});
  }
  return {};
}

}  // namespace tracedb
