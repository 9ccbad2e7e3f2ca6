// Reasons (compare/reasons.h) in words. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/text/sentence.h"
#include "compare/reasons.h"
#include "present/page_text.h"
#include "present/sections.h"
#include "present/side_names.h"

namespace tracedb {

// "`llama.py(374): forward`": the end of a path says where it is.
std::string host_words(const HostFrame& host);

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

}  // namespace tracedb
