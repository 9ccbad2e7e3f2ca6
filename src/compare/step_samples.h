// The figures of a trace's steps without its kernels: all that a nightly check needs of a baseline.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/steps/step_metrics.h"
#include "compare/trace/compared_trace.h"
#include "compare/trace/kernel_name_table.h"

namespace tracedb {

struct KindSamples {
  std::string kind;  // of steps; "trace" where there are none
  std::int64_t steps = 0;
  std::int64_t requests = 0, tokens = 0;  // sums, as far as annotations say
  HostWaits waits;                        // recording.h; nothing where the profiler slows no host
  // ns of each step, by measure: the names of StepMetric, "period to decode" (device_steps.h), and "op norm" for kernel
  // time of a family of classes; "load": no time, but the requests of decode steps, tokens of others. An operation has
  // a value for each step that has it; the others have 0.
  std::map<std::string, std::vector<std::int64_t>> samples;
};

struct StepSamples {
  std::string trace, devices;
  std::optional<Recording> recording;  // nullopt: not known, as of files of earlier versions
  std::vector<KindSamples> kinds;
};

StepSamples step_samples(const ComparedTrace& trace, const KernelNameTable& kernel_names);

struct SampleChange {
  std::string kind, measure;
  Change change;
};
struct SampleComparison {
  std::vector<SampleChange> changes;  // metrics first, then operations by time
  std::vector<std::string> notes;     // kinds that one side lacks, loads that differ
};
SampleComparison compare_samples(const StepSamples& baseline, const StepSamples& candidate, double least_change);

}  // namespace tracedb
