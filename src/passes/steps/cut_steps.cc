#include "passes/steps/cut_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "base/text/amounts.h"
#include "base/time_cover.h"
#include "base/unknown.h"

namespace tracedb {
namespace {

// From the first event of the device and of the host's calls and operators to the end of the last that began; longer
// where `events` are looked at one by one.
Extent recorded_extent(const Index& index, const EventTables* events) {
  Extent out{std::numeric_limits<std::int64_t>::max(), 0};
  const auto add = [&](std::int64_t ts, std::int64_t dur) {
    out = {std::min(out.begin, ts), std::max(out.end, saturating_add(ts, duration_or_zero(dur)))};
  };
  for (const std::string table : {"kernel", "memory_op", "runtime_call", "cpu_op"}) {
    Statement ends(index.database(),
                   "SELECT ts, dur FROM " + table + " WHERE id IN (1, (SELECT max(id) FROM " + table + "))");
    while (ends.step()) add(ends.int64(0), ends.integer(1).value_or(kUnknownValue));
  }
  if (events == nullptr) return out;
  for (const EventColumns* table : {&events->kernels, &events->memory, &events->calls}) {
    const auto ts = table->int64s("ts"), dur = table->int64s("dur");
    for (std::size_t i = 0; i < ts.size(); ++i) add(ts[i], dur[i]);
  }
  return out;
}

}  // namespace

void find_cut_steps(const Index& index, const EventTables& events, StepSet& set) {
  constexpr std::int64_t kLeastPart = 5;  // 1 / 5 of the mark
  Statement excerpt(
      index.database(),
      "SELECT json_extract(value, '$.cuts_first'), json_extract(value, '$.cuts_last') FROM meta WHERE key "
      "= 'trace.tracedb' AND json_valid(value)");
  const bool is_excerpt = excerpt.step();
  const bool cuts_first = is_excerpt && excerpt.int64(0) == 1, cuts_last = is_excerpt && excerpt.int64(1) == 1;
  const auto find = [&](const Extent& recorded) {
    bool any = false;
    std::array<bool, kStepKinds> any_whole{};
    for (StepFacts& step : set.steps) {
      if (step.on_device || step.ts == kUnknownValue || step.dur == kUnknownValue || recorded.end == 0) continue;
      const std::int64_t end = saturating_add(step.ts, step.dur), much = step.dur / kLeastPart;
      step.cut = recorded.begin - step.ts > much || end - recorded.end > much;
      (step.cut ? any : any_whole.at(static_cast<std::size_t>(step.info.kind))) = true;
    }
    for (StepFacts& step : set.steps) {
      step.cut = step.cut && any_whole.at(static_cast<std::size_t>(step.info.kind));
      if (step.on_device || step.ts == kUnknownValue || step.dur == kUnknownValue) continue;
      const bool is_first = cuts_first && step.ts <= recorded.begin;
      step.cut = step.cut || is_first || (cuts_last && saturating_add(step.ts, step.dur) >= recorded.end);
    }
    return any;
  };
  if (find(recorded_extent(index, nullptr))) find(recorded_extent(index, &events));
  const auto cut = static_cast<std::size_t>(std::ranges::count_if(set.steps, &StepFacts::cut));
  if (cut > 0)
    set.notes.push_back(fmt::format("{} cut by the recording: of a part of the work nothing is known",
                                    counted(cut, "step is", "steps are")));
}

}  // namespace tracedb
