// The answer of `compare` to people, on one page: who is faster and by how much, the reasons in order of size, fusions,
// warnings, and the commands that show more. Its sentences are made of measured facts alone. Pure.
#pragma once

#include <string>

#include "base/text/sentence.h"
#include "compare/reasons.h"
#include "present/page_text.h"
#include "present/reason_words.h"
#include "present/sections.h"

namespace tracedb {

struct PageInput {
  const SectionInput& in;
  const std::vector<GroupReasons>& reasons;
  std::string baseline, candidate;  // as the command line has them
};

// As much as fits into 60 lines of `width`; the rest is named, with the option that shows it.
Page compare_page(const PageInput& input, std::size_t width);

// Sentences of the page of a comparison that stand by themselves.

// "step 7 is 37.7 ms longer than the usual decode step (period 56.6 ms, of 29 others 18.9 ms)." and why. Of a
// comparison of one step (Comparison::step), which is named `step`; times in ns.
Sentence step_headline(const GroupReasons& group, const std::string& step, double usual, double own,
                       const Sentence& why);

// " (70 %)": of the change; where what got slower and what got faster nearly cancel, of its own direction; "" of none.
Sentence share_text(const GroupReasons& group, const Reason& reason);

// Instead of a ratio, where the traces did other work. `judged`: the time of a step; `kind`: as the headline has it;
// `units`: what the time of each side is of.
Sentence other_work_text(const GroupComparison& group, const Figure& kind, const Change& judged, const SideNames& names,
                         const std::array<std::string, 2>& units);

// Before the headline, where names of kernels are unreliable: times still hold, what is said of kernels does not.
Sentence names_out_of_step_text(const SectionInput& in, const SideNames& names);

Sentence fusion_text(const WordsInput& words, const GroupComparison& group, const Fusion& fusion);

}  // namespace tracedb
