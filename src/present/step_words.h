// Which steps the figures of a group are of, in words. Pure.
#pragma once

#include <optional>
#include <vector>

#include "base/text/sentence.h"
#include "compare/host_frames.h"
#include "compare/trace/compared_trace.h"
#include "present/reason_words.h"

namespace tracedb {

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

// Where to look for the host of long steps: in the time that the device runs nothing between them, or within.
HostQuestion question_of(const ComparedTrace& trace, const std::vector<std::uint32_t>& long_steps);

// Of the kernel time on the devices of steps while these run, on the host or there, the part that is in none and whose
// launch is not recorded: spans of steps leave it out.
double outside_steps(const ComparedTrace& trace);

}  // namespace tracedb
