// A comparison in words: its sides, its reasons (compare/reasons.h), and which steps its figures are of. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/sentence.h"
#include "compare/reasons.h"
#include "compare/trace/compared_trace.h"
#include "present/page_text.h"
#include "present/sections.h"

namespace tracedb {

// What the sides of a comparison are called in sentences: short, by what tells them apart.

struct SideNames {
  std::string baseline, candidate;
};

// "MI300X" and "H100" where the devices differ in model; else what differs in the labels, which are names of files:
// "worker0" and "worker1"; else "the baseline" and "the candidate". `devices`: as TraceDescription has them.
SideNames side_names(std::string_view baseline_devices, std::string_view candidate_devices,
                     std::string_view baseline_label, std::string_view candidate_label);

// "`llama.py(374): forward`": the end of a path says where it is.
std::string host_words(const HostFrame& host);
const char* waiting_word();  // what is there while no kernel runs: "host", of AI Engines "tile"

// A class of kernels as people say it: "GEMM" for dense_gemm, "norm+quantise" for itself; classes of a user's rules
// have their own names.
std::string op_words(std::string_view op);

// A kernel's name in a sentence: at most 40 places.
std::string brief_name(NameId name, const SectionInput& in);

// What sentences about one candidate need.
struct WordsInput {
  const SectionInput& in;
  const SideNames& names;
};

// What changed, where, how much and by what evidence; without the change itself, which is said before.
Sentence reason_text(const WordsInput& words, const GroupReasons& group, const Reason& reason);

// What it brings alone: "; without it the critical path would take 12.2 ms, not 13.9 ms"; "" where that is not
// known.
Sentence path_text(const Reason& reason);

// In a sentence about the side that takes longer, or in one about the other: "idles 25.6 ms between steps",
// "its GEMM kernels are 2.33 ms slower".
Sentence reason_clause(const WordsInput& words, const GroupReasons& group, const Reason& reason, bool of_candidate);

// "24 of 24 layers faster, median -12.5 %": the most frequent of slower, faster and the same; the direction of the
// median where as many are slower as faster.
Sentence tally_sentence(const Tally& tally);

// "layers 12..14", "the head"; "" where it is about a whole step or all layers.
std::string place_text(const WordsInput& words, const Reason& reason);

// No step is of a known kind: --phase tells none apart.
bool only_unknown(const StepSet& steps);

// What to look at next: at $A, the baseline, $B, the candidate, or both. Of a comparison of one step, at $T, the trace,
// which is the only operand of `compare`, and at the step in the other reports.
NextStep next_step_of(const GroupReasons& group, const Reason& reason, const SectionInput& in);

// Of the time of the host: ", and its first work on the device starts after 4.2 ms", and what is behind the last; "":
// not much.
Sentence before_work(const HostStep& host);
Sentence behind_work(const HostStep& host);
// GroupComparison::is_host_told().
Sentence host_steps(const SideNames& names, const GroupComparison& group, const std::string& unit);

// Which steps the figures of a group are of.

// "1 warm-up step of 1.06 s, 2 rare steps of 480 ms to 520 ms": what the mean leaves out; "" where nothing.
// `without_period`: also those that no other of their kind follows.
Sentence left_out_words(const ComparedTrace& trace, const GroupSide& side, bool without_period = false);

// Of two kinds of steps: "15 of 30 steps take 170 ms, 15 stall for 100 ms to 670 ms: host in `llama.py(374): forward`".
// They stall if most of what they take longer the device runs nothing. `host`: while it does so; may be unknown.
Sentence kinds_words(const ComparedTrace& trace, const GroupSide& side, const std::optional<HostFrame>& host);

// "2.4 times the throughput", of device spans "58.3 % less"; "3.1 % longer".
Sentence difference(double baseline, double candidate, bool of_periods);

// Why there is no time of a step to compare.
Sentence no_usual_step(const WordsInput& words, const GroupReasons& group);

// One step says how long that one took; a mean of devices that changed apart, what those did.
Sentence few_steps(const GroupReasons& group, const Change& change);

// " (70 %)": of the change; where what got slower and what got faster nearly cancel, of its own direction; "" of none.
Sentence share_text(const GroupReasons& group, const Reason& reason);

// ", at 7.4 % more tokens a step", where that is a considerable part of the change; else "".
Sentence load_words(const StepGroup& group, const Change& change);

// "period +3.1 %: same (95 %: ...)".
Sentence change_text(const Change& change, const std::string& measure);

// Of steps before another kind, which are not in the period of the others: what no reason says; "": nothing.
Sentence transition_words(const GroupReasons& group);

// Where to look for the host of long steps: in the time that the device runs nothing between them, or within.
HostQuestion question_of(const ComparedTrace& trace, const std::vector<std::uint32_t>& long_steps);

// Of the kernel time on the devices of steps while these run, on the host or there, the part that is in none and whose
// launch is not recorded: spans of steps leave it out.
double outside_steps(const ComparedTrace& trace);

// The answer of `compare` to people, on one page: who is faster and by how much, the reasons in order of size, fusions,
// warnings, and the commands that show more. Its sentences are made of measured facts alone. Pure.

struct PageInput {
  const SectionInput& in;
  const std::vector<GroupReasons>& reasons;
  std::string baseline, candidate;  // as the command line has them
};

// As much as fits into 60 lines of `width`; the rest is named, with the option that shows it.
Page compare_page(const PageInput& input, std::size_t width);

}  // namespace tracedb
