// Sentences of the page of a comparison about what its figures carry, and about what they do not. Pure.
#pragma once

#include "base/text/sentence.h"
#include "present/reason_words.h"

namespace tracedb {

// "2.4 times the throughput", "3.1 % longer".
Sentence difference_text(double baseline, double candidate);

// One step says how long that one took; "" of more.
Sentence few_steps_text(const GroupComparison& group, const Change& change);

// " (70 %)": of the change; where what got slower and what got faster nearly cancel, of its own direction; "" of none.
Sentence share_text(const GroupReasons& group, const Reason& reason);

// Instead of a ratio, where the traces did other work. `judged`: the time of a step; `kind`, `unit`: as the headline
// has them.
Sentence other_work_text(const GroupComparison& group, const Figure& kind, const Change& judged, const SideNames& names,
                         const Figure& unit);

// Before the headline, where names of kernels are unreliable: times still hold, what is said of kernels does not.
Sentence names_out_of_step_text(const SectionInput& in, const SideNames& names);

Sentence fusion_text(const WordsInput& words, const GroupComparison& group, const Fusion& fusion);

}  // namespace tracedb
