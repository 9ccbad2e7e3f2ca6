#include "trace_query/workload.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/files/input_file.h"
#include "trace_query/selection.h"

namespace tracedb {

ActiveRules requested_rules(const CommandLine& line) {
  const auto name = line.setting("rules", "TRACEDB_RULES");
  ActiveRules rules(name.value_or("default"));
  if (name) (void)rules.get();
  return rules;
}

CaptureOption::CaptureOption(const CommandLine& line, const ActiveRules& rules) {
  const auto path = line.text("capture");
  if (!path) return;
  trace_.emplace(open_trace(*path, line));
  const KernelClasses classes(trace_->index, rules.compiled());
  source_.emplace(CaptureSource{trace_->index, read_capture(trace_->index, {line.text("step-regex")}, classes.traits()),
                                printable_path(*path), trace_->notes});
}

RequestedWorkload::RequestedWorkload(const CommandLine& line)
    : options_{selection_of(line), {line.text("step-regex")}, nullptr},
      rules_(requested_rules(line)),
      capture_(line, rules_) {
  options_.capture = capture_.source();
}

std::vector<std::string> RequestedWorkload::provenance() const {
  std::vector<std::string> out = {
      fmt::format("operation classes: under the rules '{}' (trace-query rules list)", rules_.name())};
  if (const auto& pattern = options_.steps.pattern) {
    out.push_back("steps: annotations that match " + *pattern + " (src/passes/steps/step_pattern.h)");
  } else {
    out.emplace_back(
        "steps: table step, nested annotations counted once; where it is empty, inferred from the rhythm of the "
        "kernels (src/passes/steps/step_set.h)");
  }
  if (capture() != nullptr) {
    out.emplace_back(
        "operators, stacks and layers of graph replays: those of --capture (src/passes/capture/capture.h)");
  }
  return out;
}

void add_timeline_options(CommandLine& line) {
  line.add("per-stream", OptionKind::kFlag, "a row for each stream instead of each device");
  line.add("kernel-wait", OptionKind::kValue,
           "gaps below this time before work that was already launched are kernel_wait (default: 2us)");
}

void add_micro_idle(CommandLine& line) {
  line.add("micro-idle", OptionKind::kValue, "gaps below this time are micro idle (default: 10us)");
}

void add_steady(CommandLine& line) {
  line.add("steady", OptionKind::kFlag,
           "only the longest run of steps whose decode batch is within 5 % of the largest");
}

void add_sequence_options(CommandLine& line) {
  line.add("length", OptionKind::kValue, "kernels in a sequence: 2 to 64 (default 3)");
  line.add("least", OptionKind::kValue, "only sequences seen at least this often (default 2)");
}

void add_by_frames(CommandLine& line) {
  line.add(
      "by", OptionKind::kValue,
      "module: by class of nn.Module; function (or line): by function of your own code, with the line where it begins; "
      "your own is that of --own or, without it, all files but those of Python, torch, triton, numpy and the like");
}

void add_frame_options(CommandLine& line) {
  line.add("own", OptionKind::kList, "only frames of these files, GLOBs: 'vllm/*,train.py'");
  line.add("modules", OptionKind::kFlag, "only nn.Module frames, those of one class and caller together: Layer_*");
  line.add("each-module", OptionKind::kFlag, "only nn.Module frames, one by one");
}

void add_call_tree_options(CommandLine& line) {
  add_frame_options(line);
  line.add("all-frames", OptionKind::kFlag, "also frames that only call one other frame");
}

namespace {

FrameChoice requested_frames(const CommandLine& line) {
  FrameChoice choice;
  int choices = 0;
  for (const auto& [option, which] : {std::pair("own", Frames::kOwn), std::pair("modules", Frames::kModules),
                                      std::pair("each-module", Frames::kEachModule)}) {
    if (!line.has(option)) continue;
    choice.which = which;
    ++choices;
  }
  if (choices > 1) {
    throw Error(ErrorCode::kUsage, "--own, --modules and --each-module choose different frames: give one of them");
  }
  if (line.has("own")) choice.own = line.names("own");
  const auto by = line.knows("by") && line.knows("own") ? line.text("by") : std::nullopt;
  if (!by) return choice;
  const bool by_line = *by == "function" || *by == "line";
  if (*by != "module" && !by_line) throw Error(ErrorCode::kUsage, fmt::format("--by {}: use module or function", *by));
  if (choice.which != Frames::kAll && !(by_line && choice.which == Frames::kOwn)) {
    throw Error(ErrorCode::kUsage, fmt::format("--by {} chooses frames itself: leave {} out", *by,
                                               choice.which == Frames::kOwn ? "--own" : "--modules and --each-module"));
  }
  choice.which = by_line ? Frames::kOwn : Frames::kModuleClasses;
  return choice;
}

}  // namespace

PassOptions requested_pass_options(const CommandLine& line) {
  constexpr std::int64_t kLongestSequence = 64;
  PassOptions options;
  if (line.has("per-stream")) options.lanes = LaneBy::kStream;
  if (const auto time = line.text("kernel-wait")) options.timeline.kernel_wait = parse_time(*time);
  if (const auto time = line.text("micro-idle")) options.timeline.micro_idle = parse_time(*time);
  if (line.has("steady")) options.phase_steps = StepChoice::kSteady;
  if (const auto length = line.number("length")) {
    if (*length < 2 || *length > kLongestSequence) {
      throw Error(ErrorCode::kUsage, fmt::format("--length {}: give 2 to {}", *length, kLongestSequence));
    }
    options.sequence_length = static_cast<std::size_t>(*length);
  }
  options.sequence_least = line.number("least").value_or(options.sequence_least);
  options.frames = requested_frames(line);
  if (const auto time = line.text("min-dur")) options.least_gap = parse_time(*time);
  options.all_frames = line.has("all-frames");
  return options;
}

}  // namespace tracedb
