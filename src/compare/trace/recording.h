// A profiler that records Python stacks or shapes of operators slows the host. Where the device waits for that host
// between steps, their period reflects the profiler as much as the program, and two traces that record differently
// cannot be compared by period.
//
// Source: schema/METRICS.md 2 (host_wait) and 10. A gap between two consecutive steps of a device is the host's if the
// first kernel or copy after it was launched after the gap began or, if the launch is not known, if recorded calls
// start inside it. A period is bound by the host if such gaps are at least 2 % of it: less changes no verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/trace/device_steps.h"
#include "index/index.h"

namespace tracedb {

// What slows the host, by the settings that the trace gives of its profiler and by its contents.
struct Recording {
  bool stacks = false, shapes = false;
  [[nodiscard]] bool any() const { return stacks || shapes; }
  bool operator==(const Recording&) const = default;
};
std::string to_string(const Recording& recording);  // "python stacks and shapes", "neither python stacks nor shapes"

// By device step: how long the device waits for the host after it, in ns, and how many python calls and operators start
// in that gap. Empty where nothing that slows the host is recorded.
struct RecordedGaps {
  Recording recording;
  std::vector<std::int64_t> waiting, calls;
};
// Of device steps that have a period or a transition. Calls are counted where gaps of the host are enough to bound the
// periods of a kind of steps, or its transitions.
RecordedGaps recorded_gaps(const Index& index, const EventTables& events, const StepSet& set, const StepWork& work,
                           const StepPeriods& periods);

// Over the device steps of a group that have a period; times in ns.
struct HostWaits {
  std::int64_t gaps = 0;  // of the host
  std::int64_t waiting = 0, calls = 0;
  std::int64_t periods = 0;
  [[nodiscard]] bool bound() const;
  [[nodiscard]] double share() const;          // of the periods
  [[nodiscard]] double calls_per_gap() const;  // mean
};

// Whether a tenth of that time, in ns, or more is of recording so many calls: 5 us each, stacks included.
bool are_slowing(double calls, double time);
HostWaits sum_host_waits(const RecordedGaps& gaps, std::span<const std::uint32_t> group,
                         std::span<const std::int64_t> periods);

// How the recordings of two traces differ: "the baseline records python stacks, the candidate shapes"; "" if they do
// not, or one is unknown.
std::string recording_difference(const std::optional<Recording>& baseline, const std::optional<Recording>& candidate);

// What a trace records of the work itself: the model's name, the operators that launch kernels, and the shapes of
// attention, convolutions and products of matrices. Nothing where operators are not recorded, as in graph replays.
struct RecordedShape {
  std::string_view kind;  // "attention", "convolution", "linear layer" (product of two matrices), "batched product"
  std::string operands;   // "[141,512] x [512,2048]"; of attention the query alone
  double work = 0;        // multiplications of a product, or what grows as the work of the others does
  std::string type = {};  // of the first input that has one: "BFloat16"; "": not recorded
};

struct RecordedWork {
  std::string model;                                // model_name(); "": not recorded
  std::vector<std::string> operators;               // distinct names; the first is "": not known
  std::vector<std::uint32_t> operator_of;           // by row of kernel: its launcher's, an index into those
  std::vector<RecordedShape> shapes;                // distinct ones
  std::vector<std::vector<std::uint32_t>> by_step;  // by device step: of each operator, an index into those
  std::string architecture = {};                    // "transformer, MoE"; "": the kernels do not tell
};

// Of a list as op_shape has them, without "c10::"; "": none.
std::string first_type(std::string_view types);

// Of an operator; work 0: of no kind that is compared, or without shapes. `dims`: as op_shape has them.
RecordedShape shape_of(std::string_view name, std::string_view dims);

RecordedWork recorded_work(const Index& index, const EventTables& events, const StepWork& work);

}  // namespace tracedb
